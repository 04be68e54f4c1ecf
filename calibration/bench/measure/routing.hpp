// How tokens choose experts: the rule of the collector of NVIDIA AIConfigurator (Apache-2.0, commit 095f58a5), by which
// `moe-sim fit` knows what a row multiplied (sim/fit/routing_statistics.hpp in the simulator says it too).
#pragma once
#include <random>
#include <vector>

namespace moe::bench {

struct RoutingRule {
  int tokens = 0, experts = 0, topk = 0, ep = 1;
  double alpha = 0;  ///< of a power law x^-alpha; 0: balanced
};

/// Experts of every token, [tokens][topk], all different. Rank 0 is the most loaded one. Experts of one rank are
/// shuffled, so that several draws do not touch the same ones.
std::vector<int> choices(const RoutingRule& rule, std::mt19937_64& random);

}  // namespace moe::bench
