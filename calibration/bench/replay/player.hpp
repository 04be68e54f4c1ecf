// Plays a program: a CUDA graph of the whole step on every GPU, replayed back to back.
#pragma once
#include <string>
#include <vector>

#include "replay/program.hpp"

namespace moe::bench {

struct PlayOptions {
  int replays = 40;                 ///< of the whole step
  double warm_ms = 150;             ///< replays before the clock runs: until the clocks have settled
  bool attribute = true;            ///< also times every group of ops, alone and by leaving it out
  int part_replays = 8;             ///< of one graph of the attribution
};

/// Ops of one name: the same kernel in every layer.
struct GroupTime {
  std::string name, category, op_class, path;
  int calls = 0;                    ///< per rank
  double simulated_us = 0;          ///< sum over the calls of rank 0
  double alone_us = 0;              ///< a graph of these ops only
  double in_step_us = 0;            ///< the step less the step without them
};

struct Played {
  std::vector<double> step_us;      ///< of every replay, slowest rank
  double median_us = 0, low_us = 0, high_us = 0;  ///< 5 % and 95 % of the replays
  std::vector<GroupTime> groups;    ///< in the order of first use
  double empty_graph_us = 0;        ///< a graph of one kernel that does nothing: what a replay costs by itself
  double weight_bytes = 0, cache_bytes = 0;       ///< rank 0
  unsigned sm_mhz_before = 0, sm_mhz_after = 0;
  std::string throttle;
};

/// Reasons why the program cannot be played, each with the number of ops it holds for; empty: it can.
std::vector<std::string> refusals(const ReplayProgram& program);

/// Throws Unsupported (no memory, no kernel) and BenchError.
Played play(const ReplayProgram& program, const PlayOptions& options);

}  // namespace moe::bench
