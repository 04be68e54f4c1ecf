// What does a fit miss, smoothly? A small table of ln(measured/model) at scattered sizes, averaged by
// distance.
//
//   ln correction = d sum_i w_i r_i / sum_i w_i     over the `neighbours` nearest points
//   w_i = 1 / (dist_i + 0.05)^2,  d = exp(-(nearest / reach)^2)
//
// dist is Euclidean over axes (log2 of sizes, times a weight). Far from every point the correction fades to
// none and the equation decides alone. Example: one point of +0.10 at m = 8, reach 1: m = 8 costs 10.5 %
// more, m = 16 (one doubling away) 3.7 % more, m = 64 as the equation says. Axes by kind of path:
// residual_axes below.
#pragma once
#include <array>
#include <string>
#include <vector>

namespace moe {

/// Room for the axes of any kind of path.
inline constexpr std::size_t kMostAxes = 8;
using AxisValues = std::array<double, kMostAxes>;

struct ResidualTable {
  std::vector<std::string> axes;  ///< names, in order; only for readers
  std::vector<double> weights;    ///< per axis: how far one unit is
  int neighbours = 6;
  double reach = 1;
  std::vector<AxisValues> where;  ///< points, unweighted
  std::vector<double> value;      ///< ln(measured/model) there
  bool empty() const { return value.empty(); }
  /// Factor on the time: exp(ln correction); 1 for an empty table.
  double factor(const AxisValues& at) const;
};

/// Names of the axes by kind: dense_gemm: log2 m, n, k, warm; moe: log2 tokens, hidden, intermediate, local
/// experts, top-k, experts, rows per active expert, warm; attention and mla_module: log2 sequences, context, heads,
/// kv_heads, head_dim, warm; elementwise: log2 x, log2 bytes, warm. `warm` is the share of L2 hits, hit(F).
const std::vector<std::string>& residual_axes(const std::string& section);

/// log2, at least 0: sizes below 1 do not occur, an absent one (0) counts as 1.
double axis(double size);

}  // namespace moe
