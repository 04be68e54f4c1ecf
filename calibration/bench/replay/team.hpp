// The ranks of a program at work together.
//
//   Team team(program);
//   GroupGraph graph(team.gpus(), [&] { team.enqueue(everything); });
//   std::vector<double> us = team.replay(graph, 40);
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "comm/collectives.hpp"
#include "comm/group_graph.hpp"
#include "replay/rank.hpp"

namespace moe::bench {

class Team {
 public:
  /// Memory, weights and launches of all ranks; rank r is CUDA device r, and they meet in NCCL. Throws Unsupported.
  explicit Team(const ReplayProgram& program);
  /// Rank r on devices[r], meeting in our own one-shot all-reduce: devices may be the same, to check a team on one GPU.
  Team(const ReplayProgram& program, const std::vector<int>& devices);

  using Filter = std::function<bool(const ReplayOp&)>;
  /// Puts the ops that the filter takes on every rank's stream, in order; the ranks meet in their collectives.
  void enqueue(const Filter& filter);
  const GpuGroup& gpus() const { return gpus_; }
  const Rank& rank(int r) const { return *ranks_[static_cast<std::size_t>(r)]; }

  /// Microseconds of each of `times` replays, launched back to back: from event to event, slowest rank.
  std::vector<double> replay(const GroupGraph& graph, int times) const;

 private:
  void prepare(const ReplayProgram& program);
  void meet(const std::vector<const Rank::Step*>& all);
  GpuGroup gpus_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::unique_ptr<Collectives> collectives_;  ///< or
  std::unique_ptr<OwnAllReduce> own_;
};

}  // namespace moe::bench
