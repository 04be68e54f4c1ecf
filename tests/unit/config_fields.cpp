// One declaration per key: reading, unit, range, "did you mean", and the resolved value.
#include "config/fields.hpp"

#include <fmt/core.h>

#include "catch.hpp"

using namespace moe;

namespace {

struct Box {
  std::string name = "none";
  int tp = 1;
  double rate = 0, share = 0.5;
  bool on = false;
  int kind = 0;
  std::vector<double> sizes;
};

void bind(Fields& f, Box& b) {
  f.text("name", b.name, Need::required, "what it is called");
  f.integer("tp", b.tp, Need::optional, Range::between(1, 16), "degree");
  f.quantity("bandwidth", b.rate, Unit::bandwidth, Need::optional, Range::positive(), "bytes per second");
  f.number("share", b.share, Need::optional, Range::at_least(0), "part");
  f.flag("on", b.on, Need::optional, "switch");
  f.choice("kind", b.kind, {"uniform", "power_law"}, Need::optional, "which");
  f.numbers("sizes", b.sizes, Unit::count, Need::optional, Range::positive(), "some sizes");
}

struct Read {
  Box box;
  Diagnostics found;
  std::vector<FieldInfo> record;
  explicit Read(const std::string& text) {
    const Document doc = parse_document(text, "f.yaml", found);
    read_map(
        doc.root, "", found, [&](Fields& f) { bind(f, box); }, &record);
  }
  /// "line:column message; help" of every error.
  std::vector<std::string> errors() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : found.all())
      out.push_back(fmt::format("{}:{} {}{}{}", d.place.line, d.place.column, d.message,
                                d.help.empty() ? "" : "; ", d.help));
    return out;
  }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("declared keys are read into their variables", "[unit]") {
  const Read r(
      "{name: box, tp: 8, bandwidth: 2 GB/s, share: 1.5, on: true, kind: power_law, sizes: [1, 2k]}");
  REQUIRE(r.errors().empty());
  CHECK(r.box.name == "box");
  CHECK(r.box.tp == 8);
  CHECK(r.box.rate == 2e9);
  CHECK(r.box.on);
  CHECK(r.box.kind == 1);
  CHECK(r.box.sizes == std::vector<double>{1, 2048});
}

TEST_CASE("an unknown key gets one suggestion, or the list of keys", "[unit]") {
  CHECK(Read("name: a\nbandwith: 1 GB/s\n").errors() ==
        Texts{"2:1 unknown key `bandwith`; did you mean `bandwidth`?"});
  CHECK(Read("name: a\ncolour: 1\n").errors() ==
        Texts{"2:1 unknown key `colour`; known here: name, tp, bandwidth, share, on, kind, sizes"});
}

TEST_CASE("a misspelt required key is one mistake, not two", "[unit]") {
  CHECK(Read("nam: a\n").errors() == Texts{"1:1 unknown key `nam`; did you mean `name`?"});
  CHECK(Read("tp: 2\n").errors() == Texts{"1:1 missing key `name`"});
}

TEST_CASE("every error of a map is found in one pass, at its value", "[unit]") {
  const Read r("name: a\ntp: 17\nbandwidth: 56\non: yes\nkind: unifrom\nsizes: [1, 0]\nshare: nan\n");
  CHECK(r.errors() == Texts{"2:5 `17` is out of range for `tp`; it must lie in 1..16",
                            "3:12 invalid bandwidth `56`; a bandwidth needs a unit, e.g. `56 GB/s`",
                            "7:8 invalid number `nan`; write it like `1.5`",
                            "4:5 invalid switch `yes`; write `true` or `false`",
                            "5:7 unknown value `unifrom` for `kind`; did you mean `uniform`?",
                            "6:12 `0` is out of range for `sizes`; it must be greater than 0"});
}

TEST_CASE("a value of the wrong shape is an error", "[unit]") {
  CHECK(Read("name: [a]\n").errors() == Texts{"1:7 `name` must be a text, not a list"});
  CHECK(Read("name: a\ntp: {x: 1}\n").errors().at(0).starts_with("2:5 `tp` must be a count, not a map"));
  CHECK(Read("name:\n").errors() == Texts{"1:1 `name` has no value; what it is called"});
  CHECK(Read("just a text\n").errors() == Texts{"1:1 a map of keys was expected here"});
}

TEST_CASE("the record holds given values and defaults with their dotted paths", "[unit]") {
  const Read r("name: box\nbandwidth: 2 GB/s\n");
  auto field = [&](const std::string& path) {
    for (const FieldInfo& f : r.record)
      if (f.path == path) return f;
    return FieldInfo{};
  };
  CHECK(field("bandwidth").value == "2000000000");
  CHECK(field("bandwidth").given);
  CHECK(field("tp").value == "1");
  CHECK_FALSE(field("tp").given);
  CHECK(field("kind").value == "uniform");
}

TEST_CASE("the documentation comes from the same declarations", "[unit]") {
  const auto fields = describe([](Fields& f) {
    Box b;
    f.section("plan", Need::required, "degrees",
              [&](Fields& g) { g.integer("tp", b.tp, Need::optional, Range::any(), "x"); });
    f.list("links", Need::optional, "wires",
           [&](Fields& g, std::size_t) { g.text("from", b.name, Need::required, "y"); });
  });
  REQUIRE(fields.size() == 4);
  CHECK(fields[1].path == "plan.tp");
  CHECK(fields[1].value == "1");
  CHECK(fields[3].path == "links[].from");
  CHECK(fields[3].required);
}

TEST_CASE("a default outside its range stands for nothing", "[unit]") {
  double none = -1, real = 2;
  const auto fields = describe([&](Fields& f) {
    f.number("a", none, Need::optional, Range::not_negative(), "x");
    f.number("b", real, Need::optional, Range::not_negative(), "y");
  });
  CHECK(fields.at(0).value.empty());
  CHECK(fields.at(1).value == "2");
}

TEST_CASE("an error is quoted with its line and underlined", "[unit]") {
  Read r("name: größe\n");
  r.found.error("too long", r.box.name.empty() ? Place{} : Place{"f.yaml", 1, 7, 7}, "name", "shorter");
  CHECK(r.found.render() ==
        "error: too long\n --> f.yaml:1:7  (name)\n  |\n1 | name: größe\n  |       ^^^^^\n  = help: "
        "shorter\n\n");
}

TEST_CASE("a long line is cut to a window around the place, at characters", "[unit]") {
  Diagnostics d;
  d.remember("f", std::string(100, 'x') + "NO" + std::string(200, 'y'));
  d.error("wrong", {"f", 1, 101, 2});
  const std::string text = d.render();
  const std::size_t quoted = text.find("1 | "), caret = text.find("  | ", quoted);
  const std::string line = text.substr(quoted, text.find('\n', quoted) - quoted);
  const std::string under = text.substr(caret, text.find('\n', caret) - caret);
  CHECK(line.size() < 130);
  // The line has two bytes more before the place than it has characters: the ellipsis.
  CHECK(line.find("NO") == under.find("^^") + 2);
  CHECK(under.ends_with(" ^^"));
}
