#include "lower/traffic.hpp"

namespace moe {

void add_ring_traffic(const Routes& routes, const Communicator& comm, double bytes_per_hop,
                      std::vector<double>& link_bytes) {
  auto add = [&](const Route& route) {
    for (const int link : route.links) link_bytes[static_cast<std::size_t>(link)] += bytes_per_hop;
  };
  const int n = comm.ranks();
  for (int i = 0; i < n; ++i) {
    const int from = comm.gpus[static_cast<std::size_t>(i)], to = comm.gpus[static_cast<std::size_t>((i + 1) % n)];
    add(routes.between_gpus(from, to));
  }
}

}  // namespace moe
