// What must hold for every path of the shipped profile and any size, whatever the fitted constants.
#include <algorithm>

#include "base/random.hpp"
#include "cost/compute.hpp"
#include "validation/rtx_pro_6000.hpp"

using namespace moe;

namespace {

constexpr int kDraws = 40;

double whole(Random& random, std::uint32_t low, std::uint32_t high) { return low + random.below(high - low + 1); }

/// The time lies between the fixed part plus the slower limit, and the sum of all parts.
void check_bounds(const KernelCost& cost) {
  const double slower = std::max(cost.memory_us, cost.compute_us);
  CHECK(cost.time_us >= (cost.launch_us + slower) * (1 - 1e-12));
  CHECK(cost.time_us <= (cost.launch_us + cost.memory_us + cost.compute_us) * (1 + 1e-12));
}

struct Experts {
  MoeShape shape;
  ExpertLoad load;
};

/// A random share of a layer's experts with a random number of rows for each.
Experts random_experts(Random& random) {
  Experts e;
  e.shape.tokens = whole(random, 1, 512);
  e.shape.hidden = 256 * whole(random, 1, 32);
  e.shape.intermediate = 64 * whole(random, 1, 32);
  e.shape.topk = static_cast<int>(whole(random, 1, 10));
  e.shape.local_experts = static_cast<int>(whole(random, 1, 128));
  e.shape.experts = e.shape.local_experts * static_cast<int>(whole(random, 1, 4));
  e.shape.gated = random.below(2) == 0;
  std::vector<int> counts;
  for (int i = 0; i < e.shape.local_experts; ++i)
    counts.push_back(random.below(2) == 0 ? 0 : static_cast<int>(whole(random, 0, 300)));
  e.load = load_of(counts, e.shape.tokens);
  return e;
}

AttentionShape random_attention(Random& random) {
  AttentionShape s;
  s.sequences = whole(random, 1, 256);
  s.context = whole(random, 1, 100000);
  s.kv_heads = whole(random, 1, 4);
  s.heads = s.kv_heads * whole(random, 1, 32);
  s.head_dim = 64 * whole(random, 1, 8);
  s.kv_row_bytes = s.kv_heads * s.head_dim * 2;
  return s;
}

}  // namespace

TEST_CASE("every cost lies between its slower limit and the sum of its parts", "[property]") {
  const Profile profile = rtx_pro_6000();
  Random random(7);
  for (int i = 0; i < kDraws; ++i) {
    const double m = whole(random, 1, 512), n = whole(random, 1, 40000), k = whole(random, 1, 40000);
    for (const auto& [name, path] : profile.dense_gemm) check_bounds(dense_gemm(profile.gpu, path, m, n, k));
    const Experts e = random_experts(random);
    for (const auto& [name, path] : profile.moe) check_bounds(grouped_experts(profile.gpu, path, e.shape, e.load));
    const AttentionShape a = random_attention(random);
    for (const auto& [name, path] : profile.attention) check_bounds(decode_attention(profile.gpu, path, a));
    for (const auto& [name, path] : profile.elementwise) check_bounds(elementwise(profile.gpu, path, m * 1e-3, n * k));
  }
}

TEST_CASE("cold is never faster than warm", "[property]") {
  const Profile profile = rtx_pro_6000();
  Random random(8);
  for (int i = 0; i < kDraws; ++i) {
    const double m = whole(random, 1, 512), n = whole(random, 1, 40000), k = whole(random, 1, 40000);
    const double reuse = whole(random, 0, 300) * 1e6;
    for (const auto& [name, path] : profile.dense_gemm)
      CHECK(dense_gemm(profile.gpu, path, m, n, k).time_us >= dense_gemm(profile.gpu, path, m, n, k, reuse).time_us);
    const Experts e = random_experts(random);
    for (const auto& [name, path] : profile.moe)
      CHECK(grouped_experts(profile.gpu, path, e.shape, e.load).time_us >=
            grouped_experts(profile.gpu, path, e.shape, e.load, reuse).time_us);
    const AttentionShape a = random_attention(random);
    for (const auto& [name, path] : profile.attention)
      CHECK(decode_attention(profile.gpu, path, a).time_us >= decode_attention(profile.gpu, path, a, reuse).time_us);
  }
}

