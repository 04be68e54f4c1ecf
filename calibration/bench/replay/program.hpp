// What is to be executed? The program file of `moe-sim run --emit-program` (docs/replay.md), read without any knowledge
// of models: ops with sizes, in the order of launching on each rank.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace moe::bench {

struct ReplayOp {
  int id = 0, rank = 0, layer = -1;
  std::string name, category, op_class, format, path, stream;
  std::string weights, cache;       ///< names: ops with the same name work on the same memory
  std::map<std::string, double> sizes;
  std::vector<int> group;           ///< collectives: GPUs that take part
  std::vector<int> rows;            ///< routed experts: rows of every expert of this rank
  double simulated_us = 0;

  bool has(const std::string& size) const { return sizes.contains(size); }
  /// Whole number; throws Unsupported where the program has none.
  int whole(const std::string& size) const;
  double bytes() const;
};

struct ReplayProgram {
  std::string file, name, hash;
  std::string origin;               ///< JSON of the experiment's file and overrides, handed on to the results
  std::string model, checkpoint, stack;
  int layers = 0, ranks = 1;
  bool first_rank_alone = false;    ///< only the kernels of rank 0 are left
  double simulated_step_us = 0;
  std::vector<ReplayOp> ops;
};

/// Throws BenchError that names the file and what is wrong with it.
ReplayProgram load_program(const std::string& file);

/// What rank 0 computes, without its collectives: a program of several GPUs as far as one GPU can execute it.
ReplayProgram first_rank_of(ReplayProgram program);

}  // namespace moe::bench
