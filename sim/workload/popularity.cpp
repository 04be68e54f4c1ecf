#include "workload/popularity.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace moe {
namespace {

double middle(std::size_t i, std::size_t n) { return (static_cast<double>(i) + 0.5) / static_cast<double>(n); }

/// Inverse of the standard normal distribution: Abramowitz and Stegun 26.2.23, then Newton's method on erfc.
double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  const double t = std::sqrt(-2 * std::log(p));
  double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int i = 0; i < 2; ++i) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    x -= (0.5 * std::erfc(-x / std::numbers::sqrt2) - p) / density;
  }
  return x;
}

/// Quantile of p(x) ~ x^-alpha on [lo, hi].
double power_law_quantile(double u, double alpha, double lo, double hi) {
  if (std::abs(alpha - 1) < 1e-9) return lo * std::pow(hi / lo, u);
  const double a = 1 - alpha;
  return std::pow((std::pow(hi, a) - std::pow(lo, a)) * u + std::pow(lo, a), 1 / a);
}

}  // namespace

std::vector<double> power_law_weights(int experts, double alpha) {
  constexpr double kMost = 200;
  std::vector<double> weight(static_cast<std::size_t>(experts));
  for (std::size_t i = 0; i < weight.size(); ++i)
    weight[i] = power_law_quantile(middle(i, weight.size()), alpha, 1, kMost);
  return weight;
}

std::vector<double> common_factors(int experts, double similarity) {
  std::vector<double> factor(static_cast<std::size_t>(experts), 1.0);
  if (similarity <= 0) return factor;
  const double sigma = std::sqrt(similarity / (1 - similarity)) * std::numbers::pi / std::sqrt(6.0);
  for (std::size_t i = 0; i < factor.size(); ++i)
    factor[i] = std::exp(sigma * normal_quantile(middle(i, factor.size())));
  return factor;
}

std::vector<double> weights_of_counts(const std::vector<double>& count, int topk) {
  const double sum = std::accumulate(count.begin(), count.end(), 0.0);
  std::vector<double> weight(count.size());
  for (std::size_t i = 0; i < count.size(); ++i)
    weight[i] = -std::log1p(-std::min(0.999, count[i] * topk / sum));
  return weight;
}

std::vector<double> chosen_share(const std::vector<double>& weight, int topk) {
  const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
  auto share = [&](double w, double t) { return -std::expm1(-w * t); };
  double lo = 0, hi = topk / sum;
  auto total = [&](double t) {
    return std::accumulate(weight.begin(), weight.end(), 0.0, [&](double s, double w) { return s + share(w, t); });
  };
  while (total(hi) < topk && hi * sum < 1e9) hi *= 2;
  for (int i = 0; i < 50; ++i) {
    const double mid = (lo + hi) / 2;
    (total(mid) < topk ? lo : hi) = mid;
  }
  std::vector<double> out(weight.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = share(weight[i], hi);
  return out;
}

AliasTable::AliasTable(std::vector<double> weight) : cell_(weight.size()), weight_(std::move(weight)) {
  const std::size_t n = weight_.size();
  const double scale = static_cast<double>(n) / std::accumulate(weight_.begin(), weight_.end(), 0.0);
  std::vector<double> left(n);             // of each weight, in units of the mean
  std::vector<std::uint32_t> stack(n + 1); // small ones from the front, large ones from the back
  std::size_t small = 0, large = n;
  for (std::uint32_t i = 0; i < n; ++i) {
    left[i] = weight_[i] * scale;
    const bool is_small = left[i] < 1;
    stack[is_small ? small : large] = i;
    small += is_small ? 1 : 0;
    large -= is_small ? 0 : 1;
  }
  while (small > 0 && large < n) {
    const std::uint32_t s = stack[--small], l = stack[large + 1];
    cell_[s] = {static_cast<std::uint32_t>(left[s] * 4294967295.0), l};
    left[l] -= 1 - left[s];
    if (left[l] >= 1) continue;
    ++large;
    stack[small++] = l;
  }
}

}  // namespace moe
