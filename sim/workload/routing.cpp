#include "workload/routing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/check.hpp"

namespace moe {
namespace {

/// Fisher-Yates with our own generator.
void shuffle(std::vector<double>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[random.below(static_cast<std::uint32_t>(i))]);
}

/// Inverse of the standard normal distribution by bisection of erfc; called a few hundred times per router.
double normal_quantile(double p) {
  double lo = -9, hi = 9;
  for (int i = 0; i < 60; ++i) {
    const double mid = (lo + hi) / 2;
    (0.5 * std::erfc(-mid / std::numbers::sqrt2) < p ? lo : hi) = mid;
  }
  return (lo + hi) / 2;
}

/// Quantile of p(x) ~ x^-alpha on [lo, hi].
double power_law_quantile(double u, double alpha, double lo, double hi) {
  if (std::abs(alpha - 1) < 1e-9) return lo * std::pow(hi / lo, u);
  const double a = 1 - alpha;
  return std::pow((std::pow(hi, a) - std::pow(lo, a)) * u + std::pow(lo, a), 1 / a);
}

}  // namespace

std::vector<double> popularity(const Routing& routing, int experts, int topk, int tokens, Random& random) {
  const auto n = static_cast<std::size_t>(experts);
  std::vector<double> weight(n, 1.0);
  auto middle = [&](std::size_t i) { return (static_cast<double>(i) + 0.5) / static_cast<double>(n); };
  if (routing.kind == Routing::Kind::power_law) {
    const double ratio = static_cast<double>(tokens) * topk > experts ? std::max(1.0, 0.8 * tokens) : 200.0;
    for (std::size_t i = 0; i < n; ++i) weight[i] = power_law_quantile(middle(i), routing.alpha, 1, ratio);
  }
  if (routing.similarity > 0) {
    const double s = routing.similarity;
    const double sigma = std::sqrt(s / (1 - s)) * std::numbers::pi / std::sqrt(6.0);
    std::vector<double> common(n);
    for (std::size_t i = 0; i < n; ++i) common[i] = std::exp(sigma * normal_quantile(middle(i)));
    shuffle(common, random);
    for (std::size_t i = 0; i < n; ++i) weight[i] *= common[i];
  }
  return weight;
}

Router::Router(const Routing& routing, int experts, int topk, int tokens, int padding)
    : random_(routing.seed), topk_(topk), tokens_(tokens), padding_(padding),
      expert_(static_cast<std::size_t>(experts)), rows_(static_cast<std::size_t>(experts)),
      chosen_(static_cast<std::size_t>(topk)),
      uniform_(routing.kind == Routing::Kind::uniform && routing.similarity <= 0) {
  MOE_CHECK(experts > 0 && topk > 0 && topk <= experts && tokens >= 0, "a router needs 0 < topk <= experts");
  std::iota(expert_.begin(), expert_.end(), 0u);
  if (uniform_) return;
  std::vector<double> weight = popularity(routing, experts, topk, tokens, random_);
  // Walker's alias method (1977): O(1) per draw.
  const double mean = std::accumulate(weight.begin(), weight.end(), 0.0) / static_cast<double>(weight.size());
  accept_.assign(weight.size(), 0xffffffffu);
  other_.assign(weight.size(), 0);
  std::vector<std::uint32_t> small, large;
  for (std::uint32_t i = 0; i < weight.size(); ++i) {
    weight[i] /= mean;
    (weight[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t s = small.back(), l = large.back();
    small.pop_back();
    accept_[s] = static_cast<std::uint32_t>(weight[s] * 4294967295.0);
    other_[s] = l;
    weight[l] -= 1 - weight[s];
    if (weight[l] < 1) {
      large.pop_back();
      small.push_back(l);
    }
  }
}

std::uint32_t Router::pick() {
  const std::uint64_t bits = random_.next();  // high half: the rank, low half: keep it or not
  const auto rank = static_cast<std::uint32_t>(((bits >> 32) * rows_.size()) >> 32);
  if (uniform_ || static_cast<std::uint32_t>(bits) <= accept_[rank]) return rank;
  return other_[rank];
}

void Router::pick_token(int copies) {
  const auto k = static_cast<std::size_t>(topk_);
  for (std::size_t i = 0; i < k; ++i) {
    std::uint32_t rank = pick();
    // Very skewed popularity: after many repeats take the next free rank instead of drawing for ever.
    for (int tries = 0; std::find(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(i), rank) !=
                        chosen_.begin() + static_cast<std::ptrdiff_t>(i);
         ++tries)
      rank = tries < 64 ? pick() : (rank + 1) % static_cast<std::uint32_t>(rows_.size());
    chosen_[i] = rank;
    rows_[expert_[rank]] += copies;
  }
}

const std::vector<int>& Router::draw() {
  std::fill(rows_.begin(), rows_.end(), 0);
  if (!uniform_)  // another layer, other popular experts
    for (std::size_t i = expert_.size(); i > 1; --i)
      std::swap(expert_[i - 1], expert_[random_.below(static_cast<std::uint32_t>(i))]);
  for (int t = 0; t < tokens_; ++t) pick_token(1);
  if (padding_ > 0) pick_token(padding_);
  return rows_;
}

}  // namespace moe
