// How does a plan become a program? Every kernel of every layer on every rank, as an op with its dependencies.
//
//   Lowered l = lower_step(c, {});               // c: an experiment with everything it names
//   Timeline t = run(l.program, l.resources, Sharing::max_min);
//
// The kernels of a layer follow its decode GEMM list: what tensor parallelism divides is divided, what every rank
// repeats (MLA down-projections, indexer, router, latent KV) is repeated. A kernel path says what its time contains;
// that is never charged again (profile: `includes`).
#pragma once
#include <array>
#include <string>
#include <vector>

#include "cost/compute.hpp"
#include "experiment/experiment.hpp"
#include "lower/call.hpp"
#include "program/program.hpp"

namespace moe {

/// One thing faster than it is: what-ifs. All 1: nothing changed.
struct Tweaks {
  std::array<double, kCategoryNames.size()> faster;  ///< by category: durations are divided by this
  double memory = 1;                                 ///< DRAM bandwidth of the GPU
  double links = 1;                                  ///< bandwidths of links and transports, not latencies
  Tweaks() { faster.fill(1); }
};

struct LowerOptions {
  bool fold = true;        ///< identical ranks as one; same timeline (tests/property/folding.cpp)
  int step = 0;            ///< which draw of the routing
  bool alone = false;      ///< collectives as if no other group used the links
  bool record = false;     ///< fill Lowered::calls
  Tweaks tweaks;
};

/// What the report wants to know about an op and the engine does not.
struct OpFacts {
  double flop = 0;          ///< useful work
  double dram_bytes = 0;    ///< read or written beyond L2
  ComputeType compute = ComputeType::bf16;
  bool replicated = false;  ///< every rank does the same work on the same data
};

/// One kernel path or collective of the step: how often, how long, and how good its fit is.
struct PathUse {
  std::string path;
  int calls = 0;            ///< per rank
  double time_us = 0;       ///< per rank, sum
  double spread = 0;        ///< standard deviation of ln(measured/predicted)
  int outside = 0;          ///< calls outside the fitted range
  std::string reason;       ///< collectives: why this implementation
};

struct Lowered {
  Program program;
  Resources resources;
  Table<OpId, OpFacts> facts;
  std::vector<PathUse> paths;
  std::vector<double> link_bytes;   ///< by machine link: carried by collectives in closed form
  int ranks = 1;
  bool folded = true;
  int rows = 0;                     ///< rows after padding to a captured graph
  GraphMode graph = GraphMode::full;
  OpId first_op{0};                 ///< first op of the round that is measured; earlier ops fill a pipeline
  std::vector<OpId> before;         ///< last ops of the round before it; its end starts the clock
  std::vector<int> stage_of_rank;   ///< pipeline stage of every played rank
  int micro_batches = 1;
  double shared_us = 0;             ///< lost by collectives of different groups that run at once on shared links
  double active_experts = 0;        ///< mean over MoE layers of experts touched on a rank
  std::vector<Call> calls;          ///< in the order of launching on each rank; only when asked for
  std::vector<std::string> warnings;
};

/// Lowers one decode step of a loaded case. Throws InputError when the stack or profile lacks a kernel that the model
/// needs.
Lowered lower_step(const Case& c, const LowerOptions& options);

}  // namespace moe
