// How do items become ops of ranks? The writer keeps, for every rank, the op that the next kernel has to wait for.
//
// Streams of a rank: main, aux (shared experts beside routed ones) and host (launches and gaps). A collective starts
// on all ranks when the last one arrives. Folded: all ranks do the same, so one stands for all of them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "lower/recipe.hpp"
#include "program/builder.hpp"

namespace moe {

class Writer {
 public:
  Writer(const Case& c, const GpuSpec& gpu, const LowerOptions& options);

  /// One item of a recipe on every rank.
  void write(const Item& item, int layer);
  /// Host work of `us` that ends before the next kernel may start (eager launch).
  void host_launch(const char* name, double us, int layer);
  /// Time of the host after the last kernel, before the next step.
  void host_gap(double us);
  /// Time that the bytes of the kernels on the second stream take, since the last call. Both streams read the same
  /// DRAM, so the main stream's kernels that run beside them last longer by it.
  double take_aux_memory_us();
  Lowered finish();

 private:
  struct Rank {
    OpId main = kNoOp, aux = kNoOp, host = kNoOp;
    bool host_pending = false;  ///< the next kernel waits for `host`
  };
  enum Stream { kMain, kAux, kHost };
  void kernel(const Item& item, int layer);
  void collective(const Item& item, int layer);
  void append(int rank, Stream stream, const Item& item, Time duration, int layer);
  void join_aux();
  PathUse& use(const std::string& path);
  std::uint16_t name_of_item(const std::string& name);
  ServerId server(int rank, Stream stream) const { return static_cast<ServerId>(rank * 3 + stream); }
  double speed(int rank) const;

  const Case& case_;
  const GpuSpec& gpu_;
  LowerOptions options_;
  CommCost comm_cost_;
  Communicator comm_;
  CollectivePolicy policy_;
  Builder builder_;
  std::vector<Rank> ranks_;
  std::vector<OpFacts> facts_;
  std::map<std::string, PathUse> uses_;
  std::map<std::pair<int, double>, CollectiveCost> collectives_;  ///< by op and bytes: a step repeats few sizes
  std::vector<double> link_bytes_;
  double aux_memory_us_ = 0;
};

}  // namespace moe
