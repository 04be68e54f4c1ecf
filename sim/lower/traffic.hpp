// Which links does a collective in closed form load? For the link table of the report.
#pragma once
#include <vector>

#include "cost/collective.hpp"

namespace moe {

/// Adds what one collective puts on every link of the ring's hops. A host-bounced hop is booked on the links of the
/// route between the two GPUs: it crosses the same PCIe tree by way of host memory.
void add_ring_traffic(const Routes& routes, const Communicator& comm, double bytes_per_hop,
                      std::vector<double>& link_bytes);

}  // namespace moe
