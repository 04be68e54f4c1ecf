// --set changes one value of a file that was read, and errors quote what was typed.
#include "config/override.hpp"

#include "catch.hpp"

using namespace moe;

namespace {

struct Changed {
  Diagnostics found;
  Node root;
  Changed(const std::string& text, const std::string& key, const std::string& value) {
    root = parse_document(text, "f.yaml", found).root;
    set_value(root, key, value, found);
  }
  std::string message() const { return found.all().empty() ? "" : found.all()[0].message; }
};

}  // namespace

TEST_CASE("a dotted key is replaced where it is and created where it is not", "[unit]") {
  const Changed replaced("plan: {tp: 8, pp: 1}\n", "plan.tp", "4");
  CHECK(replaced.root.find("plan")->find("tp")->text == "4");
  CHECK(replaced.root.find("plan")->find("pp")->text == "1");
  const Changed created("a: 1\n", "b.c.d", "x");
  CHECK(created.root.find("b")->find("c")->find("d")->text == "x");
  CHECK(created.root.find("a")->text == "1");
}

TEST_CASE("a new value may be a list or a map", "[unit]") {
  const Changed list("a: 1\n", "a", "[1, 2]");
  REQUIRE(list.root.find("a")->is_list());
  CHECK(list.root.find("a")->items.size() == 2);
  CHECK(Changed("a: 1\n", "a", "{b: 2}").root.find("a")->find("b")->text == "2");
}

TEST_CASE("a key below a plain value cannot be set", "[unit]") {
  CHECK(Changed("a: 1\n", "a.b", "2").message() == "`a` is not a map, `b` cannot be set in it");
}

TEST_CASE("a malformed key or value is an error", "[unit]") {
  CHECK(Changed("a: 1\n", "a..b", "2").message() == "`a..b` is not a dotted key");
  CHECK(Changed("a: 1\n", ".a", "2").message() == "`.a` is not a dotted key");
  CHECK(Changed("a: 1\n", "a", "[1, 2").message() == "`[1, 2` is not a value");
}

TEST_CASE("the value's place is the command line, quoted with carets under it", "[unit]") {
  Changed c("plan: {tp: 8}\n", "plan.tp", "many");
  const Place place = c.root.find("plan")->find("tp")->place;
  CHECK(is_override(place));
  CHECK_FALSE(is_override(c.root.find("plan")->place));
  c.found.error("invalid count `many`", place, "plan.tp");
  CHECK(c.found.render() ==
        "error: invalid count `many`\n"
        " --> --set plan.tp=many:1:15  (plan.tp)\n"
        "  |\n"
        "1 | --set plan.tp=many\n"
        "  |               ^^^^\n\n");
}
