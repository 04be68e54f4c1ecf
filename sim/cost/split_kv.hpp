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
};

/// Empty rule (fitted kernels): tiles = B Hkv ceil(group queries / head_tile),
///   splits = min( clamp(ceil(occ SM / tiles), 1, max_splits), ceil(L / min_chunk) )
/// triton_mla_576 (community Triton MLA kernel): each query token is a row of its own; BLOCK_H = 16 for 16 heads and
///   32 for 64 and 128 heads (tuned entries), else 8; splits = largest power of two <= 576 / (B tiles), at most 64.
///   The multiply pads a tile to 16 rows, so tau counts units of 16 rows. The tuned entries' own splits are not
///   published; the same rule is assumed for them.
/// Tested: tests/analytic/attention.cpp.
SplitKv split_kv(const GpuSpec& gpu, const AttentionPath& path, const AttentionShape& shape);

/// Names that AttentionPath.split_rule may have besides the empty one.
const std::vector<std::string>& split_rule_names();

}  // namespace moe
