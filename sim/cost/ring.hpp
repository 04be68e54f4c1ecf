// How long does an NCCL ring take, and which protocol does NCCL choose for it?
// A ring of n ranks passes S/n bytes per step: 2(n-1) steps for all-reduce, n-1 for all-gather and reduce-scatter.
//
// Example (shrink rule): all-reduce of 4096 B over 8 ranks with 2 channels. LL wants 8n = 64 B per thread; 2 x 512
// threads would need 65536 B, so it drops to 1 channel, then halves the threads: 512, 256, 128, 64.
//   ll_geometry(4096, 8, 2, 64)  ->  {1 channel, 64 threads, 512 B per step, 1 pass of 512 B}
#pragma once
#include "cost/collective.hpp"

namespace moe {

/// Steps of a ring collective; not for all_to_all.
int ring_steps(CollectiveOp op, int ranks);

/// What NCCL's own tuner expects [us]; only good for choosing as NCCL does, not for predicting.
///
///   t = base + k hw + k S / (n e B)       B = bandwidth that NCCL believes, k = steps
///
///                  LL           LL128         Simple
///   base           6.6          14.0          8.4       us
///   hw  PCIe       1.0          2.5           5.7       us
///   hw  NVLink     0.6          1.9           3.4       us
///   e              0.5          0.92          1.0
///
/// Source  NVIDIA/nccl src/graph/tuning.cc (ring, one node)
double nccl_expects_us(Protocol p, CollectiveOp op, double bytes, const Communicator& comm);
/// The protocol with the least expected time; ties go to the first.
Protocol nccl_choice(const std::vector<Protocol>& allowed, CollectiveOp op, double bytes, const Communicator& comm);

/// What NCCL launches for LL, and how the data falls on it.
struct LlGeometry {
  int channels = 1;
  int threads = 512;        ///< per channel
  double step_bytes = 0;    ///< data per channel and step
  double pass_bytes = 0;    ///< data that one pass of the block moves: 8 B per thread
  double passes = 1;        ///< step_bytes / pass_bytes, at least 1
};
/// NCCL's shrink rule: while a thread would get less than 8n bytes, drop channels down to 1, then halve the threads
/// as long as they are a multiple of 128; a block has at least `min_threads`.
/// Source  NVIDIA/nccl src/enqueue.cc
LlGeometry ll_geometry(double bytes, int ranks, int channels, int min_threads);

/// Ring with LL: 8 B of data in every 16 B line, the receiver polls the flags.
///
///   step = max( mean alpha + first + extra , 2 S/n / W )
///   first = tau1 min(step_bytes, pass_bytes) / 4096                 issue of the first pass
///   extra = further_polls (tau - tau1) + (N-1) tau1 threads/512     N = passes
///   T = t_base + start + k step + tail_ll (first + extra)
///
///   further_polls   N-1, or with ll_whole_pass the started passes after the first
///   alpha           of the hop; plus the route's latency where the transport says so
///   tau, tau1       of the ring's most expensive transport
///   W               wire_GBps, or the hops' share of their links where that is less
///
/// Holds for     1 KB to 4 MB on one server
/// Constants     calibration/profiles/<gpu>.yaml: comm
/// Tested        tests/analytic/collective_ring.cpp, tests/validation/collectives.cpp
double ring_ll_us(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes);

/// Ring with LL128: 120 B of data in every 128 B line.
///
///   T = t_base + start + k (f mean alpha_ll + w) + tail_simple w       w = 128/120 S/n / r
///
/// Holds for     512 KB to 2 MB over direct PCIe (three points)
double ring_ll128_us(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes);

/// Ring with Simple: bulk copies, one flag per chunk.
///
///   T = t_base + start + b_simple + k (mean alpha_simple + w) + tail_simple w       w = S/n / r
///
///   r               the slowest hop's rate, or the hops' share of their links where that is less
double ring_simple_us(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes);

/// The same ring taken apart, so that its steps can be simulated when other transfers share its links:
///   alone: T = before + steps (send + delay) + after
struct RingPlan {
  double before_us = 0;           ///< launch, start, pipeline fill
  int steps = 0;
  double wire_bytes = 0;          ///< that each rank sends in one step, protocol overhead included
  double send_us = 0;             ///< that they take on a hop with nobody else
  double delay_us = 0;            ///< from the last byte until the receiver may send on; holds no link. The mean over
                                  ///< the hops: a chunk visits almost all of them
  double after_us = 0;            ///< last local pass
  int streams = 1;                ///< channels at work: the ring's weight on a link that it shares
};
RingPlan ring_plan(Protocol p, const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes);

double ring_us(Protocol p, const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes);
/// Bytes on the wire per byte of data: 2, 128/120, 1.
double wire_factor(Protocol p);

/// The parameters of a transport; throws Infeasible("not-calibrated") when the profile has none.
const TransportCost& transport_cost(const CommCost& cost, Transport t);
bool is_nvlink(Transport t);
/// The most expensive transport of the ring.
Transport worst_hop(const Communicator& comm);

}  // namespace moe
