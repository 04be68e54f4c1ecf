// Four experts get 3, 0, 20 and 1 rows. H = 100, I = 50, 1 byte a weight, tiles of 16 rows on 10 SMs;
// DRAM gives a byte in 2e-6 us, L2 in 0.5e-6 us.
#include <cmath>

#include "analytic/small_gpu.hpp"
#include "catch.hpp"
#include "cost/compute.hpp"

using namespace moe;
using moe::test::small_gpu;

namespace {
MoePath plain_path() {
  MoePath path;
  path.bytes_per_weight = path.bytes_per_activation = 1;
  path.tile = {"fix", {16}};
  path.bn1 = 50;
  path.bn2 = 100;
  path.t0_us = 8;
  path.ck_us = 0.1;
  path.ctok_us = 0.01;
  path.cE_us = 0.02;
  path.cA_us = 0.03;
  path.crow_us_per_MB = 1000;
  path.dram_eff = 0.5;
  path.l2_tbps = 2;
  path.tau0_ns = 10;
  path.tau1_ns_per_row = 1;
  path.eps_us = 0.4;
  path.p = 2;
  path.wave_quant = 1;
  path.includes = {"topk", "permute", "activation", "finalise", "gap"};
  return path;
}
MoeShape shape() {
  MoeShape s;
  s.tokens = 12;
  s.hidden = 100;
  s.intermediate = 50;
  s.topk = 2;
  s.experts = s.local_experts = 4;
  return s;
}
const ExpertLoad kLoad = load_of({3, 0, 20, 1}, 12);

// w1 = 2 x 50 x 100 = 10000 B, w2 = 5000 B; A = 3 experts from DRAM, T - A = 1 further tile from L2.
const double kFirstMemory = 3 * 10000 * 2e-6 + 10000 * 0.5e-6, kSecondMemory = kFirstMemory / 2;
// 4 tiles x ceil(100/50) = 8 of 10 SMs, 100 x (10 + 16) ns + 0.4; 4 x 1 of 10, 50 x 26 ns + 0.4.
const double kFirstTiles = 3.0, kSecondTiles = 1.7;
const double kFirst = std::hypot(kFirstMemory, kFirstTiles), kSecond = std::hypot(kSecondMemory, kSecondTiles);
// A row moves 100 x (1 + 2) + 2 x 2 x 50 + 50 = 550 B; 24 rows, 1 us per KB.
const double kRows = 24 * 550e-3;
}  // namespace

TEST_CASE("the load counts active experts, rows, and tiles rounded up per expert", "[analytic]") {
  CHECK(kLoad.active == 3);
  CHECK(kLoad.rows == 24);
  CHECK(kLoad.tiles_for(8) == 1 + 3 + 1);
  CHECK(kLoad.tiles_for(16) == 1 + 2 + 1);
  CHECK(kLoad.tiles_for(32) == 3);
  CHECK_THROWS(kLoad.tiles_for(24));
}

TEST_CASE("both GEMMs read active experts from DRAM and further tiles from L2", "[analytic]") {
  const KernelCost cost = grouped_experts(small_gpu(), plain_path(), shape(), kLoad);
  const double launch_us = 8 + 0.1 * 2 + 0.01 * 12 + 0.02 * 4 + 0.03 * 3 + kRows;
  CHECK(cost.memory_us == Approx(kFirstMemory + kSecondMemory));
  CHECK(cost.compute_us == Approx(kFirstTiles + kSecondTiles));
  CHECK(cost.launch_us == Approx(launch_us));
  CHECK(cost.time_us == Approx(launch_us + kFirst + kSecond));
  CHECK(cost.dram_bytes == 3 * 15000);
  CHECK(cost.flop == 2 * 24 * 15000);
  CHECK(cost.waves == Approx(0.8 + 0.4));
}

TEST_CASE("experts without a gate have two matrices instead of three", "[analytic]") {
  MoeShape plain = shape();
  plain.gated = false;
  const KernelCost cost = grouped_experts(small_gpu(), plain_path(), plain, kLoad);
  CHECK(cost.dram_bytes == 3 * 10000);
  CHECK(cost.flop == 2 * 24 * 10000);
}

TEST_CASE("warm experts come at the L2 rate", "[analytic]") {
  const KernelCost cost = grouped_experts(small_gpu(), plain_path(), shape(), kLoad, kInL2);
  CHECK(cost.memory_us == Approx(4 * 15000 * 0.5e-6));
  CHECK(cost.dram_bytes == 0);
}

TEST_CASE("stages: router, row movement, two GEMMs, and the fixed time in equal shares", "[analytic]") {
  const ExpertStages s = expert_stages(small_gpu(), plain_path(), shape(), kLoad);
  CHECK(s.route_us == Approx(2 + 0.2));
  CHECK(s.permute_us == Approx(2 + 0.12 + 0.08 + 0.09 + kRows));
  CHECK(s.gemm1_us == Approx(2 + kFirst));
  CHECK(s.gemm2_us == Approx(2 + kSecond));
}

TEST_CASE("a path whose time has no top-k and no permute leaves their stages without fixed time", "[analytic]") {
  MoePath path = plain_path();
  path.includes = {"activation", "gap"};
  const ExpertStages s = expert_stages(small_gpu(), path, shape(), kLoad);
  CHECK(s.route_us == Approx(0.2));
  CHECK(s.gemm1_us == Approx(4 + kFirst));
}

TEST_CASE("a rank that received no rows pays its fixed time only", "[analytic]") {
  const KernelCost cost = grouped_experts(small_gpu(), plain_path(), shape(), load_of({0, 0, 0, 0}, 0));
  CHECK(cost.memory_us == 0);
  CHECK(cost.compute_us == 0);
  CHECK(cost.time_us == Approx(8 + 0.2 + 0.12 + 0.08));
}
