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

}  // namespace

const AllToAllCost& all_to_all_cost(const CommCost& cost, Transport t) {
  for (const AllToAllCost& a : cost.all_to_all)
    if (a.transports.empty() || std::find(a.transports.begin(), a.transports.end(), name_of(t)) != a.transports.end())
      return a;
  throw Infeasible("not-calibrated",
                   fmt::format("the profile has no all-to-all parameters for the transport `{}`", name_of(t)));
}

bool all_to_all_uses_ll(double bytes, int ranks) { return bytes / ranks <= kAllToAllLlBytes; }

AllToAllParts all_to_all_parts(const CommCost& cost, const Communicator& comm, double bytes) {
  const AllToAllCost& a = all_to_all_cost(cost, worst_hop(comm));
  const int n = comm.ranks();
  const double peer_bytes = bytes / n;
  AllToAllParts parts;
  parts.before_us = a.base_us + a.peer_us * (n - 1);
  if (all_to_all_uses_ll(bytes, n)) {
    const double pass = 8 * by_ranks(a.threads, n);
    const double more = std::max(0.0, peer_bytes / pass - 1);
    parts.message_us = a.first * std::min(peer_bytes, pass) / pass +
                       a.tau * transport_cost(cost, worst_hop(comm)).tau_ll_us * more;
    parts.wire_bytes = wire_factor(Protocol::ll) * peer_bytes;
    return parts;
  }
  parts.before_us += a.simple_us;
  parts.message_us = (n - 1) * peer_bytes / (by_ranks(a.rate_GBps, n) * 1e3);
  parts.wire_bytes = peer_bytes;
  return parts;
}

double all_to_all_us(const CommCost& cost, const Communicator& comm, double bytes) {
  const AllToAllParts parts = all_to_all_parts(cost, comm, bytes);
  return parts.before_us + parts.message_us;
}

}  // namespace moe
