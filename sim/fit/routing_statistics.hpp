// What did a MoE benchmark row multiply? Its table names the distribution, not the counts; this redraws them
// as the collector of NVIDIA AIConfigurator (Apache-2.0, commit 095f58a5) does and keeps what the cost needs,
// on average.
//
//   balanced     token t takes experts (t + j stride) mod E, stride = ceil(E/k); with fewer tokens than that,
//   spread power_law_a  popularities by inverse CDF of x^-a on [1, 0.8 B] (B k <= E: [0.01, 2]), scaled to B
//   k rows, rounded,
//                clamped at B per expert, the difference handed out; the rank with most rows becomes rank 0
//
// The timed GPU is rank 0, the most loaded one. 20 draws are averaged, in groups of 5 for the union: the
// benchmark runs 5 draws on one set of weights. Example: 64 tokens, top-8 of 384, balanced, ep 1: 384 active,
// 512 rows.
#pragma once
#include "cost/compute.hpp"

namespace moe {

struct RoutingKey {
  double alpha = 0;  ///< 0: balanced
  int tokens = 0, experts = 0, topk = 0, ep = 1;
  auto operator<=>(const RoutingKey&) const = default;
};

struct RoutingStatistics {
  ExpertLoad load;
  double clamped_tiles[6] = {};  ///< when rows of remote experts are folded onto local expert 0
  double union5 = 0;             ///< experts touched by 5 consecutive draws
};

/// Same key, same numbers, on every compiler. Tested: tests/unit/routing_statistics.cpp.
RoutingStatistics routing_statistics(const RoutingKey& key);

}  // namespace moe
