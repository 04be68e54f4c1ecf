#include "network/closed_form.hpp"

#include <fmt/core.h>

#include "cost/all_to_all.hpp"
#include "cost/ring.hpp"
#include "engine/engine.hpp"
#include "network/fabric.hpp"
#include "network/pcie_rule.hpp"
#include "network/together.hpp"

namespace moe {
namespace {

/// When the last of equal messages between all pairs has arrived, if all start at once and none is faster than alone_us.
double links_us(const Machine& machine, const Routes& routes, const Communicator& comm, double wire_bytes,
                double alone_us) {
  Builder b;
  for (const int from : comm.gpus)
    for (const int to : comm.gpus)
      if (from != to)
        b.transfer(message_path(machine, routes, worst_hop(comm), from, to), Bytes{wire_bytes}, Time{0},
                   Category::all_to_all, {}, Bandwidth{wire_bytes / (alone_us * 1e-6)});
  PcieRule rule(machine);
  return to_us(run(b.seal(), fabric(machine), Sharing::max_min, &rule).makespan);
}

constexpr double kRounding = 1e-6;  // the clock counts picoseconds

/// Whose flows can be held back by links that its constants do not know.
Algorithm unlimited(const CollectiveCost& c) {
  for (const auto& [name, algorithm] : {std::pair{"one-shot", Algorithm::one_shot}, {"two-shot", Algorithm::two_shot},
                                        {"tree", Algorithm::tree}})
    if (c.implementation.starts_with(name)) return algorithm;
  return Algorithm::automatic;
}

}  // namespace

CollectiveCost as_links_allow(const Machine& machine, const Routes& routes, const CommCost& cost, CollectiveRequest request,
                              CollectiveCost c, double links) {
  request.algorithm = unlimited(c);
  if (request.algorithm == Algorithm::automatic || request.gpus.size() < 2 || request.bytes <= 0) return c;
  const double us = alone_as_flows_us(machine, routes, cost, request, links);
  if (us <= c.time_us * (1 + kRounding)) return c;
  c.reason += fmt::format("; {:.1f} us by its constants, but these links carry less", c.time_us);
  c.time_us = us;
  return c;
}

CollectiveCost closed_form(const Machine& machine, const Routes& routes, const CommCost& cost,
                           const CollectiveRequest& r) {
  CollectiveCost c = by_algorithm(machine, routes, cost, r.gpus, r.algorithm, r.op, r.bytes, r.policy, r.engine);
  const Communicator comm = communicator(machine, routes, r.gpus);
  if (r.op != CollectiveOp::all_to_all) return as_links_allow(machine, routes, cost, r, c);
  if (comm.ranks() < 2 || r.bytes <= 0) return c;
  const AllToAllParts parts = all_to_all_parts(cost, comm, r.bytes);
  const double us = links_us(machine, routes, comm, parts.wire_bytes, parts.message_us);
  const double limited_us = parts.before_us + us;
  if (limited_us <= c.time_us * (1 + kRounding)) return c;
  c.time_us = limited_us;
  c.reason += fmt::format("; the links leave a pair {:.1f} of the {:.1f} GB/s that it asks for",
                          parts.wire_bytes / us * 1e-3, parts.wire_bytes / parts.message_us * 1e-3);
  return c;
}

}  // namespace moe
