// A whole MLA block on 10 SMs with 1 TB/s of DRAM at 50 % and no L2: the core as decode_attention, the projections as
// one more limit.
#include <cmath>

#include "analytic/small_gpu.hpp"
#include "catch.hpp"
#include "cost/compute.hpp"

using namespace moe;
using moe::test::small_gpu;

namespace {
MlaModulePath block() {
  MlaModulePath path;
  path.t0_us = 20;
  path.dram_eff = 0.5;
  path.l2_tbps = 2;
  path.tau_us_per_token = 0.01;
  path.p = 2;
  path.wave_quant = 1;
  path.weight_eff = 0.8;
  path.weight_bytes_shared = 3e6;
  path.weight_bytes_per_head = 0.5e6;
  path.weights_shared = 1.5e6;
  path.weights_per_head = 0.25e6;
  path.c_us_per_GFLOP = 100;
  return path;
}
AttentionShape shape(double sequences) {
  AttentionShape s;
  s.sequences = sequences;
  s.context = 1000;
  s.heads = 4;
  s.head_dim = 512;
  s.score_dim = 576;
  s.kv_row_bytes = 1152;
  return s;
}
}  // namespace

TEST_CASE("an MLA block is its core and the weights around it", "[analytic]") {
  const MlaModulePath path = block();
  const KernelCost core = decode_attention(small_gpu(), path, shape(2));
  const KernelCost whole = mla_module(small_gpu(), path, shape(2));
  const double weights_us = 5e6 / 0.8 * 1e-6;             // 3 MB + 4 heads x 0.5 MB at 0.8 TB/s: 6.25 us
  const double gflop = 2 * 2 * (1.5e6 + 4 * 0.25e6) * 1e-9;  // 0.01
  CHECK(whole.time_us == Approx(core.time_us + std::hypot(weights_us, 100 * gflop)));
  CHECK(whole.dram_bytes == Approx(core.dram_bytes + 5e6));
  CHECK(whole.flop == Approx(core.flop + gflop * 1e9));
}

TEST_CASE("no sequence, no MLA block", "[analytic]") { CHECK(mla_module(small_gpu(), block(), shape(0)).time_us == 0); }
