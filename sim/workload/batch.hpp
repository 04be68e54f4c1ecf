// What is in the running batch? One decode step serves `sequences` sequences, each with tokens already cached.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

namespace moe {

struct Batch {
  int sequences = 1;
  /// Cached tokens before the step: one value for all, or one per sequence.
  std::vector<double> context{0};
  /// Tokens still to be written, one value or one per sequence; empty: not asked. Then the batch is not refilled.
  std::vector<double> remaining;
  /// First tokens that all sequences have in common and the engine keeps once (prefix caching).
  double shared_prefix = 0;

  double remaining_of(int sequence) const {
    return remaining.size() == 1 ? remaining[0] : remaining[static_cast<std::size_t>(sequence)];
  }
  double context_of(int sequence) const {
    return context.size() == 1 ? context[0] : context[static_cast<std::size_t>(sequence)];
  }
  double mean_context() const {
    return std::accumulate(context.begin(), context.end(), 0.0) / static_cast<double>(context.size());
  }
  double max_context() const { return *std::max_element(context.begin(), context.end()); }
  double total_context() const {
    return context.size() == 1 ? context[0] * sequences : std::accumulate(context.begin(), context.end(), 0.0);
  }
  /// Mean over sequences of min(context, limit): what a window or a sparse attention reads.
  double mean_capped(double limit) const {
    double sum = 0;
    for (const double c : context) sum += std::min(c, limit);
    return sum / static_cast<double>(context.size());
  }
};

}  // namespace moe
