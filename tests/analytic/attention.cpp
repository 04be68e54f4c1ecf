// Decode attention on 10 SMs, 1 TB/s DRAM at 50 %, and the split rule of the community Triton MLA kernel on 188 SMs.
#include <cmath>

#include "catch.hpp"
#include "cost/split_kv.hpp"

using namespace moe;

namespace {
GpuSpec gpu_of(int sm) {
  GpuSpec gpu;
  gpu.sm = sm;
  gpu.dram_Bps = 1e12;
  gpu.l2_resident_bytes = 1e6;
  return gpu;
}
AttentionPath plain_path() {
  AttentionPath path;
  path.head_tile = 16;
  path.max_splits = 8;
  path.min_chunk = 64;
  path.t0_us = 5;
  path.cq_us_per_MB = 10;
  path.reduce_us = 0.5;
  path.dram_eff = 0.5;
  path.l2_tbps = 2;
  path.tau_us_per_token = 0.01;
  path.eps_us = 0.2;
  path.p = 2;
  path.wave_quant = 1;
  return path;
}
AttentionShape shape(double sequences, double context, double heads) {
  AttentionShape s;
  s.sequences = sequences;
  s.context = context;
  s.heads = heads;
  s.head_dim = 128;
  s.kv_row_bytes = 512;
  return s;
}
SplitKv triton(double sequences, double heads, double queries = 1) {
  AttentionPath path = plain_path();
  path.split_rule = "triton_mla_576";
  AttentionShape s = shape(sequences, 10000, heads);
  s.queries = queries;
  return split_kv(gpu_of(188), path, s);
}
}  // namespace

TEST_CASE("two tiles split five ways fill ten SMs in one wave", "[analytic]") {
  const KernelCost cost = decode_attention(gpu_of(10), plain_path(), shape(2, 640, 16));
  const double qo_bytes = 2 * 16 * 128 * 4;                                   // 16384
  const double memory_us = 2 * 640 * 512 * 2e-6 + qo_bytes * 0.5e-6;          // 1.31072 + 0.008192
  const double tiles_us = 128 * 0.01 + 0.2;                                   // 640/5 tokens
  CHECK(cost.waves == Approx(1));
  CHECK(cost.launch_us == Approx(5 + 10 * qo_bytes * 1e-6 + 0.5 * std::log2(6.0)));
  CHECK(cost.memory_us == Approx(memory_us));
  CHECK(cost.compute_us == Approx(tiles_us));
  CHECK(cost.time_us == Approx(cost.launch_us + std::hypot(memory_us, tiles_us)));
  CHECK(cost.dram_bytes == 2 * 640 * 512);
  CHECK(cost.flop == 2.0 * 2 * 16 * 640 * 256);
}

TEST_CASE("splits stop at the SMs, at the kernel's limit, and at the smallest chunk", "[analytic]") {
  const auto splits = [](double sequences, double context) {
    return split_kv(gpu_of(10), plain_path(), shape(sequences, context, 16)).splits;
  };
  CHECK(splits(1, 10000) == 8);   // 10 would fill, 8 allowed
  CHECK(splits(4, 10000) == 3);   // ceil(10/4)
  CHECK(splits(20, 10000) == 1);  // full without
  CHECK(splits(1, 129) == 3);     // ceil(129/64)
  CHECK(splits(1, 0) == 1);       // an empty cache is one chunk
}

TEST_CASE("without a split there is no reduction", "[analytic]") {
  const KernelCost cost = decode_attention(gpu_of(10), plain_path(), shape(1, 64, 16));
  CHECK(cost.launch_us == Approx(5 + 10 * 16 * 128 * 4e-6));
}

TEST_CASE("a tile packs the query heads of one KV head and the tokens of a verify step", "[analytic]") {
  const auto tiles = [](double heads, double kv_heads, double queries) {
    AttentionShape s = shape(1, 640, heads);
    s.kv_heads = kv_heads;
    s.queries = queries;
    return split_kv(gpu_of(10), plain_path(), s).tiles;
  };
  CHECK(tiles(16, 1, 1) == 1);
  CHECK(tiles(17, 1, 1) == 2);
  CHECK(tiles(16, 4, 1) == 4);  // each KV head has its own tile
  CHECK(tiles(16, 1, 4) == 4);  // 64 rows
  CHECK(tiles(16, 4, 4) == 4);  // 16 rows per KV head
}

TEST_CASE("a verify step reads the cache once and multiplies more rows", "[analytic]") {
  AttentionShape verify = shape(2, 640, 16);
  verify.queries = 4;
  const KernelCost one = decode_attention(gpu_of(10), plain_path(), shape(2, 640, 16));
  const KernelCost four = decode_attention(gpu_of(10), plain_path(), verify);
  CHECK(four.dram_bytes == one.dram_bytes);
  CHECK(four.flop == 4 * one.flop);
}

TEST_CASE("the dot product of MLA is wider than its output", "[analytic]") {
  AttentionShape mla = shape(1, 100, 8);
  mla.head_dim = 512;
  mla.score_dim = 576;
  CHECK(decode_attention(gpu_of(10), plain_path(), mla).flop == 2.0 * 8 * 100 * (576 + 512));
}

TEST_CASE("community Triton MLA: 576 blocks over tiles of 8 heads, in powers of two, at most 64 splits", "[analytic]") {
  CHECK(triton(1, 8).splits == 64);    // 576 -> 64
  CHECK(triton(8, 8).splits == 64);    // 72
  CHECK(triton(9, 8).splits == 64);    // 64 exactly
  CHECK(triton(10, 8).splits == 32);   // 57.6
  CHECK(triton(128, 8).splits == 4);   // 4.5
  CHECK(triton(600, 8).splits == 1);
  CHECK(triton(8, 32).tiles == 32);    // 32 heads have no tuned entry: 4 tiles of 8
  CHECK(triton(8, 32).splits == 16);   // 18
}

TEST_CASE("community Triton MLA: a tile of 8 heads costs what 16 cost, one of 32 twice that", "[analytic]") {
  CHECK(triton(1, 8).tile_units == 1);
  CHECK(triton(1, 16).tile_units == 1);
  CHECK(triton(1, 64).tile_units == 2);
  CHECK(triton(1, 64).tiles == 2);
  CHECK(triton(1, 128).tiles == 4);
}

TEST_CASE("community Triton MLA treats query tokens of a verify step as rows of their own", "[analytic]") {
  CHECK(triton(2, 8, 4).tiles == triton(8, 8).tiles);
}

TEST_CASE("512 blocks on 188 SMs take three whole waves", "[analytic]") {
  AttentionPath path = plain_path();
  path.split_rule = "triton_mla_576";
  const KernelCost cost = decode_attention(gpu_of(188), path, shape(8, 6400, 8));
  CHECK(cost.waves == Approx(512.0 / 188));
  CHECK(cost.compute_us == Approx(3 * (100 * 0.01 + 0.2)));
}

TEST_CASE("no sequences, no kernel", "[analytic]") {
  CHECK(decode_attention(gpu_of(10), plain_path(), shape(0, 640, 16)).time_us == 0);
}
