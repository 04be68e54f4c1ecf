#include "cost/split_kv.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace moe {
namespace {

SplitKv fitted_rule(const GpuSpec& gpu, const AttentionPath& path, const AttentionShape& shape) {
  SplitKv s;
  const double group = shape.heads / shape.kv_heads;
  s.tiles = shape.sequences * shape.kv_heads * std::ceil(group * shape.queries / path.head_tile);
  const double fill = std::ceil(path.ctas_per_sm * gpu.sm / s.tiles);
  const double chunks = std::ceil(shape.context / path.min_chunk);
  s.splits = std::max(1.0, std::min(std::clamp<double>(fill, 1, path.max_splits), chunks));
  return s;
}

SplitKv triton_mla_576(const AttentionShape& shape) {
  constexpr double kBlocks = 576, kMaxSplits = 64, kMmaRows = 16;
  const double block_h = shape.heads == 16 ? 16 : shape.heads == 64 || shape.heads == 128 ? 32 : 8;
  SplitKv s;
  s.tiles = shape.sequences * shape.queries * std::ceil(shape.heads / block_h);
  while (s.splits < kMaxSplits && 2 * s.splits * s.tiles <= kBlocks) s.splits *= 2;
  s.tile_units = std::max(block_h, kMmaRows) / kMmaRows;
  return s;
}

}  // namespace

SplitKv split_kv(const GpuSpec& gpu, const AttentionPath& path, const AttentionShape& shape) {
  if (path.split_rule.empty()) return fitted_rule(gpu, path, shape);
  MOE_CHECK(path.split_rule == "triton_mla_576", "the split rule is known");
  return triton_mla_576(shape);
}

const std::vector<std::string>& split_rule_names() {
  static const std::vector<std::string> names{"triton_mla_576"};
  return names;
}

}  // namespace moe
