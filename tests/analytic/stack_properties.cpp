// What a switch of the engine stack or of the plan changes, and what it leaves alone.
#include "catch.hpp"
#include "repository.hpp"
#include "report/result.hpp"

using namespace moe;

namespace {

Result simulate(const std::string& experiment, Overrides set) {
  Diagnostics warnings;
  return evaluate(load_case(test::experiment(experiment), set, warnings), {false, true});
}

double part(const Result& r, Category c) { return r.breakdown_ms[static_cast<std::size_t>(c)]; }

const std::string kKimi = "kimi-k2.5-int4-tp8";

}  // namespace

TEST_CASE("an all-reduce fused with the norm takes both norms of every layer and the last one away", "[analytic]") {
  const Result plain = simulate(kKimi, {}), fused = simulate(kKimi, {{"stack.all_reduce.fused_with_norm", "true"}});
  // 61 layers x 2 add+norm and the final norm, 2.55 us each at one row (t0 of small/row_reduction, bytes negligible).
  CHECK(part(plain, Category::small_kernels) - part(fused, Category::small_kernels) == Approx(123 * 2.55e-3).epsilon(0.02));
  CHECK(part(plain, Category::all_reduce) == Approx(part(fused, Category::all_reduce)));
}

TEST_CASE("structured sparsity scales the expert bytes and nothing else", "[analytic]") {
  const Overrides batch{{"batch.sequences", "64"}};
  const Result dense = simulate(kKimi, batch), sparse = simulate(kKimi, {{"batch.sequences", "64"}, {"stack.expert_sparsity", "0.5625"}});
  const double ratio = part(sparse, Category::experts) / part(dense, Category::experts);
  CHECK(ratio > 0.5625);  // launches stay
  CHECK(ratio < 0.65);
  CHECK(part(sparse, Category::dense_gemm) == Approx(part(dense, Category::dense_gemm)));
}

TEST_CASE("a cast-free stack has no cast left", "[analytic]") {
  const std::string nvfp4 = "plan-minimax-m2.5-nvfp4-tp8";
  CHECK(part(simulate(nvfp4, {}), Category::cast) > 0.5);
  CHECK(part(simulate(nvfp4, {{"stack.cast_free", "true"}}), Category::cast) == 0);
}

TEST_CASE("prefetching the next weights saves at most what memory could read during collectives", "[analytic]") {
  const Result plain = simulate(kKimi, {}), ahead = simulate(kKimi, {{"stack.l2_prefetch", "true"}});
  CHECK(ahead.step_ms < plain.step_ms);
  CHECK(plain.step_ms - ahead.step_ms <= part(plain, Category::all_reduce) + part(plain, Category::all_gather) + 1e-9);
}

TEST_CASE("two batches in flight hide all-reduces and read experts twice", "[analytic]") {
  const std::string base = "plan-kimi-k2.5-int4-tp8", both = "plan-kimi-k2.5-int4-tp8-two-batch";
  const Result one = simulate(base, {}), two = simulate(both, {});
  CHECK(part(two, Category::all_reduce) < 0.2 * part(one, Category::all_reduce));
  CHECK(part(two, Category::experts) > 1.2 * part(one, Category::experts));
}

TEST_CASE("the shared expert on a second stream overlaps the journey of routed tokens", "[analytic]") {
  const std::string dp = "plan-glm-5-nvfp4-dp8-ep8";
  CHECK(simulate(dp, {{"plan.overlap", "single_batch"}}).step_ms < simulate(dp, {}).step_ms);
}

TEST_CASE("a cast over a foreign buffer costs its bytes on every layer", "[analytic]") {
  // 1.48 GB per call over 78 layers, at the fitted share of 1.792 TB/s.
  const Result r = simulate("plan-glm-5-nvfp4-tp8", {{"stack.extra_cast.bytes", "1.48 GB"}, {"batch.sequences", "1"}});
  const Result plain = simulate("plan-glm-5-nvfp4-tp8", {{"batch.sequences", "1"}});
  Diagnostics warnings;
  const Case c = load_case(test::experiment("plan-glm-5-nvfp4-tp8"), {}, warnings);
  const ElementwisePath& path = c.profile->elementwise.at(c.stack.path("cast", "any"));
  CHECK(part(r, Category::cast) - part(plain, Category::cast) ==
        Approx(78 * (1.48e9 / (path.dram_eff * 1.792e12) * 1e3 + path.t0_us * 1e-3)).epsilon(0.01));
}

TEST_CASE("direct traffic switched off makes all-reduces bounce through host memory", "[analytic]") {
  const Result on = simulate(kKimi, {}), off = simulate(kKimi, {{"degrade", "[{p2p: false}]"}});
  CHECK(part(off, Category::all_reduce) > 1.5 * part(on, Category::all_reduce));
  CHECK(part(off, Category::experts) == Approx(part(on, Category::experts)));
}

TEST_CASE("several steps draw routing afresh and report their spread", "[analytic]") {
  const Result r = simulate(kKimi, {{"steps", "20"}, {"batch.sequences", "32"}});
  REQUIRE(r.steps_ms.size() == 20);
  CHECK(r.quantile_ms(0.5) <= r.quantile_ms(0.99));
  CHECK(r.quantile_ms(0.99) > r.quantile_ms(0.01));
}
