// YAML files become trees that know their places; what yaml-cpp does silently is an error here.
#include "config/document.hpp"

#include "catch.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

struct Read {
  Document doc;
  Diagnostics found;
  explicit Read(const std::string& text) { doc = parse_document(text, "f.yaml", found); }
  const Node& at(const char* key) const { return *doc.root.find(key); }
  std::string message() const { return found.all().empty() ? "" : found.all()[0].message; }
  Place place() const { return found.all().at(0).place; }
};

}  // namespace

TEST_CASE("keys and values know their line and column, counted from 1", "[unit]") {
  const Read r("a: 1\nb: {c: two, d: [x, y]}\n");
  REQUIRE_FALSE(r.found.has_errors());
  CHECK(r.at("a").place.line == 1);
  CHECK(r.at("a").place.column == 4);
  CHECK(r.at("b").find("c")->place.line == 2);
  CHECK(r.at("b").find("c")->place.column == 8);  // b: {c: two
  CHECK(r.at("b").find("c")->place.width == 3);
  CHECK(r.at("b").entries[1].key_place.column == 13);
  CHECK(r.at("b").find("d")->items[1].place.column == 20);
}

TEST_CASE("scalars stay as written: no octal numbers, no `yes` for true", "[unit]") {
  const Read r("a: 017\nb: yes\nc: 1e3\nd: \"8\"\n");
  CHECK(r.at("a").text == "017");
  CHECK(r.at("b").text == "yes");
  CHECK(r.at("c").text == "1e3");
  CHECK(r.at("d").text == "8");
  CHECK(r.at("d").quoted);
  CHECK(r.at("d").place.width == 3);  // with its quotes
  CHECK_FALSE(r.at("c").quoted);
}

TEST_CASE("a key that appears twice is an error at the second one", "[unit]") {
  const Read r("tp: 8\nep: 1\ntp: 4\n");
  REQUIRE(r.found.error_count() == 1);
  CHECK(r.message() == "the key `tp` appears twice in this map");
  CHECK(r.place().line == 3);
  CHECK(r.place().column == 1);
  CHECK(r.at("tp").text == "8");
}

TEST_CASE("merge keys are refused instead of being ignored", "[unit]") {
  const Read r("base: &b {a: 1}\nuse:\n  <<: *b\n");
  REQUIRE(r.found.error_count() == 1);
  CHECK(r.message() == "merge keys (`<<`) are not supported");
  CHECK(r.place().line == 3);
}

TEST_CASE("a key without a value is placed at the key, not on the next line", "[unit]") {
  const Read r("a:\nb: 1\n");
  CHECK(r.at("a").kind == Node::Kind::null);
  CHECK(r.at("a").place.line == 1);
  CHECK(r.at("a").place.column == 1);
}

TEST_CASE("an alias is placed where it is used and has the value of its anchor", "[unit]") {
  const Read r("a: &x 5\nb: *x\n");
  CHECK(r.at("b").text == "5");
  CHECK(r.at("b").place.line == 2);
}

TEST_CASE("a syntax error has its place and leaves no half-read tree", "[unit]") {
  const Read r("a: 1\nb: [1, 2\nc: 3\n");
  REQUIRE(r.found.error_count() == 1);
  CHECK(r.message().starts_with("not valid YAML: "));
  CHECK(r.place().line >= 2);
  CHECK(r.place().file == "f.yaml");
  CHECK(r.doc.root.entries.empty());
}

TEST_CASE("a second document in one file is an error, not ignored", "[unit]") {
  const Read r("a: 1\n---\nb: 2\n");
  REQUIRE(r.found.error_count() == 1);
  CHECK(r.message() == "a second YAML document starts in this file");
  CHECK(r.place().line == 2);
}

TEST_CASE("a list as key is an error", "[unit]") {
  CHECK(Read("[a, b]: 1\n").message() == "a key must be a plain word");
}

TEST_CASE("a missing file and a folder are errors that name them", "[unit]") {
  Diagnostics missing, folder;
  load_document("/nowhere/x.yaml", missing);
  load_document(test::root(), folder);
  CHECK(missing.all().at(0).message == "cannot read `/nowhere/x.yaml`");
  CHECK(folder.all().at(0).message == "`" + test::root() + "` is a folder, not a file");
}

TEST_CASE("the hash depends on the bytes of the file only", "[unit]") {
  // FNV-1a 64 of no bytes is its offset basis.
  CHECK(Read("").doc.hash == "cbf29ce484222325");
  CHECK(Read("a: 1\n").doc.hash == Read("a: 1\n").doc.hash);
  CHECK(Read("a: 1\n").doc.hash != Read("a: 2\n").doc.hash);
}
