// Memory per rank against what engine logs say. Logs: magik6k/glm-kimi-sm120-rtx6000bw logs/*.log (SGLang, January 2026;
// "GB" there are GiB) and sjug/rtx6kpro@738985bb (vLLM).
#include <cstdio>

#include "catch.hpp"
#include "experiment/experiment.hpp"
#include "model/load.hpp"
#include "plan/memory.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

Memory memory(const std::string& name, const std::string& checkpoint, Plan plan, KvDtype kv) {
  Diagnostics d;
  const Model model = load_model(test::root() + "/models/" + name + ".yaml", d);
  REQUIRE_FALSE(d.has_errors());
  for (const Checkpoint& c : model.checkpoints)
    if (c.id == checkpoint) {
      GpuSpec gpu;
      gpu.memory_bytes = 96 * kGiB;
      return memory_of(model, c, layout_of(plan, model), kv, Batch{1, {1024}, {}}, gpu, 0.92, 1.5 * kGiB);
    }
  FAIL("no such checkpoint");
  return {};
}

Plan tp_pp(int tp, int pp) {
  Plan p;
  p.tp = tp;
  p.pp = pp;
  return p;
}

}  // namespace

TEST_CASE("KV bytes per token and rank are those of the engine logs", "[validation]") {
  // GLM-4.7 bf16: 864 247 tokens took 2 x 18.96 GiB (TP8) = 47 113 B; 841 782 took 2 x 18.46 GiB (TP4 x PP2) = 47 094 B.
  CHECK(memory("glm-4.7", "fp8", tp_pp(8, 1), KvDtype::bf16).kv_bytes_per_token == Approx(2 * 18.96 * kGiB / 864247).epsilon(2e-3));
  CHECK(memory("glm-4.7", "fp8", tp_pp(4, 2), KvDtype::bf16).kv_bytes_per_token == Approx(2 * 18.46 * kGiB / 841782).epsilon(2e-3));
  // Kimi-K2-Thinking fp8: 180 191 tokens took 5.90 GiB = 35 157 B: the latent is whole on every rank.
  CHECK(memory("kimi-k2-thinking", "nvfp4", tp_pp(8, 1), KvDtype::fp8).kv_bytes_per_token == Approx(5.90 * kGiB / 180191).epsilon(2e-3));
}

TEST_CASE("weights of pipeline stages are those of the engine log", "[validation]") {
  // GLM-4.7-FP8 TP4 x PP2: 40.69 GiB on stage 0 and 42.86 GiB on stage 1. The split of layers is not in the log; 46 + 46.
  const Memory m = memory("glm-4.7", "fp8", tp_pp(4, 2), KvDtype::bf16);
  const double first = m.ranks[0].weights_bytes / kGiB, second = m.ranks[4].weights_bytes / kGiB;
  std::printf("GLM-4.7 FP8 TP4 x PP2: stage 0 %.2f GiB (log 40.69), stage 1 %.2f GiB (log 42.86)\n", first, second);
  CHECK(first + second == Approx(40.69 + 42.86).epsilon(0.01));
}

TEST_CASE("decode context parallelism multiplies the capacity as logs show, within what they reserve", "[validation]") {
  // Kimi-K2.6 INT4 TP8, fp8 KV: 437 520 tokens at DCP 1; 1 769 600 to 3 424 256 at DCP 8 (4.0 to 7.8 times; the smaller
  // one with a draft model and larger graphs).
  Plan plan = tp_pp(8, 1);
  const double one = memory("kimi-k2.5", "int4", plan, KvDtype::fp8).kv_capacity_tokens;
  plan.dcp = 8;
  const double eight = memory("kimi-k2.5", "int4", plan, KvDtype::fp8).kv_capacity_tokens;
  std::printf("Kimi INT4 KV capacity: DCP 1 %.0f (log 437520), DCP 8 %.0f (log 3424256)\n", one, eight);
  CHECK(one == Approx(437520).epsilon(0.1));
  CHECK(eight == Approx(3424256).epsilon(0.1));
}
