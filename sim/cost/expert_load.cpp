#include <array>

#include "base/check.hpp"
#include "cost/compute.hpp"

namespace moe {
namespace {
constexpr std::array kTileRows{8, 16, 32, 64, 128, 256};  // 2^3 .. 2^8
}

double ExpertLoad::tiles_for(int bm) const {
  for (std::size_t i = 0; i < kTileRows.size(); ++i)
    if (kTileRows[i] == bm) return tiles[i];
  MOE_CHECK(false, "a tile has 8, 16, 32, 64, 128 or 256 rows");
  return 0;
}

/// A = experts with rows, R = all rows, T(bm) = sum of ceil(rows/bm). Tested: tests/analytic/grouped_experts.cpp.
ExpertLoad load_of(const std::vector<int>& rows_per_expert, double tokens_here) {
  ExpertLoad load;
  load.tokens_here = tokens_here;
  for (const int rows : rows_per_expert) {
    if (rows <= 0) continue;
    load.active += 1;
    load.rows += rows;
    for (std::size_t i = 0; i < kTileRows.size(); ++i) load.tiles[i] += (rows + kTileRows[i] - 1) >> (3 + i);
  }
  return load;
}

/// With q = tokens x topk / experts (rows per expert), q_l the same over the local experts only:
///   fix b        b
///   mar x        smallest b of 8, 16, 32 with q < x b, else 64;  mrl x: with q_l
///   tri a b      a while tokens <= experts, else b;              trl a b: tokens here <= local experts
///   ada b f      smallest of 16, 32, 64, at least b, with q <= f times it, else 128;  adl b f: with q_l
///   adc b f      as ada, but 64 at most (tile_rows_for of calibration/bench/kernels/grouped_gemm.cu: adc 16 0.75)
/// Tested: tests/analytic/tile_rules.cpp.
int tile_rows(const TileRule& rule, const MoeShape& shape, const ExpertLoad& load) {
  const auto& v = rule.values;
  const auto value = [&](std::size_t i) {
    MOE_CHECK(i < v.size(), "a tile rule has its parameters");
    return v[i];
  };
  const bool local = rule.kind == "mrl" || rule.kind == "trl" || rule.kind == "adl";
  const double rows = shape.tokens * shape.topk / (local ? shape.local_experts : shape.experts);
  if (rule.kind == "fix") return static_cast<int>(value(0));
  if (rule.kind == "tri") return static_cast<int>(shape.tokens <= shape.experts ? value(0) : value(1));
  if (rule.kind == "trl") return static_cast<int>(load.tokens_here <= shape.local_experts ? value(0) : value(1));
  if (rule.kind == "mar" || rule.kind == "mrl") {
    for (const int b : {8, 16, 32})
      if (rows < value(0) * b) return b;
    return 64;
  }
  MOE_CHECK(rule.kind == "ada" || rule.kind == "adl" || rule.kind == "adc", "the tile rule is known");
  for (const int b : {16, 32, 64})
    if (b >= value(0) && rows <= b * value(1)) return b;
  return rule.kind == "adc" ? 64 : 128;
}

}  // namespace moe
