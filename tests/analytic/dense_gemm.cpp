// A GPU of 10 SMs, 1 TB/s DRAM at 50 % and 2 TB/s L2, so that every term can be done by hand:
// one byte from DRAM is 2e-6 us, from L2 0.5e-6 us; a tile takes K ns and 0.5 us.
#include <cmath>

#include "analytic/small_gpu.hpp"
#include "catch.hpp"
#include "cost/compute.hpp"

using namespace moe;
using moe::test::small_gpu;

namespace {
DenseGemmPath plain_path() {
  DenseGemmPath path;
  path.bytes_per_weight = 2;
  path.t0_us = 1;
  path.dram_eff = 0.5;
  path.l2_tbps = 2;
  path.eps_us = 0.5;
  path.p = 2;
  path.wave_quant = 1;
  path.regimes = {{16, 16, 64, 1.0}, {512, 128, 64, 4.0}};
  return path;
}
}  // namespace

TEST_CASE("one tile: fixed time, then weights and tile overlap in part", "[analytic]") {
  const KernelCost cost = dense_gemm(small_gpu(), plain_path(), 1, 64, 1000);
  const double memory_us = 64 * 1000 * 2 * 2e-6 + 2 * (1000 + 64) * 0.5e-6;  // 0.256 + 0.001064
  const double tile_us = 1000 * 1e-3 + 0.5;
  CHECK(cost.launch_us == Approx(1));
  CHECK(cost.memory_us == Approx(memory_us));
  CHECK(cost.compute_us == Approx(tile_us));
  CHECK(cost.time_us == Approx(1 + std::sqrt(memory_us * memory_us + tile_us * tile_us)));
  CHECK(cost.dram_bytes == 128000);
  CHECK(cost.flop == 128000);
  CHECK(cost.waves == Approx(0.1));
}

TEST_CASE("the eleventh tile on ten SMs starts a second whole wave", "[analytic]") {
  DenseGemmPath path = plain_path();
  CHECK(dense_gemm(small_gpu(), path, 1, 64 * 10, 1000).compute_us == Approx(1.5));
  CHECK(dense_gemm(small_gpu(), path, 1, 64 * 10 + 1, 1000).compute_us == Approx(3.0));
  path.wave_quant = 0;  // a persistent kernel shares the eleventh tile out
  CHECK(dense_gemm(small_gpu(), path, 1, 64 * 10 + 1, 1000).compute_us == Approx(1.1 * 1.5));
}

TEST_CASE("of two tiles for the same rows the library takes the quicker", "[analytic]") {
  DenseGemmPath path = plain_path();
  path.regimes = {{16, 16, 64, 1.0}, {16, 16, 128, 1.6}};
  // 10 columns of 64 fill the ten SMs once: 1000 ns + 0.5 us beat five tiles of 1600 ns + 0.5 us.
  CHECK(dense_gemm(small_gpu(), path, 1, 640, 1000).compute_us == Approx(1.5));
  CHECK(gemm_tile(small_gpu(), path, 1, 640, 1000).bn == 64);
  // 20 columns of 64 are two waves (3.0 us), ten of 128 are one (2.1 us).
  CHECK(dense_gemm(small_gpu(), path, 1, 1280, 1000).compute_us == Approx(2.1));
  CHECK(gemm_tile(small_gpu(), path, 1, 1280, 1000).bn == 128);
}

TEST_CASE("K is split only where that is quicker than adding the parts", "[analytic]") {
  DenseGemmPath path = plain_path();
  path.split_k_max = 5;
  path.split_us = 3;
  // Two tiles on ten SMs may be split five ways: K/5 ns + 0.5 us + 3 us against K ns + 0.5 us; even at K = 3750.
  CHECK(gemm_tile(small_gpu(), path, 1, 128, 3000).splits == 1);
  CHECK(dense_gemm(small_gpu(), path, 1, 128, 3000).compute_us == Approx(3.5));
  CHECK(gemm_tile(small_gpu(), path, 1, 128, 10000).splits == 5);
  CHECK(dense_gemm(small_gpu(), path, 1, 128, 10000).compute_us == Approx(5.5));
}

TEST_CASE("when tiles cost nothing the time is bytes over rate", "[analytic]") {
  DenseGemmPath path = plain_path();
  path.eps_us = 0;
  path.regimes = {{16, 16, 64, 1e-9}};
  const KernelCost cost = dense_gemm(small_gpu(), path, 1, 4096, 4096);
  CHECK(cost.time_us - 1 == Approx(4096.0 * 4096 * 2 / 0.5e6 + 2 * 8192 / 2e6).epsilon(1e-9));
}

TEST_CASE("weights found in L2 come at the L2 rate, at half the hit rate at the mean cost", "[analytic]") {
  const double weights = 64 * 1000 * 2, activations_us = 2 * 1064 * 0.5e-6;
  const auto memory_us = [&](double reuse) {
    return dense_gemm(small_gpu(), plain_path(), 1, 64, 1000, reuse).memory_us;
  };
  CHECK(memory_us(kInL2) == Approx(weights * 0.5e-6 + activations_us));
  CHECK(memory_us(1e6) == Approx(weights * (0.5 * 2e-6 + 0.5 * 0.5e-6) + activations_us));
  CHECK(dense_gemm(small_gpu(), plain_path(), 1, 64, 1000, kInL2).dram_bytes == 0);
}

TEST_CASE("split-K fills idle SMs, keeps 256 elements a split, and starts at its K", "[analytic]") {
  DenseGemmPath path = plain_path();
  path.split_k_max = 4;
  path.split_k_min_k = 512;
  const auto tile_us = [&](double n, double k) { return dense_gemm(small_gpu(), path, 1, n, k).compute_us; };
  CHECK(tile_us(128, 1024) == Approx(256e-3 + 0.5));  // 2 tiles: 10/2 = 5 ways would fit, 4 allowed
  CHECK(tile_us(128, 512) == Approx(256e-3 + 0.5));   // only 2 splits of 256
  CHECK(tile_us(128, 767) == Approx(383.5e-3 + 0.5));  // a third split would have 255.67
  CHECK(tile_us(128, 511) == Approx(511e-3 + 0.5));   // below the threshold: none
  CHECK(tile_us(192, 1024) == Approx(1024e-3 / 3 + 0.5));  // 3 tiles: 10/3 = 3 ways
  CHECK(tile_us(384, 1024) == Approx(1024e-3 + 0.5));      // 6 tiles: 10/6 = 1 way
}

TEST_CASE("rows choose the regime, and more rows than fitted use the last one and say so", "[analytic]") {
  CHECK(dense_gemm(small_gpu(), plain_path(), 16, 64, 1000).compute_us == Approx(1.5));
  CHECK(dense_gemm(small_gpu(), plain_path(), 17, 64, 1000).compute_us == Approx(4.5));
  CHECK(dense_gemm(small_gpu(), plain_path(), 512, 64, 1000).in_range);
  CHECK_FALSE(dense_gemm(small_gpu(), plain_path(), 513, 64, 1000).in_range);
}

TEST_CASE("no rows, no kernel", "[analytic]") {
  const KernelCost cost = dense_gemm(small_gpu(), plain_path(), 0, 64, 1000);
  CHECK(cost.time_us == 0);
  CHECK(cost.dram_bytes == 0);
}
