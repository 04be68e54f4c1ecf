// Two runs side by side: the interval of a difference, what differs in the inputs, refusals, where a ranking flips.
#include "report/compare.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "report/flip.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

/// A result with one GEMM and one all-reduce; spreads 10 % and 20 %.
Json result(double gemm_ms, double reduce_ms, const std::string& stack = "a") {
  const double step = gemm_ms + reduce_ms;
  return {{"step_ms", step},
          {"tokens_per_s", 1000 / step},
          {"tokens_per_s_per_sequence", 1000 / step},
          {"interval90_ms", {step * 0.8, step * 1.2}},
          {"breakdown_ms", {{"all_reduce", reduce_ms}, {"dense_gemm", gemm_ms}}},
          {"paths", {{{"path", "gemm"}, {"time_ms", gemm_ms}, {"spread", 0.1}}, {{"path", "reduce"}, {"time_ms", reduce_ms}, {"spread", 0.2}}}},
          {"inputs", {{"resolved", {{"model", "m"}, {"profile", "p"}, {"stack", stack}, {"batch.sequences", "1"}, {"batch.context", "1k"}}},
                      {"files", {{{"file", "calibration/profiles/p.yaml"}, {"fnv1a", "1"}}}}}}};
}

std::vector<Side> sides(const Json& a, const Json& b) { return {side_of(a, "a", "a.json"), side_of(b, "b", "b.json")}; }

}  // namespace

TEST_CASE("A path that both runs use equally says nothing about their difference", "[unit]") {
  const Comparison c = compare(sides(result(10, 4), result(10, 3)), 0, 1);
  CHECK(c.ratio == Approx(14.0 / 13));
  CHECK(c.difference_ms == Approx(-1));
  CHECK(c.low_ms == Approx(-1 - 1.645 * 0.2));  // 1 ms of all-reduce with a spread of 20 %; the GEMM cancels
  CHECK(c.high_ms == Approx(-1 + 1.645 * 0.2));
  CHECK(c.exceeds());
  REQUIRE(c.categories.size() == 2);
  CHECK(c.categories[0].name == "all_reduce");
  CHECK(c.categories[0].change() + c.categories[1].change() == Approx(c.difference_ms));
}

TEST_CASE("Fits of different profiles are wrong independently", "[unit]") {
  Json other = result(10, 3);
  other["inputs"]["files"][0]["fnv1a"] = "2";
  const Comparison c = compare(sides(result(10, 4), other), 0, 1);
  const double sigma = std::sqrt(1.0 * 1.0 * 2 + 0.8 * 0.8 + 0.6 * 0.6);
  CHECK(c.high_ms == Approx(-1 + 1.645 * sigma));
  CHECK_FALSE(c.exceeds());
  CHECK(verdict(sides(result(10, 4), other), c).starts_with("Undecided: b is simulated 7.7 % faster than a"));
}

TEST_CASE("Without paths two runs are as sure as their own intervals", "[unit]") {
  Json base = result(10, 4), other = result(10, 3);
  base.erase("paths");
  const Comparison c = compare(sides(base, other), 0, 1);
  CHECK_FALSE(c.by_path);
  CHECK(c.high_ms == Approx(-1 + std::sqrt(2.8 * 2.8 + 2.6 * 2.6)));
}

TEST_CASE("What differs in the inputs is listed, units are understood", "[unit]") {
  Json other = result(10, 3, "b");
  other["inputs"]["resolved"]["batch.context"] = "1024";
  const auto all = sides(result(10, 4), other);
  const auto found = input_differences(all);
  REQUIRE(found.size() == 1);
  CHECK(found[0].key == "stack");
  CHECK(found[0].values == std::vector<std::string>{"a", "b"});
  CHECK(incomparable(all).empty());
  const std::string text = comparison_text(all);
  CHECK(text.find("a → b") != std::string::npos);
  CHECK(text.find("b is 1.077 times as fast as a, which exceeds the uncertainty: b takes −1.000 ms per step") != std::string::npos);
}

TEST_CASE("Another model or batch is another question", "[unit]") {
  Json model = result(10, 3), batch = result(10, 3);
  model["inputs"]["resolved"]["model"] = "n";
  batch["inputs"]["resolved"]["batch.sequences"] = "8";
  CHECK(incomparable(sides(result(10, 4), model)) == "different models (a: m, b: n)");
  CHECK(incomparable(sides(result(10, 4), batch)) == "different batches (a: 1, b: 8)");
}

TEST_CASE("A file that is no result says which key is missing", "[unit]") {
  CHECK_THROWS_WITH(side_of({{"step_ms", 1}}, "x", "x.json"), Catch::Contains("x.json: `tokens_per_s` is missing"));
}

TEST_CASE("The ranking flips where the lines cross", "[unit]") {
  // a takes 10 + v ms, b takes 33 + v/2 ms: equal at 46, b leads from 47; b has no answer above 300.
  const auto at = [](double v) {
    auto both = sides(result(10, v), result(33, v / 2));
    if (v > 300) both[1].problem = "does not fit";
    return both;
  };
  const Flip flip = find_flip(parse_flip_axis("batch=1..512", {"batch.sequences"}), at);
  CHECK(flip.key == "batch.sequences");
  CHECK(flip.points.size() == 10);
  REQUIRE(flip.crossings.size() == 1);
  CHECK(flip.crossings[0].before == 46);
  CHECK(flip.crossings[0].after == 47);
  const std::string text = flip_text(flip);
  CHECK(text.find("The fastest changes from a to b at batch.sequences 47.") != std::string::npos);
  CHECK(text.find("— b at 512: does not fit") != std::string::npos);
}

TEST_CASE("A range of a flip is a key and two whole numbers", "[unit]") {
  const std::vector<std::string> known{"batch.sequences", "batch.context", "plan.tp", "x.tp"};
  CHECK(parse_flip_axis("context=1k..4k", known).last == 4096);
  CHECK_THROWS_WITH(parse_flip_axis("batch=1", known), Catch::Contains("is not a range"));
  CHECK_THROWS_WITH(parse_flip_axis("batch=8..1", known), Catch::Contains("ends before"));
  CHECK_THROWS_WITH(parse_flip_axis("tp=1..8", known), Catch::Contains("plan.tp, x.tp"));
  CHECK_THROWS_WITH(parse_flip_axis("contxt=1..8", known), Catch::Contains("did you mean `context`?"));
}

}  // namespace moe
