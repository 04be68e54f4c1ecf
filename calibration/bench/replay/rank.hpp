// One rank of a replay: its memory and its launches.
//
//   Rank rank(program, 0);                       // current device; allocates and fills
//   for (const Rank::Step& s : rank.steps()) if (s.run) s.run(stream);
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/buffer.hpp"
#include "kernels/types.hpp"
#include "replay/program.hpp"

namespace moe::bench {

/// Why an op cannot be executed by the suite's kernels; empty: it can. Needs no device.
std::string refusal(const ReplayOp& op);
/// Of the weights that its kernel path multiplies. Throws Unsupported for a path that has none.
Format weight_format(const ReplayOp& op);

/// Activations go from kernel to kernel through two buffers that take turns, so that every kernel reads what the one
/// before it wrote, from L2 as in a decode step. Every weight and every cache has memory of its own.
class Rank {
 public:
  /// Throws Unsupported when the program needs more memory than the device has free, or a shape has no kernel.
  Rank(const ReplayProgram& program, int rank);

  using Run = std::function<void(cudaStream_t)>;
  /// An op of this rank, in order: a launch, or a collective from `in` to `out` that all ranks enter together.
  struct Step {
    const ReplayOp* op = nullptr;
    Run run;
    const void* in = nullptr;
    void* out = nullptr;
    bool is_collective() const { return out != nullptr; }
  };
  const std::vector<Step>& steps() const { return steps_; }
  std::size_t weight_bytes() const { return weight_bytes_; }
  std::size_t cache_bytes() const { return cache_bytes_; }

 private:
  Step prepare(const ReplayOp& op);
  Run dense(const ReplayOp& op);
  Run experts(const ReplayOp& op);
  Run attention(const ReplayOp& op);
  Run absorb(const ReplayOp& op);
  Run small(const ReplayOp& op);

  bf16* current() const { return activations_[0].as<bf16>(); }
  bf16* next() const { return activations_[1].as<bf16>(); }
  /// Result of the op at hand: what the next one reads.
  void turn() { std::swap(activations_[0], activations_[1]); }
  void* weights(const std::string& name, std::size_t bytes, Fill kind);
  void* cache(const std::string& name, std::size_t bytes);
  /// Scratch of ops of the same name and sizes, zero before its first use.
  void* scratch(const ReplayOp& op, std::size_t bytes);

  std::map<std::string, Buffer> weights_, caches_, scratch_;
  std::map<std::string, std::pair<bf16*, std::size_t>> cache_of_layer_;  ///< for the writes
  Buffer activations_[2], residual_, side_, norm_weight_, table_, integers_;
  std::vector<Buffer> kept_;
  std::vector<Step> steps_;
  std::size_t weight_bytes_ = 0, cache_bytes_ = 0;
  int ranks_ = 1;
};

}  // namespace moe::bench
