// What does a draw mean for each rank of an expert-parallel group? Rows to compute, tokens to send.
//
//   Router router(routing, shape, 64);
//   const ExpertMap map = place_experts(placement, 8, router.expected_load(layer));
//   router.start_step(0);
//   const RankLoads loads = router.draw(layer, std::vector<Source>(8, Source{8}), map);   // DP attention, 8 x 8 tokens
//   loads.tokens_between[0][3];   // tokens of rank 0 that rank 3 must receive
//
// Exact, from the choices of the very same draw. Held by tests/property/routing_ranks.cpp:
//   rows over all slots sum to (tokens + padding) topk; tokens_between over sources is tokens_here;
//   a token goes to at least one rank and to at most topk of them.
#pragma once
#include <cstdint>
#include <vector>

#include "workload/placement.hpp"

namespace moe {

/// Rows that start on one rank (attention data parallel: its own sequences). Rows of the batch belong to the sources in
/// order: source 0 has the first tokens.
struct Source {
  int tokens = 0;
  int padding = 0;  ///< dummy rows up to the captured graph
};

/// The experts that every row of a batch chose in one layer.
struct Choices {
  int topk = 0;
  int tokens = 0;                     ///< rows that route independently
  int padding = 0;                    ///< further rows that all choose what the last stored row chose
  std::vector<std::uint32_t> expert;  ///< topk per token, best first, then topk of the padding where there is any
  const std::uint32_t* of(int token) const {
    return expert.data() + static_cast<std::size_t>(token) * static_cast<std::size_t>(topk);
  }
};

struct RankLoads {
  std::vector<std::vector<int>> rows;            ///< [ep rank][slot of ExpertMap::held]
  std::vector<double> tokens_here;               ///< [ep rank]: tokens with at least one expert there
  std::vector<std::vector<int>> tokens_between;  ///< [source][ep rank]: tokens that go there, each once per rank
  int rows_of(int rank) const;                   ///< sum over the rank's slots
  int touched(int rank) const;                   ///< slots with at least one row
  int max_rows() const;                          ///< of the busiest rank
};

/// Rows of an expert with copies are dealt to them in turn, token after token.
RankLoads rank_loads(const Choices& choices, const std::vector<Source>& sources, const ExpertMap& map);

}  // namespace moe