TEST_CASE("dense cost never falls when N grows, nor when K grows where the split of K stays", "[property]") {
  const Profile profile = rtx_pro_6000();
  Random random(9);
  for (int i = 0; i < kDraws; ++i) {
    const double m = whole(random, 1, 512), n = whole(random, 1, 20000), k = whole(random, 1, 20000);
    const double more = whole(random, 1, 5000);
    for (const auto& [name, path] : profile.dense_gemm) {
      const double time_us = dense_gemm(profile.gpu, path, m, n, k).time_us;
      INFO(name << " m " << m << " n " << n << " k " << k << " + " << more);
      CHECK(dense_gemm(profile.gpu, path, m, n + more, k).time_us >= time_us);
      DenseGemmPath unsplit = path;
      unsplit.split_k_max = 1;
      CHECK(dense_gemm(profile.gpu, unsplit, m, n, k + more).time_us >=
            dense_gemm(profile.gpu, unsplit, m, n, k).time_us);
    }
  }
}

TEST_CASE("one more active expert with a row never makes the layer cheaper", "[property]") {
  const Profile profile = rtx_pro_6000();
  Random random(10);
  for (int i = 0; i < kDraws; ++i) {
    const Experts e = random_experts(random);
    ExpertLoad more = e.load;
    more.active += 1;
    more.rows += 1;
    for (double& tiles : more.tiles) tiles += 1;
    for (const auto& [name, path] : profile.moe) {
      INFO(name);
      CHECK(grouped_experts(profile.gpu, path, e.shape, more).time_us >
            grouped_experts(profile.gpu, path, e.shape, e.load).time_us);
    }
  }
}

TEST_CASE("the stages of the experts add up to the total, to the last bit", "[property]") {
  const Profile profile = rtx_pro_6000();
  Random random(11);
  for (int i = 0; i < kDraws; ++i) {
    const Experts e = random_experts(random);
    for (const auto& [name, path] : profile.moe) {
      const ExpertStages s = expert_stages(profile.gpu, path, e.shape, e.load);
      CHECK(s.route_us + s.permute_us + s.gemm1_us + s.gemm2_us ==
            grouped_experts(profile.gpu, path, e.shape, e.load).time_us);
    }
  }
}

TEST_CASE("a longer cache never makes attention cheaper where the split stays", "[property]") {
  const Profile profile = rtx_pro_6000();
  Random random(12);
  for (int i = 0; i < kDraws; ++i) {
    AttentionShape a = random_attention(random);
    for (const auto& [name, path] : profile.attention) {
      AttentionPath unsplit = path;
      unsplit.max_splits = 1;
      a.context = whole(random, 1, 100000);
      const double time_us = decode_attention(profile.gpu, unsplit, a).time_us;
      a.context += whole(random, 1, 5000);
      INFO(name);
      CHECK(decode_attention(profile.gpu, unsplit, a).time_us >= time_us);
    }
  }
}

TEST_CASE("useful work never exceeds the tensor cores' peak on fitted dense paths at decode sizes", "[property]") {
  Profile profile = rtx_pro_6000();
  profile.gpu.bf16_flops = 468e12;
  profile.gpu.fp8_flops = 936e12;
  profile.gpu.fp4_flops = 1871e12;
  Random random(13);
  for (int i = 0; i < kDraws; ++i) {
    const double m = whole(random, 1, 512), n = whole(random, 128, 40000), k = whole(random, 256, 40000);
    for (const auto& [name, path] : profile.dense_gemm) {
      const KernelCost cost = dense_gemm(profile.gpu, path, m, n, k);
      INFO(name << " m " << m << " n " << n << " k " << k);
      CHECK(cost.flop / (cost.time_us * 1e-6) <= peak_flops(profile.gpu, cost.compute));
      CHECK(cost.dram_bytes / (cost.time_us * 1e-6) <= profile.gpu.dram_Bps);
    }
  }
}
