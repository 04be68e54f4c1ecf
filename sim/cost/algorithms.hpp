// How long do the other ways of doing a collective take, when nothing else touches their links? Times in microseconds;
// `bytes` as in cost/collective.hpp. None of them is NCCL's default on one PCIe server; measured or not is said below.
//
//   tree           two chains, each over half the data: reduce along it, broadcast back, in chunks (unvalidated)
//   hierarchical   reduce-scatter inside islands, all-reduce across them, all-gather inside (unvalidated)
//   gather         reduce-scatter, then all-gather: two launches
//   copy_ring      ring of copy-engine transfers, one per step: s = sqrt( launch² + (S/n / rate)² )
//                  16ws-8rp, 8 GPUs in both orders, 12 KB to 100 MB: within 3 % (tests/validation/concurrent.cpp)
//
// Example: copy_ring of 100.66 MB over 8 GPUs at 24.5 us and 55 GB/s per step: 14 sqrt(24.5² + 228.8²) = 3221 us
// (measured: 3282.6).
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "cost/collective.hpp"
#include "cost/ring.hpp"

namespace moe {

/// automatic: what the stack and NCCL would take (cost/collective.hpp).
enum class Algorithm { automatic, ring, tree, one_shot, two_shot, hierarchical, gather, copy_ring };
std::string_view name_of(Algorithm a);
std::optional<Algorithm> algorithm_named(std::string_view name);

/// A copy-engine ring's own constants: one transfer costs the host `launch_us`, the wire carries `rate_GBps`.
/// Fitted on local-inference-lab/b12x docs/evidence/pcie_calibration/20260726 (adjacent GPUs, four sizes).
struct CopyEngine {
  double launch_us = 24.5, rate_GBps = 55;
};

/// GPUs of a group that reach each other without a host bridge, in the order of the group; where that gives one island
/// or only single GPUs, the GPUs of one socket.
std::vector<std::vector<int>> islands_of(const Machine& machine, const Routes& routes, const std::vector<int>& gpus);
/// The groups across islands: the i-th GPU of each. Throws Infeasible("islands") unless islands have one size.
std::vector<std::vector<int>> across(const std::vector<std::vector<int>>& islands);

/// One of `groups` groups that run at the same time and meet on the links between the islands.
Communicator group_communicator(const Machine& machine, const Routes& routes, const std::vector<int>& group,
                                std::size_t groups);

/// Steps of a copy-engine ring.
RingPlan copy_ring_plan(const CopyEngine& engine, const Communicator& comm, CollectiveOp op, double bytes);

/// One chain of the tree, over half the data:
///   T = before + (chunks - 1) send + 2 (n - 1) (send + delay) + after
/// send: a chunk at rate f r / 4 (a GPU sends in four streams: up and down both chains), f = 0.92 for Simple, 1 / 3.8
/// for LL, NCCL's own factors (src/graph/tuning.cc).
struct TreePlan {
  double before_us = 0, send_us = 0, delay_us = 0, after_us = 0, chunk_bytes = 0, rate_GBps = 0;
  int chunks = 1, hops = 0;  ///< hops: one way
};
TreePlan tree_plan(Protocol p, const CommCost& cost, const Communicator& comm, double bytes);
double tree_us(const TreePlan& plan);

/// Closed form of any algorithm. Throws InputError when an algorithm does not do the operation.
CollectiveCost by_algorithm(const Machine& machine, const Routes& routes, const CommCost& cost,
                            const std::vector<int>& gpus, Algorithm a, CollectiveOp op, double bytes,
                            const CollectivePolicy& policy, const CopyEngine& engine = {});

/// One message between two GPUs by send/receive: an all-to-all of two with `bytes` per direction.
double point_to_point_us(const CommCost& cost, const Communicator& pair, double bytes);

/// The protocol that NCCL takes for a ring under the policy.
Protocol ring_protocol(const CollectivePolicy& policy, const Communicator& comm, CollectiveOp op, double bytes);

}  // namespace moe
