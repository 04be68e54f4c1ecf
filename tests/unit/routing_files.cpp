// What a recorded routing and the keys of `routing:` and `placement:` mean, and what wrong ones get told.
#include <cstdio>
#include <fstream>

#include "catch.hpp"
#include "experiment/bind_routing.hpp"
#include "repository.hpp"
#include "workload/recorded.hpp"
#include "workload/router.hpp"

using namespace moe;

namespace {

using Kind = Routing::Kind;

/// Layer 0 dense, layers 1 and 2 with 4 experts, top-2.
const std::vector<RouterShape> kShapes{{}, {4, 2}, {4, 2}};

std::string told(Kind kind, const std::string& text) {
  Diagnostics d;
  read_recorded(kind, "r.csv", text, kShapes, d);
  return d.render();
}

RecordedRouting record(Kind kind, const std::string& text) {
  Diagnostics d;
  RecordedRouting r = read_recorded(kind, "r.csv", text, kShapes, d);
  INFO(d.render());
  REQUIRE(d.all().empty());
  return r;
}

std::string bound(const std::string& yaml, Experiment& e) {
  Diagnostics d;
  const Document document = parse_document(yaml, "e.yaml", d);
  read_map(document.root, "", d, [&](Fields& f) {
    bind_routing(f, e.routing);
    bind_placement(f, e.placement, e.plan);
  });
  return d.render();
}

std::string bound(const std::string& yaml) {
  Experiment e;
  return bound(yaml, e);
}

bool says(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

/// A file that is gone after the test.
struct Temporary {
  Temporary(std::string p, const std::string& text) : path(std::move(p)) { std::ofstream(path) << text; }
  ~Temporary() { std::remove(path.c_str()); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  std::string path;
};

}  // namespace

TEST_CASE("a histogram may leave the layer out, or give some layers rows of their own", "[unit]") {
  const RecordedRouting plain = record(Kind::histogram, "expert,count\n0,5\n3,7\n");
  CHECK(plain.layer(1).count == std::vector<double>{5, 0, 0, 7});
  CHECK(plain.layer(2).count == plain.layer(1).count);
  const RecordedRouting mixed =
      record(Kind::histogram, "# run 7\n\nlayer,expert,count\n*,0,1\n*,1,1\n 2 , 2 , 9\r\n2,3,4\n");
  CHECK(mixed.layer(1).count == std::vector<double>{1, 1, 0, 0});
  CHECK(mixed.layer(2).count == std::vector<double>{0, 0, 9, 4});
}

TEST_CASE("a trace is replayed token by token, cyclically over steps", "[unit]") {
  Routing r{.kind = Kind::trace};
  r.recorded = std::make_shared<const RecordedRouting>(
      record(Kind::trace, "layer,token,experts\n1,0,3,1\n1,1,0,2\n1,2,1,0\n2,0,0,1\n2,1,0,1\n2,2,0,1\n"));
  Router router(r, kShapes[1], 2);
  CHECK(router.draw(1) == std::vector<int>{1, 1, 1, 1});  // tokens 0, 1
  CHECK(router.choices(1).expert == std::vector<std::uint32_t>{3, 1, 0, 2});
  CHECK(router.draw(2) == std::vector<int>{2, 2, 0, 0});
  router.start_step(1);  // tokens 2, 0
  CHECK(router.draw(1) == std::vector<int>{1, 2, 0, 1});
}

TEST_CASE("wrong cells of a record are reported with file, line and column", "[unit]") {
  CHECK(says(told(Kind::histogram, "1,0,5\n1,four,5\n"), "invalid expert `four`\n --> r.csv:2:3"));
  CHECK(says(told(Kind::histogram, "1,4,5\n"), "there is no expert 4"));
  CHECK(says(told(Kind::histogram, "1,4,5\n"), "numbers go from 0 to 3"));
  CHECK(says(told(Kind::histogram, "7,0,5\n"), "there is no layer 7"));
  CHECK(says(told(Kind::histogram, "0,0,5\n"), "layer 0 has no routed experts"));
  CHECK(says(told(Kind::histogram, "1,0,-5\n"), "invalid count `-5`"));
  CHECK(says(told(Kind::histogram, "1,0,1.5\n"), "invalid count `1.5`"));
  CHECK(says(told(Kind::histogram, "1,0,5,9\n"), "a row of 4 cells"));
  CHECK(says(told(Kind::histogram, "1,0,5\n1,0,6\n"), "expert 0 of this layer has a row already\n --> r.csv:2:3"));
  CHECK(says(told(Kind::histogram, "layer,token,experts\n"), "unknown header"));
  CHECK(says(told(Kind::trace, "1,0,3\n"), "1 experts, the model chooses 2"));
  CHECK(says(told(Kind::trace, "1,0,3,3\n"), "expert 3 is listed twice for this token"));
  CHECK(says(told(Kind::trace, "1,0,3,1\n1,0,2,1\n"), "token 0 of this layer has a row already"));
}

TEST_CASE("a record that does not cover the model is reported", "[unit]") {
  CHECK(says(told(Kind::histogram, ""), "no rows for layer 1"));
  CHECK(says(told(Kind::histogram, "1,0,1\n1,1,1\n"), "no rows for layer 2"));
  CHECK(says(told(Kind::histogram, "0,1\n"), "layer * counts rows of 1 experts, top-2 needs as many"));
  CHECK(says(told(Kind::trace, "1,0,3,1\n2,0,3,1\n2,1,0,1\n"), "layer 2 records 2 tokens, the one before 1"));
}

TEST_CASE("a record full of mistakes is given up after 20", "[unit]") {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "x,y,z\n";
  Diagnostics d;
  read_recorded(Kind::histogram, "r.csv", text, kShapes, d);
  CHECK(d.error_count() == 20);
}

TEST_CASE("all keys of routing and placement are read", "[unit]") {
  Experiment e;
  e.plan.ep = 8;
  CHECK(bound("routing: {kind: histogram, file: c.csv, similarity: [0.2, 0.6], temporal: 0.5, oea_keep: 4, seed: 9}\n"
              "placement: {kind: balanced, replicas: 16}\n", e).empty());
  CHECK(e.routing.kind == Kind::histogram);
  CHECK(e.routing.file == "c.csv");
  CHECK(e.routing.similarity == 0.2);
  CHECK(e.routing.similarity_high == 0.6);
  CHECK(e.routing.temporal == 0.5);
  CHECK(e.routing.oea_keep == 4);
  CHECK(e.routing.seed == 9);
  CHECK(e.placement.kind == Placement::Kind::balanced);
  CHECK(e.placement.replicas == 16);
}

TEST_CASE("keys without effect, and a missing file, are reported", "[unit]") {
  CHECK(says(bound("routing: {alpha: 1.1}"), "`alpha` has no effect with `kind: uniform`"));
  CHECK(says(bound("routing: {kind: histogram, file: a.csv, alpha: 1.1}"),
             "`alpha` has no effect with `kind: histogram`"));
  CHECK(says(bound("routing: {kind: power_law, file: a.csv}"), "`file` has no effect with `kind: power_law`"));
  CHECK(says(bound("routing: {kind: trace, file: a.csv, similarity: 0.5}"),
             "`similarity` has no effect with `kind: trace`"));
  CHECK(says(bound("routing: {kind: trace, file: a.csv, temporal: 0.5}"),
             "`temporal` has no effect with `kind: trace`"));
  CHECK(says(bound("routing: {kind: trace}"), "`kind: trace` needs a `file`"));
  CHECK(says(bound("routing: {temporal: 1.5}"), "temporal"));
  CHECK(says(bound("placement: {kind: balanced}"), "`placement` has no effect without expert parallelism"));
  CHECK(says(bound("placement: {replicas: 3}"), "`replicas` has no effect with `kind: contiguous`"));
}

TEST_CASE("an experiment finds its record beside itself and keeps the file's hash", "[unit]") {
  const Temporary csv(test::root() + "/experiments/routing-of-a-test.csv",
                      "0,1\n1,1\n2,1\n3,1\n4,1\n5,1\n6,1\n7,1\n8,2\n");
  Diagnostics warnings;
  const Overrides set{{"routing.kind", "histogram"}, {"routing.file", "routing-of-a-test.csv"}};
  const Case c = load_case(test::experiment("kimi-k2.5-int4-tp8"), set, warnings);
  REQUIRE(c.experiment.routing.recorded != nullptr);
  CHECK(c.experiment.routing.recorded->layer(60).count[8] == 2);
  bool listed = false;
  for (const auto& [path, hash] : c.files) listed = listed || (path == csv.path && hash.size() == 16);
  CHECK(listed);
}

TEST_CASE("a record that is not there is an error at its key", "[unit]") {
  Diagnostics warnings;
  const Overrides set{{"routing.kind", "trace"}, {"routing.file", "nowhere.csv"}};
  try {
    load_case(test::experiment("kimi-k2.5-int4-tp8"), set, warnings);
    FAIL("loaded");
  } catch (const InputError& e) {
    CHECK(says(e.diagnostics.render(), "cannot read `" + test::root() + "/experiments/nowhere.csv`"));
    CHECK(says(e.diagnostics.render(), "(routing.file)"));
  }
}

TEST_CASE("keeping as many experts as the model chooses is reported as without effect", "[unit]") {
  Diagnostics warnings;
  load_case(test::experiment("kimi-k2.5-int4-tp8"), {{"routing.oea_keep", "8"}}, warnings);
  CHECK(says(warnings.render(), "`oea_keep: 8` has no effect: kimi-k2.5 chooses 8 experts"));
}
