// Which rank holds which expert? Expert parallelism with whole experts, and the copies of the busy ones.
//
//   contiguous   rank r of R holds experts r E/R ... (r + 1) E/R - 1; replicas are not used
//   balanced     by expected load, in the manner of DeepSeek's EPLB (2025): every replica goes to the expert with the
//                most rows per copy; then the copies, busiest first, each to the least loaded rank that has a free
//                slot and does not hold the expert yet
//
// Example: 384 experts on 8 ranks, 16 replicas: 50 slots per rank. The expected load is the persistent popularity
// (Router::expected_load), never the draw of a step: an engine places experts long before it sees a batch.
#pragma once
#include <vector>

namespace moe {

/// The declaration: `placement:` of an experiment.
struct Placement {
  enum class Kind { contiguous, balanced } kind = Kind::contiguous;
  int replicas = 0;  ///< balanced: extra expert slots in total, over all ranks
};

/// Where one copy of an expert is.
struct ExpertSlot {
  int rank = 0;
  int slot = 0;
};

/// One layer's experts on its ranks.
struct ExpertMap {
  std::vector<std::vector<int>> held;             ///< [rank][slot]: expert
  std::vector<std::vector<ExpertSlot>> copies;    ///< [expert]: at least one
  int ranks() const { return static_cast<int>(held.size()); }
};

/// `load`: expected rows per expert, any unit. Ranks differ by at most one slot; an expert has at most one copy per
/// rank, so that replicas beyond experts x (ranks - 1) are not placed.
ExpertMap place_experts(const Placement& placement, int ranks, const std::vector<double>& load);

}  // namespace moe
