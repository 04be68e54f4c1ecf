// How does a decode attention kernel cut its work into blocks? Head tiles x KV splits, by the rule of the kernel.
//
//   8 heads, one KV head, 1 sequence, rule triton_mla_576: one tile of 8 heads, 64 splits, 64 blocks on 188 SMs
#pragma once
#include <string>
#include <vector>

#include "cost/compute.hpp"

namespace moe {

struct SplitKv {
  double tiles = 0;      ///< head tiles over all sequences and KV heads, before splitting
  double splits = 1;     ///< blocks that share one tile's cached tokens
  double tile_units = 1; ///< cost of one tile per token, in units of the path's tau
  double chunk = 0;      ///< cached tokens of the longest block
  double per_sm = 1;     ///< blocks that share an SM (occ)
  double part_bytes = 0; ///< parts of the output, which a further kernel joins; 0: not counted
};

/// Empty rule (fitted kernels): tiles = B Hkv ceil(group queries / head_tile),
///   splits = min( clamp(ceil(occ SM / tiles), 1, max_splits), ceil(L / min_chunk) )
/// triton_mla_576 (community Triton MLA kernel): each query token is a row of its own; BLOCK_H = 16 for 16 heads and
///   32 for 64 and 128 heads (tuned entries), else 8; splits = largest power of two <= 576 / (B tiles), at most 64.
///   The multiply pads a tile to 16 rows, so tau counts units of 16 rows. The tuned entries' own splits are not
///   published; the same rule is assumed for them.
/// suite_gqa, suite_mla (kernels of the calibration suite: splits_for and chunk_of of calibration/bench/kernels/split.cuh,
///   grids of gqa.cu and mla.cu): the fewest splits, at most 64 and one per 64 tokens, for which waves x (chunk + start) is
///   least; chunk = whole steps of 64 tokens; start = 128 tokens (gqa), 96 (mla). gqa: tiles of 16 rows of one KV head, two
///   blocks to an SM. mla: blocks of two groups of 16 rows where there are rows for them and shared memory holds them, one to
///   an SM; else of one group, two to an SM; units = groups on the SM. The splits' parts are fp32.
/// Tested: tests/analytic/attention.cpp, tests/analytic/suite_kernels.cpp.
SplitKv split_kv(const GpuSpec& gpu, const AttentionPath& path, const AttentionShape& shape);

/// Names that AttentionPath.split_rule may have besides the empty one.
const std::vector<std::string>& split_rule_names();

}  // namespace moe
