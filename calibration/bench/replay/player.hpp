// Plays a program: a CUDA graph of the whole step on every GPU, replayed back to back.
#pragma once
#include <string>
#include <vector>

#include "replay/program.hpp"

namespace moe::bench {

struct PlayOptions {
  int replays = 40;                 ///< of the whole step, at most
  bool attribute = true;            ///< also times every group of ops alone
  bool in_step = false;             ///< and the step without it: long
};

/// Ops of one name: the same kernel in every layer.
struct GroupTime {
  std::string name, category, op_class, path;
  int calls = 0;                    ///< per rank
  double simulated_us = 0;          ///< sum over the calls of rank 0
  double alone_us = 0;              ///< a graph of these ops only, less what a graph costs by itself
  double in_step_us = 0;            ///< the step less the step without them; 0: not measured
};

struct Played {
  int replays = 0;
  double median_us = 0, low_us = 0, high_us = 0;  ///< step; 5 % and 95 % of the replays, slowest rank
  double sustained_us = 0;          ///< the same without pauses, after a quarter of a second: the power limit may hold it back
  unsigned sm_mhz = 0, sustained_sm_mhz = 0;
  std::string throttle;             ///< at the end of the sustained replays
  double empty_graph_us = 0;        ///< a graph of one kernel that does nothing: what a replay costs by itself
  std::vector<GroupTime> groups;    ///< in the order of first use
  double weight_bytes = 0, cache_bytes = 0;       ///< rank 0
};

/// Reasons why the program cannot be played, each with the number of ops it holds for; empty: it can.
std::vector<std::string> refusals(const ReplayProgram& program);

/// Throws Unsupported (no memory, no kernel) and BenchError.
Played play(const ReplayProgram& program, const PlayOptions& options);

}  // namespace moe::bench
