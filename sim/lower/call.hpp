// What does a kernel run on? Enough of a call to execute it on a real GPU: `moe-sim run --emit-program` (docs/replay.md).
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"

namespace moe {

/// Sizes by name (docs/replay.md, "Op classes"). Counts, and bytes where the name says so.
using CallSizes = std::vector<std::pair<const char*, double>>;

/// The part of a call that is the same in every layer of a kind.
struct CallShape {
  std::string op_class;          ///< op class of the stack (dense, experts, gqa, ...) or collective; "": not a kernel
  std::string format;            ///< number format of the weights, or of the cache
  CallSizes sizes;
};

/// One kernel, or one collective on one rank.
struct Call {
  std::vector<OpId> ops;         ///< of the program: routed experts take four, everything else one
  int rank = 0, layer = -1;
  std::string name, path, stream;
  CallShape shape;
  std::vector<int> group;        ///< collectives: GPUs that take part, in ring order
  std::vector<int> rows;         ///< routed experts: rows of every expert on this rank
  double dram_bytes = 0;         ///< weights and cache that are read from DRAM
};

}  // namespace moe
