// Ranks of a tensor-parallel plan all do the same; the simulator plays one for all. That must not change anything.
#include "catch.hpp"
#include "engine/engine.hpp"
#include "lower/lower.hpp"
#include "repository.hpp"

using namespace moe;

TEST_CASE("a folded step takes exactly as long as the step with every rank played", "[property]") {
  const std::string sequences = GENERATE("1", "8", "33", "64");
  const std::string tp = GENERATE("1", "2", "8");
  const std::string graph = GENERATE("full", "eager");
  Diagnostics warnings;
  const Case c = load_case(test::experiment("kimi-k2.5-int4-tp8"),
                           {{"batch.sequences", sequences}, {"plan.tp", tp}, {"stack.launch.graph", graph},
                            {"stack.launch.capture_sizes", graph == "eager" ? "[]" : "[1, 8, 40, 64]"}},
                           warnings);
  LowerOptions folded, unfolded;
  unfolded.fold = false;
  const Lowered one = lower_step(c, folded), all = lower_step(c, unfolded);
  REQUIRE(run(one.program, one.resources, Sharing::max_min).makespan ==
          run(all.program, all.resources, Sharing::max_min).makespan);
}

TEST_CASE("the second stream of shared experts joins before the all-reduce on every rank", "[property]") {
  Diagnostics warnings;
  const Case c = load_case(test::experiment("kimi-k2.5-int4-tp8"), {{"stack.shared_experts_stream", "true"}}, warnings);
  const Case serial = load_case(test::experiment("kimi-k2.5-int4-tp8"), {{"stack.shared_experts_stream", "false"}}, warnings);
  LowerOptions unfolded;
  unfolded.fold = false;
  const Lowered one = lower_step(c, {}), all = lower_step(c, unfolded), plain = lower_step(serial, {});
  const Time overlapped = run(one.program, one.resources, Sharing::max_min).makespan;
  CHECK(overlapped == run(all.program, all.resources, Sharing::max_min).makespan);
  CHECK(overlapped < run(plain.program, plain.resources, Sharing::max_min).makespan);
}
