// How long does a collective take when nothing else touches its links? Closed forms of NCCL's rings, of grouped
// send/receive, and of the engines' own one-shot kernels. Times in microseconds. `bytes` has the nccl-tests meaning:
// all_reduce the buffer; all_gather the total received; reduce_scatter the total sent; all_to_all the per-rank buffer.
//
// Example: 8 GPUs bouncing through host memory, all-reduce of 4096 B: NCCL expects LL at 20.8 us and Simple at 88.3 us,
// takes LL, shrinks it to 1 channel of 64 threads, and 14 steps of 1.49 us plus launch give 25.6 us.
//   communicator(machine, routes, {0,1,2,3,4,5,6,7})  ->  hops shm x6, shm_x x2; 2 channels; 20 GB/s believed
//   collective(profile.comm, comm, CollectiveOp::all_reduce, 4096, {}).time_us  ->  25.6
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cost/profile.hpp"
#include "machine/machine.hpp"

namespace moe {

enum class CollectiveOp { all_reduce, all_gather, reduce_scatter, all_to_all };
enum class Protocol { ll, ll128, simple };

/// How neighbours in the ring talk, from the least to the most expensive. nvlink, p2p: direct NVLink or PCIe in a ring;
/// nvlink_pair, p2p_pair: the same in a communicator of two; p2p_x: direct PCIe across sockets; shm: bouncing through
/// host memory; shm_x: that across sockets; net: to another server.
enum class Transport { nvlink, nvlink_pair, p2p, p2p_pair, p2p_x, shm, shm_x, net };
std::string_view name_of(Transport t);
std::string_view name_of(Protocol p);
std::string_view name_of(CollectiveOp op);

/// A group of GPUs as NCCL sees it on a machine.
struct Communicator {
  std::vector<int> gpus;            ///< machine GPU numbers, in ring order
  std::vector<Transport> hops;      ///< hops[i]: from gpus[i] to gpus[i+1]
  std::vector<double> hop_latency_us;  ///< of the links of each hop's route, without the ends
  int channels = 2;
  double graph_GBps = 0;
  double share_GBps = 0;            ///< smallest share of a link when all hops send at once; 0: no limit
  int ranks() const { return static_cast<int>(gpus.size()); }
};
/// Applies NCCL's level rules to a machine: a hop is direct when its path is at most machine.p2p_level, or when there
/// are two GPUs and the machine lets a pair talk anywhere; else it bounces through host memory.
/// Throws Infeasible("route") when two neighbours are not connected.
Communicator communicator(const Machine& machine, const Routes& routes, const std::vector<int>& gpus);

/// How a stack runs a collective: NCCL ring, or its own one-shot / two-shot kernel up to a size.
struct CollectivePolicy {
  /// That NCCL may choose from; empty: its default, LL and Simple, and LL128 where every hop is NVLink.
  std::vector<Protocol> protocols;
  bool custom = false;              ///< the stack has its own all-reduce kernel
  bool two_shot_above = false;      ///< custom kernel switches to two-shot above two_shot_bytes
  double two_shot_bytes = 0;
  double custom_max_bytes = 0;      ///< up to here custom, above NCCL
  int custom_ignore_cutoff_rows = 0;  ///< custom also when the batch has at most this many rows; 0: no
  double one_shot_t0_us = 0, one_shot_GBps = 0;  ///< T = t0 + (n-1) S/R
  double two_shot_extra_us = 0;
  bool best_of_both = false;        ///< takes the faster of custom and NCCL, whatever the size
  double launch_floor_us = 0;       ///< host launch floor; 0 in CUDA graphs
};

/// The answer with its reason.
struct CollectiveCost {
  double time_us = 0;
  std::string implementation;       ///< "ring LL", "ring Simple", "one-shot", ...
  std::string reason;               ///< why this one, in one sentence
  double wire_bytes_per_hop = 0;    ///< sent by each rank in the whole collective, protocol overhead included
  double spread = 0;                ///< standard deviation of ln(measured/predicted)
  bool in_range = true;             ///< size and ranks lie where the parameters were fitted
};

/// `rows`: of the batch, for custom_ignore_cutoff_rows. One rank costs 0. Throws Infeasible("not-calibrated") when the
/// profile has no parameters for a transport of the communicator.
CollectiveCost collective(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes,
                          const CollectivePolicy& policy, int rows = 0);

}  // namespace moe
