// How long does a collective take when nothing else touches its links? Closed forms of comm.md section 3.
// Times in microseconds. `bytes` has the nccl-tests meaning: all_reduce the buffer; all_gather the total received;
// reduce_scatter the total sent; all_to_all the per-rank buffer.
#pragma once
#include <string>
#include <vector>

#include "cost/profile.hpp"
#include "machine/machine.hpp"

namespace moe {

enum class CollectiveOp { all_reduce, all_gather, reduce_scatter, all_to_all };
enum class Protocol { ll, ll128, simple };

/// How neighbours in the ring talk: direct PCIe, over NVLink, or bouncing through host memory (shm; shm_x: across
/// sockets).
enum class Transport { nvlink, p2p, shm, shm_x };
std::string_view name_of(Transport t);
std::string_view name_of(Protocol p);
std::string_view name_of(CollectiveOp op);

/// A group of GPUs as NCCL sees it on a machine.
struct Communicator {
  std::vector<int> gpus;            ///< machine GPU numbers, in ring order
  std::vector<Transport> hops;      ///< hops[i]: from gpus[i] to gpus[i+1]
  int channels = 2;
  double graph_GBps = 0;
  int ranks() const { return static_cast<int>(gpus.size()); }
};
/// Applies the NCCL level rules (comm.md 3) to a machine.
Communicator communicator(const Machine& machine, const Routes& routes, const std::vector<int>& gpus);

/// How a stack runs a collective: NCCL ring, or its own one-shot / two-shot kernel up to a size.
struct CollectivePolicy {
  std::vector<Protocol> protocols{Protocol::ll, Protocol::simple};  ///< that NCCL may choose from
  bool custom = false;              ///< the stack has its own all-reduce kernel
  bool two_shot_above = false;      ///< custom kernel switches to two-shot above two_shot_bytes
  double two_shot_bytes = 0;
  double custom_max_bytes = 0;      ///< up to here custom, above NCCL
  int custom_ignore_cutoff_rows = 0;  ///< custom also when the batch has at most this many rows; 0: no
  double one_shot_t0_us = 0, one_shot_GBps = 0;  ///< T = t0 + (n-1) S/R
  double two_shot_extra_us = 0;
  bool best_of_both = false;        ///< takes the faster of custom and NCCL
  double launch_floor_us = 0;       ///< host launch floor; 0 in CUDA graphs
};

/// The answer with its reason.
struct CollectiveCost {
  double time_us = 0;
  std::string implementation;       ///< "ring LL", "ring Simple", "one-shot", ...
  std::string reason;               ///< why this one, in one sentence
  double wire_bytes_per_hop = 0;    ///< sent by each rank over its hop, protocol overhead included
  double spread = 0;                ///< standard deviation of ln(measured/predicted)
  bool in_range = true;
};

CollectiveCost collective(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes,
                          const CollectivePolicy& policy, int rows = 0);

}  // namespace moe
