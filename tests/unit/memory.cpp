// Does it fit, and how many tokens does the cache hold? By hand on the tiny model, and against engine logs.
#include "plan/memory.hpp"

#include "analytic/tiny_model.hpp"
#include "base/check.hpp"
#include "catch.hpp"
#include "experiment/experiment.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

Plan tp(int degree) {
  Plan p;
  p.tp = degree;
  return p;
}

GpuSpec gpu_of(double bytes) {
  GpuSpec g;
  g.memory_bytes = bytes;
  return g;
}

Batch batch_of(int sequences, std::vector<double> context) {
  Batch b;
  b.sequences = sequences;
  b.context = std::move(context);
  return b;
}

/// tiny_model: two layers of GQA with 2 KV heads of width 2, so 2 x 2 x 2 x 2 B = 16 B per token and layer in
/// bf16.
Memory tiny(int degree, int sequences, double context, double gpu_bytes, double reserve = 0) {
  const Model m = test::tiny_model();
  return memory_of(m, m.checkpoints[0], layout_of(tp(degree), m), KvDtype::bf16,
                   batch_of(sequences, {context}), gpu_of(gpu_bytes), 0.5, reserve);
}

}  // namespace

TEST_CASE("KV heads are divided over tp and repeated when there are fewer than ranks", "[unit]") {
  CHECK(tiny(1, 1, 10, 1e6).kv_bytes_per_token == 32);
  CHECK(tiny(2, 1, 10, 1e6).kv_bytes_per_token == 16);
  CHECK(tiny(4, 1, 10, 1e6).kv_bytes_per_token == 16);  // one of two heads on each of four ranks
  CHECK(tiny(1, 3, 10, 1e6).ranks[0].kv_bytes == 3 * 10 * 32);
}

TEST_CASE("the cache holds what weights and reserve leave of the engine's share", "[unit]") {
  const Memory m = tiny(1, 2, 10, 1e6, 1000);
  const double left = 0.5e6 - 1000 - m.ranks[0].weights_bytes;
  CHECK(m.kv_capacity_tokens == std::floor(left / 32));
  CHECK(m.largest_batch == std::floor(left / 320));
  CHECK(m.ranks[0].budget_bytes == 0.5e6);
}

TEST_CASE("the message of what does not fit has all parts, and they add up", "[unit]") {
  const Memory m =
      tiny(2, 1 << 20, 1024, 32.0 * 1024 * 1024 * 1024);  // 2^20 x 2^10 x 16 B = 16 GiB: all of the half
  try {
    check_fits(m, {4, 5});
    FAIL("fits");
  } catch (const Infeasible& e) {
    CHECK(e.rule == "memory");
    CHECK(std::string(e.what()) ==
          "does not fit: GPU 4 needs 16.00 GiB (weights 0.00, KV cache 16.00, reserve 0.00) and has 16.00 "
          "GiB for the "
          "engine, 0.00 GiB too little");
  }
  CHECK_NOTHROW(check_fits(tiny(2, 1, 1024, 1e9), {0, 1}));
}

TEST_CASE("a Kimi-K2.5 INT4 rank holds what an engine log says", "[validation]") {
  // glm-kimi-sm120-rtx6000bw logs/sglang-k25-int4.log, TP8: weights 72.33 GiB, KV 70.4 KB per token and GPU
  // in bf16 (the latent is whole on every rank: 61 layers x 576 x 2 B).
  Diagnostics found;
  const Case c = load_case(test::experiment("kimi-k2.5-int4-tp8"), {{"kv_dtype", "bf16"}}, found);
  const Memory m = memory_of(c.model, c.weights(), layout_of(c.experiment.plan, c.model), KvDtype::bf16,
                             c.experiment.batch, c.profile->gpu, 0.92, 0);
  CHECK(m.ranks.size() == 8);
  CHECK(m.kv_bytes_per_token == 61 * 576 * 2);
  CHECK(m.ranks[0].weights_bytes / (1024.0 * 1024 * 1024) == Approx(72.33).epsilon(0.01));
}
