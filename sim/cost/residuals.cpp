#include "cost/residuals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"

namespace moe {
namespace {

constexpr std::size_t kMostNeighbours = 16;
constexpr double kBlur = 0.05;  ///< distance added so that a point met exactly does not divide by zero

struct Near {
  double squared = std::numeric_limits<double>::infinity();
  double value = 0;
};

}  // namespace

/// Tested: tests/property/residual_table.cpp.
double ResidualTable::factor(const AxisValues& at) const {
  if (value.empty()) return 1;
  std::array<Near, kMostNeighbours> best{};
  const auto k = std::min<std::size_t>({static_cast<std::size_t>(neighbours), kMostNeighbours, value.size()});
  for (std::size_t p = 0; p < value.size(); ++p) {
    double squared = 0;
    for (std::size_t a = 0; a < weights.size(); ++a) {
      const double d = weights[a] * (where[p][a] - at[a]);
      squared += d * d;
    }
    if (squared >= best[k - 1].squared) continue;
    std::size_t i = k - 1;
    for (; i > 0 && best[i - 1].squared > squared; --i) best[i] = best[i - 1];
    best[i] = {squared, value[p]};
  }
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < k; ++i) {
    const double near = std::sqrt(best[i].squared) + kBlur;
    const double w = 1 / (near * near);
    sum += w * best[i].value;
    total += w;
  }
  return std::exp(std::exp(-best[0].squared / (reach * reach)) * sum / total);
}

const std::vector<std::string>& residual_axes(const std::string& section) {
  static const std::vector<std::string> dense{"log2 m", "log2 n", "log2 k", "warm"};
  static const std::vector<std::string> moe{
      "log2 tokens", "log2 hidden",  "log2 intermediate",           "log2 local experts",
      "log2 topk",   "log2 experts", "log2 rows per active expert", "warm"};
  static const std::vector<std::string> attention{"log2 sequences", "log2 context",  "log2 heads",
                                                  "log2 kv_heads",  "log2 head_dim", "warm"};
  static const std::vector<std::string> elementwise{"log2 x", "log2 bytes", "warm"};
  if (section == "dense_gemm") return dense;
  if (section == "moe") return moe;
  if (section == "attention_decode" || section == "mla_module") return attention;
  MOE_CHECK(section == "elementwise_and_state", "the section of a profile is known");
  return elementwise;
}

double axis(double size) { return size > 1 ? std::log2(size) : 0; }

}  // namespace moe
