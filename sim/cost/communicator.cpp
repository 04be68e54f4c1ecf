#include <algorithm>
#include <map>

#include "base/check.hpp"
#include "cost/collective.hpp"

namespace moe {
namespace {

/// NCCL's choice for one pair of neighbours.
Transport transport_of(const Machine& machine, const Route& route, int from, int to, int ranks) {
  const auto device = [&](int gpu) {
    return machine.devices[static_cast<std::size_t>(machine.gpus[static_cast<std::size_t>(gpu)])];
  };
  if (device(from).node != device(to).node) return Transport::net;
  const P2pLevel path = path_level(machine, route);
  const bool pair_anywhere = ranks <= 2 && machine.pair_p2p_anywhere && machine.p2p_level != P2pLevel::off;
  const bool crosses = device(from).socket != device(to).socket;
  if (path > machine.p2p_level && !pair_anywhere) return crosses ? Transport::shm_x : Transport::shm;
  if (path == P2pLevel::nvlink) return ranks <= 2 ? Transport::nvlink_pair : Transport::nvlink;
  if (crosses) return Transport::p2p_x;
  return ranks <= 2 ? Transport::p2p_pair : Transport::p2p;
}

bool bounces(Transport t) { return t == Transport::shm || t == Transport::shm_x; }

/// What a link carries beside its other direction: ports and uplinks lose the duplex share when that is busy too.
double capacity_Bps(const Machine& machine, int link, const std::map<int, int>& uses) {
  const Link& l = machine.links[static_cast<std::size_t>(link)];
  const bool queues = l.kind == LinkKind::port || l.kind == LinkKind::uplink;
  const bool both = queues && std::any_of(uses.begin(), uses.end(), [&](const auto& use) {
    const Link& other = machine.links[static_cast<std::size_t>(use.first)];
    return other.from == l.to && other.to == l.from;
  });
  return l.capacity.bytes_per_second * (both ? machine.pcie.duplex : 1);
}

/// Smallest capacity / uses over the links of the hops; 0 when nothing limits.
double share_GBps(const Machine& machine, const std::vector<std::vector<int>>& hops) {
  std::map<int, int> uses;
  for (const std::vector<int>& links : hops)
    for (const int l : links) ++uses[l];
  double least = kUnlimited.bytes_per_second;
  for (const auto& [l, count] : uses) least = std::min(least, capacity_Bps(machine, l, uses) / count);
  for (const SharedLimit& limit : machine.limits) {
    int count = 0;
    for (const int l : limit.links) count += uses.count(l) != 0 ? uses[l] : 0;
    if (count > 0) least = std::min(least, limit.capacity.bytes_per_second / count);
  }
  return least < kUnlimited.bytes_per_second ? least * 1e-9 : 0;
}

const NcclBelief& belief_for(const Machine& machine, int ranks) {
  MOE_CHECK(!machine.nccl.empty(), "a machine says what NCCL believes");
  for (const NcclBelief& b : machine.nccl)
    if (ranks <= b.ranks) return b;
  return machine.nccl.back();
}

}  // namespace

Communicator communicator(const Machine& machine, const Routes& routes, const std::vector<int>& gpus) {
  MOE_CHECK(!gpus.empty(), "a communicator has at least one GPU");
  Communicator comm;
  comm.gpus = gpus;
  const int n = comm.ranks();
  if (n == 1) return comm;
  std::vector<std::vector<int>> links;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const int from = gpus[i], to = gpus[(i + 1) % gpus.size()];
    MOE_CHECK(from != to, "a GPU is in a communicator once");
    const Route& route = routes.between_gpus(from, to);
    comm.hops.push_back(transport_of(machine, route, from, to, n));
    comm.hop_latency_us.push_back(route.latency.count() * 1e6);
    links.push_back(bounces(comm.hops.back()) ? bounce_links(machine, routes, from, to) : route.links);
  }
  const NcclBelief& belief = belief_for(machine, n);
  comm.channels = belief.channels;
  comm.graph_GBps = belief.graph_GBps;
  comm.share_GBps = share_GBps(machine, links);
  return comm;
}

}  // namespace moe
