// How long does a collective take with the machine to itself? The closed form of its algorithm; an all-to-all whose pairs
// together ask for more than the links leave takes as long as the links need, and so do custom kernels and trees.
//
//   T = before + max(message, links)        links: all pairs at once, equal messages, each at most as fast as its sender
//
// Example: four GPUs of a socket, all-to-all of 64 KB with LL: each pair asks for 12.8 GB/s on the wire, three pairs for
// 38.3 of a port that carries 52.7 x 0.971 x h(3) = 34.9 GB/s when both directions are busy and outputs are contended
// (network/pcie_rule.hpp). The messages take 2.82 us, not 2.57.
//
// Tested  tests/analytic/collective_flows.cpp: within 1 % of the same collective as flows, on every shipped machine
#pragma once
#include "network/collective_flows.hpp"

namespace moe {

/// An engine's own kernel and a tree have constants of one machine; on another one the links may carry less. `c` is what the
/// constants say of `request`: longer where its flows take longer. Rings know their links themselves (Communicator::share_GBps).
CollectiveCost as_links_allow(const Machine& machine, const Routes& routes, const CommCost& cost, CollectiveRequest request,
                              CollectiveCost c, double links = 1);

/// Without byte matrix. Throws as by_algorithm does.
CollectiveCost closed_form(const Machine& machine, const Routes& routes, const CommCost& cost,
                           const CollectiveRequest& request);

}  // namespace moe
