// A prefix that all sequences have in common is held once and read once from DRAM.
#include "catch.hpp"
#include "cost/compute.hpp"
#include "report/result.hpp"
#include "stack/stack.hpp"

using namespace moe;

namespace {

/// Memory decides: 1 TB/s at full efficiency, 4 TB/s from L2, tiles cost nothing.
AttentionPath memory_path() {
  AttentionPath p;
  p.dram_eff = 1;
  p.l2_tbps = 4;
  p.p = 12;
  p.tau_us_per_token = 1e-9;
  return p;
}

GpuSpec gpu() {
  GpuSpec g;
  g.sm = 100;
  g.dram_Bps = 1e12;
  return g;
}

AttentionShape shape() {
  AttentionShape s;
  s.sequences = 8;
  s.context = 1e6;
  s.heads = 8;
  s.head_dim = 128;
  s.kv_row_bytes = 1000;
  return s;
}

}  // namespace

TEST_CASE("a common prefix costs DRAM once and L2 for the others", "[analytic]") {
  AttentionShape s = shape();
  // 8 sequences x 1e6 tokens x 1000 B at 1 TB/s: 8000 us.
  const KernelCost apart = decode_attention(gpu(), memory_path(), s);
  CHECK(apart.memory_us == Approx(8000).epsilon(1e-4));
  // Half of it common: (8 x 0.5 + 0.5) GB from DRAM = 4500 us, 7 x 0.5 GB from L2 at 4 TB/s = 875 us.
  s.shared_context = 5e5;
  const KernelCost half = decode_attention(gpu(), memory_path(), s);
  CHECK(half.memory_us == Approx(5375).epsilon(1e-4));
  CHECK(half.dram_bytes == Approx(4.5e9));
  CHECK(half.flop == apart.flop);
  // One sequence shares with nobody.
  s.sequences = 1;
  CHECK(decode_attention(gpu(), memory_path(), s).memory_us == Approx(1000).epsilon(1e-4));
}

TEST_CASE("repeated reads run at the GPU's own L2 rate where that is known and faster", "[analytic]") {
  AttentionShape s = shape();
  s.shared_context = 1e6;
  GpuSpec fast = gpu();
  fast.l2_Bps = 7e12;  // 7 GB at 7 TB/s = 1000 us, beside 1000 us of DRAM
  CHECK(decode_attention(fast, memory_path(), s).memory_us == Approx(2000).epsilon(1e-4));
  fast.l2_Bps = 1e12;  // slower than what the path reached: 7 GB at 4 TB/s
  CHECK(decode_attention(fast, memory_path(), s).memory_us == Approx(2750).epsilon(1e-4));
}

TEST_CASE("a common prefix is held once", "[analytic]") {
  Diagnostics warnings;
  const Overrides apart{{"batch.sequences", "8"}, {"batch.context", "1000"}};
  Overrides common = apart;
  common.emplace_back("batch.shared_prefix", "600");
  const Memory a = memory_of(load_case("experiments/kimi-k2.5-int4-tp8.yaml", apart, warnings));
  const Memory b = memory_of(load_case("experiments/kimi-k2.5-int4-tp8.yaml", common, warnings));
  CHECK(a.ranks[0].kv_bytes - b.ranks[0].kv_bytes == Approx(7 * 600 * a.kv_bytes_per_token));
  CHECK(b.kv_capacity_tokens == a.kv_capacity_tokens);
  CHECK(b.largest_batch > a.largest_batch);
}

TEST_CASE("the fixed part of an attention kernel may grow with each doubling of the batch", "[analytic]") {
  AttentionPath p = memory_path();
  p.t0_us = 10;
  p.batch_us = 3;
  AttentionShape s = shape();
  s.queries = 4;
  CHECK(decode_attention(gpu(), p, s).launch_us == Approx(10 + 3 * 5));  // 8 sequences x 4 queries = 2^5
  s.sequences = s.queries = 1;
  CHECK(decode_attention(gpu(), p, s).launch_us == Approx(10));
}

TEST_CASE("captured sizes count rows or sequences", "[analytic]") {
  Stack s;
  s.launch.capture_sizes = {1, 2, 4, 8};
  CHECK(s.padded_rows(3, 2) == 8);        // 6 rows
  CHECK(s.padded_rows(3, 4) == 0);        // 12 rows: beyond the largest graph
  s.launch.sizes_are_sequences = true;
  CHECK(s.padded_rows(3, 4) == 16);       // 4 sequences of 4 rows
  CHECK(s.padded_rows(9, 1) == 0);
}
