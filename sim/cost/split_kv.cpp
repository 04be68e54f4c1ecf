#include "cost/split_kv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
  s.chunk = shape.context / s.splits;
  s.per_sm = path.ctas_per_sm;
  return s;
}

SplitKv triton_mla_576(const AttentionPath& path, const AttentionShape& shape) {
  constexpr double kBlocks = 576, kMaxSplits = 64, kMmaRows = 16;
  const double block_h = shape.heads == 16 ? 16 : shape.heads == 64 || shape.heads == 128 ? 32 : 8;
  SplitKv s;
  s.tiles = shape.sequences * shape.queries * std::ceil(shape.heads / block_h);
  while (s.splits < kMaxSplits && 2 * s.splits * s.tiles <= kBlocks) s.splits *= 2;
  s.tile_units = std::max(block_h, kMmaRows) / kMmaRows;
  s.chunk = shape.context / s.splits;
  s.per_sm = path.ctas_per_sm;
  return s;
}

/// splits_for, chunk_of, kMostSplits and kChunkStep of calibration/bench/kernels/split.cuh.
void cut_as_suite(SplitKv& s, double slots, const AttentionShape& shape, double start_tokens) {
  constexpr double kStep = 64, kMostSplits = 64;
  const double most = std::clamp(std::ceil(shape.context / kStep), 1.0, kMostSplits);
  double least = std::numeric_limits<double>::infinity();
  for (double splits = 1; splits <= most; ++splits) {
    const double chunk = std::ceil(std::ceil(shape.context / splits) / kStep) * kStep;
    const double cost = std::ceil(s.tiles * splits / slots) * (chunk + start_tokens);
    if (cost >= least) continue;
    least = cost;
    s.splits = splits;
    s.chunk = std::min(chunk, shape.context);
  }
  if (s.splits > 1) s.part_bytes = 4 * shape.sequences * shape.queries * shape.heads * shape.head_dim * s.splits;
}

SplitKv suite_gqa(const GpuSpec& gpu, const AttentionPath& path, const AttentionShape& shape) {
  constexpr double kRows = 16, kBlocksPerSm = 2, kStartTokens = 128;  // gqa.cu
  SplitKv s;
  s.tiles = shape.sequences * shape.kv_heads * std::ceil(shape.heads / shape.kv_heads * shape.queries / kRows);
  s.per_sm = path.ctas_per_sm;
  cut_as_suite(s, kBlocksPerSm * gpu.sm, shape, kStartTokens);
  return s;
}

SplitKv suite_mla(const GpuSpec& gpu, const AttentionShape& shape) {
  constexpr double kStartTokens = 96, kRoomFor2 = 205568;  // mla.cu: Shared<2, 64>::kBytes
  const double rows = shape.heads * shape.queries;
  const double groups = rows > 16 && gpu.shared_memory_bytes >= kRoomFor2 ? 2 : 1;
  SplitKv s;
  s.tiles = shape.sequences * std::ceil(rows / (16 * groups));
  s.per_sm = groups == 1 ? 2 : 1;
  cut_as_suite(s, s.per_sm * gpu.sm, shape, kStartTokens);
  s.tile_units = groups * std::clamp(std::ceil(s.tiles * s.splits / gpu.sm), 1.0, s.per_sm);
  return s;
}

}  // namespace

SplitKv split_kv(const GpuSpec& gpu, const AttentionPath& path, const AttentionShape& shape) {
  if (path.split_rule.empty()) return fitted_rule(gpu, path, shape);
  if (path.split_rule == "suite_gqa") return suite_gqa(gpu, path, shape);
  if (path.split_rule == "suite_mla") return suite_mla(gpu, shape);
  MOE_CHECK(path.split_rule == "triton_mla_576", "the split rule is known");
  return triton_mla_576(path, shape);
}

const std::vector<std::string>& split_rule_names() {
  static const std::vector<std::string> names{"triton_mla_576", "suite_gqa", "suite_mla"};
  return names;
}

}  // namespace moe
