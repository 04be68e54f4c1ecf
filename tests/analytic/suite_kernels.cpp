// How the calibration suite's own kernels cut their work (calibration/bench/kernels: split.cuh, gqa.cu, mla.cu,
// grouped_gemm.cu), on the 132 SMs and 227 KiB of an H200 and on a GPU small enough to do by hand.
#include <cmath>

#include "analytic/small_gpu.hpp"
#include "catch.hpp"
#include "cost/split_kv.hpp"

using namespace moe;
using moe::test::small_gpu;

namespace {
SplitKv cut(const char* rule, const AttentionShape& shape, double shared_memory_bytes = 227 * 1024) {
  GpuSpec gpu;
  gpu.sm = 132;
  gpu.shared_memory_bytes = shared_memory_bytes;
  AttentionPath path;
  path.split_rule = rule;
  return split_kv(gpu, path, shape);
}
SplitKv mla(double sequences, double context, double heads) {
  return cut("suite_mla", {.sequences = sequences, .context = context, .heads = heads, .head_dim = 512});
}
}  // namespace

TEST_CASE("suite MLA: one long sequence is cut into 64-token steps, at most 64 parts", "[analytic]") {
  // 12000 tokens of 64 heads: two tiles of two 16-row groups. 62 parts of 194 -> 256 tokens and 47 parts of 256 cost the
  // same 256 + 96 in their one wave, and so does every number between: the fewest are 47. 63 parts of 191 -> 192 cost less.
  const SplitKv s = mla(1, 12000, 64);
  CHECK(s.tiles == 2);
  CHECK(s.tile_units == 2);
  CHECK(s.per_sm == 1);
  CHECK(s.splits == 63);
  CHECK(s.chunk == 192);
  CHECK(s.part_bytes == 4.0 * 64 * 512 * 63);
}

TEST_CASE("suite MLA: a second wave costs more than longer parts", "[analytic]") {
  // 74 tiles of 2289 tokens: 3 parts are 222 blocks, two waves of 768 + 96 = 1728; 1 part is one wave of 2304 + 96 = 2400;
  // 5 parts are 370 blocks, three waves of 512 + 96 = 1824.
  const SplitKv s = mla(74, 2289, 32);
  CHECK(s.splits == 3);
  CHECK(s.chunk == 768);
}

TEST_CASE("suite MLA: groups follow the rows and the shared memory, and share the SM", "[analytic]") {
  CHECK(mla(1, 64, 16).tile_units == 1);
  CHECK(mla(1, 64, 32).tile_units == 2);
  CHECK(mla(1, 64, 128).tiles == 4);       // 128 rows: four blocks of 32
  CHECK(mla(200, 64, 16).tile_units == 2); // 200 blocks on 132 SMs: two blocks of one group each on the busiest
  CHECK(mla(1, 64, 16).splits == 1);
  CHECK(mla(1, 64, 16).part_bytes == 0);   // whole: nothing to join
  const AttentionShape wide{.sequences = 1, .context = 64, .heads = 64, .head_dim = 512};
  CHECK(cut("suite_mla", wide, 99 * 1024).tiles == 4);  // 99 KiB of an SM120 hold one group
}

TEST_CASE("suite GQA: tiles of 16 rows per KV head, two blocks to an SM", "[analytic]") {
  // 33 sequences of 8 KV heads are 264 tiles, all slots: one wave whole (7205 tokens); two parts are two waves of 3648.
  const SplitKv s = cut("suite_gqa", {.sequences = 33, .context = 7205, .heads = 48, .kv_heads = 8, .head_dim = 128});
  CHECK(s.tiles == 264);
  CHECK(s.splits == 1);
  CHECK(s.chunk == 7205);  // the last step is not full
  CHECK(cut("suite_gqa", {.sequences = 1, .context = 64, .heads = 20, .kv_heads = 1, .head_dim = 128}).tiles == 2);
}

TEST_CASE("a kernel that joins parts goes through them one by one", "[analytic]") {
  GpuSpec gpu;
  gpu.sm = 132;
  gpu.dram_Bps = 1e12;
  gpu.shared_memory_bytes = 227 * 1024;
  AttentionPath path;
  path.split_rule = "suite_mla";
  path.t0_us = 3;
  path.cq_us_per_MB = 0.5;
  path.reduce_us = 1;
  path.split_us = 0.1;
  path.l2_tbps = 2;
  // 63 parts (above). Query and output: 64 x 512 x 4 B; parts written and read: 2 x 63 x 64 x 512 x 4 B.
  const double MB = 64 * 512 * 4 * (1 + 2 * 63.0) * 1e-6;
  const AttentionShape shape{.sequences = 1, .context = 12000, .heads = 64, .head_dim = 512, .kv_row_bytes = 1152};
  CHECK(decode_attention(gpu, path, shape).launch_us == Approx(3 + 0.5 * MB + 1 + 6.3));
}

TEST_CASE("grouped GEMM in waves of blocks: the last, partly filled wave waits for a whole block", "[analytic]") {
  // 10 SMs x 2 blocks. 3 experts of 20 rows in 64-row tiles: first GEMM 2I = 1000 wide in columns of 128: 3 x 8 = 24 blocks,
  // so 20 and then 4. K = H = 1000: a block 1000 x (4 + 0.05 x 64) ns = 7.2 us, two on an SM 14.4 us, and 0.5 us each time.
  MoePath path;
  path.tile = {"fix", {64}};
  path.bn1 = 32;
  path.bn2 = 128;
  path.blocks_per_sm = 2;
  path.bytes_per_weight = path.bytes_per_activation = 1;
  path.dram_eff = 0.5;
  path.l2_tbps = 2;
  path.tau0_ns = 4;
  path.tau1_ns_per_row = 0.05;
  path.eps_us = 0.5;
  path.p = 2;
  MoeShape shape;
  shape.tokens = 60;
  shape.hidden = 1000;
  shape.intermediate = 500;
  shape.topk = 1;
  shape.experts = shape.local_experts = 3;
  const ExpertStages stages = expert_stages(small_gpu(), path, shape, load_of({20, 20, 20}, 60));
  const double memory_us = 3 * 1000 * 1000 * 2e-6;  // 6 us, 0.25 us a block
  const double two = 14.9, one = 7.7;
  CHECK(stages.gemm1_us == Approx(std::hypot(memory_us * 20 / 24, two) + std::hypot(memory_us * 4 / 24, one)));
}

TEST_CASE("a tile that multiplies its rows in pieces takes as long as its rows ask for", "[analytic]") {
  // Experts of 20 and 5 rows in 64-row tiles, pieces of 8: 24 and 8 rows are multiplied, 16 per tile instead of 64.
  MoePath path;
  path.tile = {"fix", {64}};
  path.bn1 = path.bn2 = 100;
  path.row_piece = 8;
  path.bytes_per_weight = path.bytes_per_activation = 1e-9;  // nothing to read
  path.dram_eff = path.l2_tbps = 1;
  path.tau0_ns = 2;
  path.tau1_ns_per_row = 0.5;
  path.p = 2;
  MoeShape shape;
  shape.tokens = 25;
  shape.hidden = shape.intermediate = 1000;
  shape.topk = 1;
  shape.experts = shape.local_experts = 2;
  // First GEMM: 2 tiles of 2000 columns are 40 blocks, 4 waves on 10 SMs, each 1000 x (2 + 0.5 x 16) ns.
  CHECK(expert_stages(small_gpu(), path, shape, load_of({20, 5}, 25)).gemm1_us == Approx(40).epsilon(1e-6));
}
