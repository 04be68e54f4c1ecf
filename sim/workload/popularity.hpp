// How popular is each expert, and how is one drawn quickly?
//
// Popularities are weights by rank (rank 0 is not special); the router decides which expert holds which rank.
//
//   AliasTable table(power_law_weights(384, 8, 64, 1.2));
//   Random random(1);
//   std::uint32_t rank = table.pick(random.next());     // one random number per pick
#pragma once
#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace moe {

/// Quantiles (i + 1/2)/E of p(x) ~ x^-alpha on [1, 200], the range of AIConfigurator's MoE collector (commit 095f58a5) for
/// few tokens. The collector narrows it to 0.8 x tokens in larger batches, because it draws rows per expert, not
/// popularities; which experts a model prefers does not depend on how many sequences ask.
std::vector<double> power_law_weights(int experts, double alpha);

/// What the sequences of a batch have in common: factors exp(sigma z) with z the normal quantiles (i + 1/2)/E.
///
///   sigma^2 = s / (1 - s) pi^2/6      pi^2/6: variance of the Gumbel noise of one token's score
///
/// so that s is the correlation of two tokens' scores. s = 0: all 1.
std::vector<double> common_factors(int experts, double similarity);

/// Weights whose top-k draws without replacement choose each expert as often as recorded.
///
///   P(chosen) = count topk / sum(count);  weight = -ln(1 - P)    (successive sampling, Rosen 1972)
///
/// P is capped at 0.999. Exact as the number of experts grows; within 2 % for 64 experts (tests/property/routing.cpp).
std::vector<double> weights_of_counts(const std::vector<double>& count, int topk);

/// The inverse: probability that a token chooses each expert, by the same approximation; sums to topk.
std::vector<double> chosen_share(const std::vector<double>& weight, int topk);

/// Walker's alias method (Electronics Letters 10, 1974): a pick in proportion to weights in constant time.
class AliasTable {
 public:
  AliasTable() = default;
  explicit AliasTable(std::vector<double> weight);
  /// Upper half of the bits: where; lower half: stay there or go to the other.
  std::uint32_t pick(std::uint64_t bits) const {
    const auto at = static_cast<std::uint32_t>(((bits >> 32) * cell_.size()) >> 32);
    const Cell& cell = cell_[at];
    const std::uint32_t leave = 0u - static_cast<std::uint32_t>(static_cast<std::uint32_t>(bits) > cell.accept);
    return at ^ ((at ^ cell.other) & leave);  // no branch: half of them would be mispredicted
  }
  bool empty() const { return cell_.empty(); }
  double weight(std::size_t rank) const { return weight_[rank]; }
  const std::vector<double>& weights() const { return weight_; }

 private:
  struct Cell {
    std::uint32_t accept = 0xffffffffu;  ///< of 2^32
    std::uint32_t other = 0;
  };
  std::vector<Cell> cell_;
  std::vector<double> weight_;
};

/// Fisher-Yates with our own generator.
template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[random.below(static_cast<std::uint32_t>(i))]);
}

}  // namespace moe
