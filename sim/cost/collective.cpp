#include "cost/collective.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "cost/all_to_all.hpp"
#include "cost/one_shot.hpp"
#include "cost/ring.hpp"

namespace moe {

std::string_view name_of(Transport t) {
  switch (t) {
    case Transport::nvlink: return "nvlink";
    case Transport::nvlink_pair: return "nvlink_pair";
    case Transport::p2p: return "p2p";
    case Transport::p2p_pair: return "p2p_pair";
    case Transport::p2p_x: return "p2p_x";
    case Transport::shm: return "shm";
    case Transport::shm_x: return "shm_x";
    case Transport::net: return "net";
  }
  return "";
}

std::string_view name_of(Protocol p) {
  switch (p) {
    case Protocol::ll: return "LL";
    case Protocol::ll128: return "LL128";
    case Protocol::simple: return "Simple";
  }
  return "";
}

std::string_view name_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce: return "all-reduce";
    case CollectiveOp::all_gather: return "all-gather";
    case CollectiveOp::reduce_scatter: return "reduce-scatter";
    case CollectiveOp::all_to_all: return "all-to-all";
  }
  return "";
}

namespace {

std::vector<Protocol> allowed_protocols(const CollectivePolicy& policy, const Communicator& comm) {
  if (!policy.protocols.empty()) return policy.protocols;
  std::vector<Protocol> standard{Protocol::ll, Protocol::simple};
  if (is_nvlink(worst_hop(comm))) standard.push_back(Protocol::ll128);
  return standard;
}

/// "NCCL expects LL 20.8 us, Simple 88.3 us and takes LL".
std::string choice_sentence(const std::vector<Protocol>& allowed, Protocol chosen, CollectiveOp op, double bytes,
                            const Communicator& comm) {
  if (allowed.size() == 1) return fmt::format("NCCL is held to {}", name_of(chosen));
  std::string expected;
  for (const Protocol p : allowed)
    expected += fmt::format("{}{} {:.1f} us", expected.empty() ? "" : ", ", name_of(p),
                            nccl_expects_us(p, op, bytes, comm));
  return fmt::format("NCCL expects {} and takes {}", expected, name_of(chosen));
}

CollectiveCost ring_cost(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes,
                         const CollectivePolicy& policy) {
  const std::vector<Protocol> allowed = allowed_protocols(policy, comm);
  const Protocol p = nccl_choice(allowed, op, bytes, comm);
  CollectiveCost c;
  c.time_us = ring_us(p, cost, comm, op, bytes);
  c.implementation = fmt::format("ring {}", name_of(p));
  c.reason = choice_sentence(allowed, p, op, bytes, comm);
  c.wire_bytes_per_hop = wire_factor(p) * ring_steps(op, comm.ranks()) * bytes / comm.ranks();
  return c;
}

CollectiveCost all_to_all_cost(const CommCost& cost, const Communicator& comm, double bytes) {
  const int n = comm.ranks();
  const bool ll = all_to_all_uses_ll(bytes, n);
  CollectiveCost c;
  c.time_us = all_to_all_us(cost, comm, bytes);
  c.implementation = ll ? "send/receive LL" : "send/receive Simple";
  c.reason = fmt::format("{:.0f} B per peer is {} NCCL's limit of {:.0f} B for LL", bytes / n,
                         ll ? "within" : "above", kAllToAllLlBytes);
  c.wire_bytes_per_hop = (n - 1) * bytes / n * wire_factor(ll ? Protocol::ll : Protocol::simple);
  return c;
}

CollectiveCost custom_cost(const CollectivePolicy& policy, const Communicator& comm, double bytes) {
  const int n = comm.ranks();
  const bool two_shot = policy.two_shot_above && bytes > policy.two_shot_bytes;
  CollectiveCost c;
  c.time_us = two_shot ? two_shot_us(policy, n, bytes) : one_shot_us(policy, n, bytes);
  c.implementation = two_shot ? "two-shot" : "one-shot";
  c.wire_bytes_per_hop = two_shot ? 2.0 * (n - 1) / n * bytes : (n - 1) * bytes;
  return c;
}

/// Why the stack takes its own kernel; empty: it does not.
std::string custom_reason(const CollectivePolicy& policy, CollectiveOp op, double bytes, int rows) {
  if (!policy.custom || op != CollectiveOp::all_reduce) return {};
  if (bytes <= policy.custom_max_bytes)
    return fmt::format("{:.0f} B is within the stack's cut-off of {:.0f} B", bytes, policy.custom_max_bytes);
  if (rows > 0 && rows <= policy.custom_ignore_cutoff_rows)
    return fmt::format("{} rows are within the {} for which the stack ignores its cut-off of {:.0f} B", rows,
                       policy.custom_ignore_cutoff_rows, policy.custom_max_bytes);
  return {};
}

/// The stack's own kernel or NCCL, as its rule says.
CollectiveCost all_reduce_or_ring(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes,
                                  const CollectivePolicy& policy, int rows) {
  const std::string why = custom_reason(policy, op, bytes, rows);
  const bool compares = policy.custom && policy.best_of_both && op == CollectiveOp::all_reduce;
  if (why.empty() && !compares) return ring_cost(cost, comm, op, bytes, policy);
  CollectiveCost custom = custom_cost(policy, comm, bytes);
  custom.reason = why;
  if (!compares) return custom;
  CollectiveCost ring = ring_cost(cost, comm, op, bytes, policy);
  const std::string both = fmt::format("the stack takes the faster of {} {:.1f} us and {} {:.1f} us",
                                       custom.implementation, custom.time_us, ring.implementation, ring.time_us);
  custom.reason = ring.reason = both;
  return custom.time_us <= ring.time_us ? custom : ring;
}

bool within(const FitQuality& quality, const std::string& size, double value) {
  const auto range = quality.range.find(size);
  return range == quality.range.end() || (value >= range->second.first && value <= range->second.second);
}

/// Of ln(measured/predicted), from the 90 % point of |predicted/measured - 1| of a normal spread.
double spread_of(const FitQuality& quality) { return std::log1p(quality.p90_pct / 100) / 1.6449; }

}  // namespace

CollectiveCost collective(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes,
                          const CollectivePolicy& policy, int rows) {
  MOE_CHECK(bytes >= 0, "a collective moves no negative bytes");
  CollectiveCost c;
  c.implementation = "none";
  c.reason = comm.ranks() <= 1 ? "one rank has nobody to talk to" : "there is nothing to send";
  if (comm.ranks() <= 1 || bytes == 0) return c;
  c = op == CollectiveOp::all_to_all ? all_to_all_cost(cost, comm, bytes)
                                     : all_reduce_or_ring(cost, comm, op, bytes, policy, rows);
  if (c.time_us < policy.launch_floor_us) {
    c.reason += fmt::format("; launching it takes the host {:.1f} us", policy.launch_floor_us);
    c.time_us = policy.launch_floor_us;
  }
  c.spread = spread_of(cost.quality);
  c.in_range = within(cost.quality, "bytes", bytes) && within(cost.quality, "ranks", comm.ranks());
  return c;
}

}  // namespace moe
