// What an experiment expects: values, ranges, predictions, comparisons, and the verdicts that people read.
#include "base/check.hpp"
#include "catch.hpp"
#include "program.hpp"
#include "report/claims_text.hpp"
#include "report/result.hpp"
#include "repository.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

const std::string kPlain =
    "schema: 1\nmodel: kimi-k2.5\ncheckpoint: int4\nmachine: turin-2s-direct\nprofile: rtx-pro-6000\n"
    "stack: vllm-0.24\nkv_dtype: fp8\nplan: {tp: 8}\nbatch: {sequences: 2, context: 1k}\n";

Result checked(const std::string& expect) {
  const test::Folder folder;
  Diagnostics warnings;
  EvaluateOptions quick;
  quick.what_if = false;
  return evaluate(load_case(folder.write("e.yaml", kPlain + "expect:\n" + expect), {}, warnings), quick);
}

double step_with(const Overrides& set) {
  Diagnostics warnings;
  const test::Folder folder;
  return step_ms(load_case(folder.write("e.yaml", kPlain), set, warnings), {});
}

std::string problem_of(const std::string& entry) {
  const test::Folder folder;
  Diagnostics warnings;
  try {
    load_case(folder.write("e.yaml", kPlain + "expect:\n  - {" + entry + "}\n"), {}, warnings);
  } catch (const InputError& e) {
    return e.diagnostics.all().at(0).message;
  }
  return {};
}

}  // namespace

TEST_CASE("a verdict says what became of a claim, and under which conditions", "[unit]") {
  const Result r = checked(
      "  - {metric: rows, value: 2, tolerance: 0, source: a}\n"
      "  - {metric: rows, between: [3, 9], source: a}\n"
      "  - {metric: rows, between: [1, 2], only_under: two users, source: a}\n"
      "  - {metric: rows, source: a}\n"
      "  - {metric: speculation.speedup, value: 2, source: a}\n"
      "  - {metric: rows, value: 4, source: a, set: {batch.sequences: 100000}}\n");
  REQUIRE(r.claims.size() == 6);
  CHECK(r.claims[0].verdict() == "reproduced");
  CHECK(r.claims[1].verdict() == "refuted");
  CHECK(r.claims[2].verdict() == "consistent only under two users");
  CHECK(r.claims[3].verdict() == "predicted");
  CHECK(r.claims[3].holds);
  CHECK(r.claims[4].verdict() == "no answer: this run has no `speculation.speedup`");
  CHECK(r.claims[5].verdict().rfind("no answer: ", 0) == 0);  // does not fit
  CHECK_FALSE(r.claims[5].holds);
}

TEST_CASE("a claim may change keys, and a gain compares two changes", "[unit]") {
  const Result r = checked(
      "  - {metric: step_ms, source: a, set: {batch.sequences: 4}}\n"
      "  - {metric: gain.step_ms, source: a, set: {batch.sequences: 4}}\n"
      "  - {metric: gain.step_ms, source: a, set: {batch.sequences: 8}, against: {batch.sequences: 4}}\n");
  const double two = step_with({}), four = step_with({{"batch.sequences", "4"}}), eight = step_with({{"batch.sequences", "8"}});
  CHECK(r.claims[0].simulated == Approx(four));
  CHECK(r.claims[1].simulated == Approx(four / two - 1));
  CHECK(r.claims[2].simulated == Approx(eight / four - 1));
}

TEST_CASE("calls count a kernel path, the expert slice is that of the plan", "[unit]") {
  // Kimi has 61 layers: two all-reduces each and one for the embedding. 2048 columns over 8 slices.
  const Result r = checked(
      "  - {metric: calls.all-reduce ring LL, value: 123, tolerance: 0, source: a}\n"
      "  - {metric: expert_gemm.slice, value: 256, tolerance: 0, source: a}\n"
      "  - {metric: expert_gemm.slice, value: 2048, tolerance: 0, source: a, set: {plan.ep: 8}}\n");
  for (const ClaimResult& c : r.claims) CHECK(c.verdict() == "reproduced");
}

TEST_CASE("wrong claims are told what is wrong", "[unit]") {
  CHECK(problem_of("metric: gain.step_ms, source: a") == "a gain is that of `set`");
  CHECK(problem_of("metric: gain.stepms, source: a, set: {plan.tp: 4}") == "unknown metric `stepms`");
  CHECK(problem_of("metric: step_ms, source: a, against: {plan.tp: 4}") == "only a gain compares");
  CHECK(problem_of("metric: step_ms, source: a, value: 1, between: [0, 1]") == "give `value` or `between`, not both");
  CHECK(problem_of("metric: step_ms, source: a, between: [2, 1]") == "`between` is [low, high]");
  CHECK(problem_of("metric: step_ms, source: a, tolerance: 5 %") == "`tolerance` needs a `value`");
}

TEST_CASE("achieved FLOP/s count work that every rank repeats once", "[unit]") {
  // Per token 2 FLOPs for each active weight: GLM-5 has 40e9 active parameters, its embedding is only looked up, and the
  // attention core adds some at 1k tokens: 76 to 90 GFLOP.
  Diagnostics warnings;
  const Case c = load_case(test::experiment("glm-5-nvfp4-tp8"), {}, warnings);
  const Result r = evaluate(c, {false});
  const double per_token = r.achieved_tflops * 1e3 * r.step_ms * 1e-3 / c.experiment.batch.sequences;  // GFLOP
  CHECK(per_token > 72);
  CHECK(per_token < 90);
}

TEST_CASE("several experiments with claims print one table", "[unit]") {
  const auto r = test::moe_sim("run experiments/claims/01-kimi-all-reduce-as-published.yaml experiments/claims/02-kimi-all-reduce-consistent.yaml");
  CHECK(r.code == 0);
  CHECK(r.out.find("verdict") != std::string::npos);
  CHECK(r.out.find("adds up to 100 %") == std::string::npos);
  const auto one = test::moe_sim("run experiments/claims/01-kimi-all-reduce-as-published.yaml");
  CHECK(one.out.find("adds up to 100 %") != std::string::npos);
}
