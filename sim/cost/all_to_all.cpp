#include "cost/all_to_all.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.hpp"
#include "cost/ring.hpp"

namespace moe {
namespace {

/// The entry of the smallest listed count that is at least `ranks`, or the largest.
double by_ranks(const std::map<int, double>& table, int ranks) {
  MOE_CHECK(!table.empty(), "a profile's all-to-all has entries by ranks");
  const auto found = table.lower_bound(ranks);
  return found != table.end() ? found->second : table.rbegin()->second;
}

void must_hold_for(const CommCost& cost, Transport t) {
  const auto& known = cost.a2a_transports;
  if (known.empty() || std::find(known.begin(), known.end(), name_of(t)) != known.end()) return;
  throw Infeasible("not-calibrated",
                   fmt::format("the profile has no all-to-all parameters for the transport `{}`", name_of(t)));
}

}  // namespace

bool all_to_all_uses_ll(double bytes, int ranks) { return bytes / ranks <= kAllToAllLlBytes; }

AllToAllParts all_to_all_parts(const CommCost& cost, const Communicator& comm, double bytes) {
  must_hold_for(cost, worst_hop(comm));
  const int n = comm.ranks();
  const double peer_bytes = bytes / n;
  AllToAllParts parts;
  parts.before_us = cost.a2a_base_us + cost.a2a_peer_us * (n - 1);
  if (all_to_all_uses_ll(bytes, n)) {
    const double pass = 8 * by_ranks(cost.a2a_threads, n);
    const double more = std::max(0.0, peer_bytes / pass - 1);
    parts.message_us = cost.a2a_first * std::min(peer_bytes, pass) / pass +
                       cost.a2a_tau * transport_cost(cost, worst_hop(comm)).tau_ll_us * more;
    parts.wire_bytes = wire_factor(Protocol::ll) * peer_bytes;
    return parts;
  }
  parts.before_us += cost.a2a_simple_us;
  parts.message_us = (n - 1) * peer_bytes / (by_ranks(cost.a2a_rate_GBps, n) * 1e3);
  parts.wire_bytes = peer_bytes;
  return parts;
}

double all_to_all_us(const CommCost& cost, const Communicator& comm, double bytes) {
  const AllToAllParts parts = all_to_all_parts(cost, comm, bytes);
  return parts.before_us + parts.message_us;
}

}  // namespace moe
