// What does the engine see of a machine? One link per directed link of the machine, in the same order, then one more
// per shared limit: a route that uses a limited link also crosses the limit itself.
//
// Example: two GPUs behind one switch and a limit on both uplink directions: links 0 to 5, the limit is link 6.
//   fabric(machine).capacity[LinkId{6}]           ->  the limit
//   path_of(machine, routes.between_gpus(0, 1))   ->  {gpu0 → sw0, sw0 → gpu1}
#pragma once
#include <vector>

#include "cost/collective.hpp"
#include "machine/machine.hpp"
#include "program/program.hpp"

namespace moe {

/// Links and limits of a machine, without servers. `factor` makes every one that much faster.
Resources fabric(const Machine& machine, double factor = 1);

/// The links of a route, then the limits that they share.
std::vector<LinkId> path_of(const Machine& machine, const Route& route);

/// The way of bytes that bounce: to the host memory of the sender's server that is nearest to it, then to the receiver.
/// Falls back to the direct route where the machine names no host memory.
std::vector<LinkId> bounced_path(const Machine& machine, const Routes& routes, int from_gpu, int to_gpu);

/// The way of a message over a transport: bounced, or the direct route.
std::vector<LinkId> message_path(const Machine& machine, const Routes& routes, Transport transport, int from_gpu,
                                 int to_gpu);

}  // namespace moe
