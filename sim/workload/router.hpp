// Which experts do the tokens of this step choose? Draws the process that workload/routing.hpp declares.
//
//   Router router(routing, {.experts = 384, .topk = 8}, 64);     // 64 tokens
//   router.start_step(0);
//   const std::vector<int>& rows = router.draw(3);               // rows per expert of layer 3; they sum to 64 x 8
//
// A draw is a function of seed, layer and step alone: asking twice, or for layers in another order, changes nothing,
// and every compiler draws the same. Which experts are popular is fixed per layer; what the sequences of the batch have
// in common, and the choices of each token, are fresh in every step, unless `temporal` keeps them.
// With `temporal` above 0 a new router that starts at step n replays steps 0 to n - 1 of each layer it is asked for:
// keep one router over the steps of a run.
//
// Cost: one random number per pick; 60 layers of 64 tokens, top-8 of 384, take some 0.3 ms (tests/bench/routing.cpp).
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "workload/picker.hpp"
#include "workload/piggyback.hpp"
#include "workload/popularity.hpp"
#include "workload/rank_loads.hpp"
#include "workload/routing.hpp"

namespace moe {

class Router {
 public:
  /// tokens: rows that route independently. padding: dummy rows of a captured graph, which all choose the same experts
  /// because they hold the same data. Throws InternalError for a shape that cannot give topk experts.
  Router(const Routing& routing, const RouterShape& shape, int tokens, int padding = 0);

  void start_step(int step) { step_ = step; }
  /// Rows per expert in a layer; sums to (tokens + padding) x topk. Valid until the next draw.
  const std::vector<int>& draw(int layer);
  /// The same draw by rank. sources: must sum to the router's tokens and padding.
  RankLoads draw(int layer, const std::vector<Source>& sources, const ExpertMap& map);
  /// The same draw by token. Valid until the next draw.
  const Choices& choices(int layer);
  /// Rows per token that each expert of a layer is expected to get, over many steps; sums to topk. For placement.
  std::vector<double> expected_load(int layer);

 private:
  /// What a layer keeps from step to step.
  struct Layer {
    std::vector<std::uint32_t> popular;  ///< [rank of popularity]: expert; the same in every step
    std::vector<std::uint32_t> common;   ///< [rank of the common factor]: expert, of `step`
    std::vector<std::uint32_t> own;      ///< temporal: the choices of `step`, before oea_keep
    AliasTable table;                    ///< by expert: recorded, or popularity x common factor of `step`
    int step = -1;
  };

  bool is_trace() const { return routing_.kind == Routing::Kind::trace; }
  bool is_similar() const { return routing_.similarity > 0 && !hash_routed_ && !is_trace(); }
  std::size_t stored_rows() const { return static_cast<std::size_t>(tokens_ + (padding_ > 0 ? 1 : 0)); }
  std::uint32_t* row(std::size_t i) { return &choices_.expert[i * static_cast<std::size_t>(choices_.topk)]; }
  Random random(int layer, int step, std::uint64_t purpose) const;
  Layer& layer_at(int number);
  std::vector<double> recorded_weights(int number) const;
  void renew_common(Layer& l, Random& random, bool all);
  void use_popularity(Layer& l, int number);
  void choose(int number);
  void advance(Layer& l, int number, int step);
  void keep_some(Random& random);
  void choose_by_token_id(Random& random);
  void replay_trace(int number);
  void follow(Random& random);

  Routing routing_;
  bool hash_routed_;
  int tokens_, padding_;
  int step_ = 0;
  int drawn_layer_ = -1, drawn_step_ = -1;
  Picker picker_;
  Piggyback piggyback_;
  std::map<int, Layer> layers_;
  std::vector<std::uint32_t> identity_;
  std::vector<double> factor_;         ///< common factors by rank
  AliasTable ranked_;                  ///< power law by rank; without one, common factors by rank
  Choices choices_;
  std::vector<char> refreshed_;        ///< [expert]: its common factor changed in this step
  std::vector<int> rows_;
};

}  // namespace moe
