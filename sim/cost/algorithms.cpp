#include "cost/algorithms.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.hpp"
#include "config/diagnostic.hpp"
#include "cost/one_shot.hpp"

namespace moe {
namespace {

constexpr std::array<std::string_view, 8> kNames{"automatic", "ring",         "tree",   "oneshot",
                                                 "twoshot",   "hierarchical", "gather", "copy_ring"};
constexpr double kChunkBytes = 32768;  ///< of a tree's chains
constexpr int kMostChunks = 16;

/// GPUs with one answer of `same_island` belong together; keeps the order of the group.
template <class Same>
std::vector<std::vector<int>> grouped(const std::vector<int>& gpus, Same same) {
  std::vector<std::vector<int>> islands;
  for (const int g : gpus) {
    const auto home = std::find_if(islands.begin(), islands.end(), [&](const auto& i) { return same(i.front(), g); });
    if (home == islands.end()) islands.push_back({g});
    else home->push_back(g);
  }
  return islands;
}

CollectiveCost named(std::string implementation, double us, std::string reason) {
  CollectiveCost c;
  c.time_us = us;
  c.implementation = std::move(implementation);
  c.reason = std::move(reason);
  return c;
}

std::string held(Algorithm a) { return fmt::format("held to {}", name_of(a)); }

void only_all_reduce(Algorithm a, CollectiveOp op) {
  if (op == CollectiveOp::all_reduce) return;
  throw InputError(fmt::format("`{}` does all-reduce only, not {}", name_of(a), name_of(op)));
}

CollectiveCost hierarchical_cost(const Machine& machine, const Routes& routes, const CommCost& cost,
                                 const std::vector<int>& gpus, double bytes, const CollectivePolicy& policy) {
  const auto islands = islands_of(machine, routes, gpus);
  const auto groups = across(islands);
  double inside = 0, between = 0;
  for (const auto& island : islands) {
    if (island.size() < 2) continue;
    const Communicator c = communicator(machine, routes, island);
    inside = std::max(inside, collective(cost, c, CollectiveOp::reduce_scatter, bytes, policy).time_us +
                                  collective(cost, c, CollectiveOp::all_gather, bytes, policy).time_us);
  }
  for (const auto& group : groups) {
    const Communicator c = group_communicator(machine, routes, group, groups.size());
    const double part = bytes / static_cast<double>(groups.size());
    between = std::max(between, collective(cost, c, CollectiveOp::all_reduce, part, policy).time_us);
  }
  return named("hierarchical", inside + between,
               fmt::format("{} islands of {}: {:.1f} us inside, {:.1f} us across", islands.size(),
                           islands.front().size(), inside, between));
}

CollectiveCost gather_cost(const CommCost& cost, const Communicator& comm, double bytes,
                           const CollectivePolicy& policy) {
  const CollectiveCost rs = collective(cost, comm, CollectiveOp::reduce_scatter, bytes, policy);
  const CollectiveCost ag = collective(cost, comm, CollectiveOp::all_gather, bytes, policy);
  return named("gather", rs.time_us + ag.time_us,
               fmt::format("reduce-scatter {} {:.1f} us, all-gather {} {:.1f} us", rs.implementation, rs.time_us,
                           ag.implementation, ag.time_us));
}

}  // namespace

std::string_view name_of(Algorithm a) { return kNames[static_cast<std::size_t>(a)]; }

std::optional<Algorithm> algorithm_named(std::string_view name) {
  if (name == "nccl") return Algorithm::ring;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Algorithm>(i);
  return std::nullopt;
}

std::vector<std::vector<int>> islands_of(const Machine& machine, const Routes& routes, const std::vector<int>& gpus) {
  auto islands = grouped(gpus, [&](int a, int b) {
    return path_level(machine, routes.between_gpus(a, b)) <= P2pLevel::cross_switch;
  });
  if (islands.size() > 1 && islands.size() < gpus.size()) return islands;
  const auto device = [&](int gpu) {
    return machine.devices[static_cast<std::size_t>(machine.gpus[static_cast<std::size_t>(gpu)])];
  };
  return grouped(gpus, [&](int a, int b) {
    return device(a).socket == device(b).socket && device(a).node == device(b).node;
  });
}

std::vector<std::vector<int>> across(const std::vector<std::vector<int>>& islands) {
  for (const auto& island : islands)
    if (islands.size() < 2 || island.size() != islands.front().size())
      throw Infeasible("islands", fmt::format("the GPUs do not form two or more islands of one size ({} island{})",
                                              islands.size(), islands.size() == 1 ? "" : "s, of different sizes"));
  std::vector<std::vector<int>> groups(islands.front().size());
  for (const auto& island : islands)
    for (std::size_t i = 0; i < island.size(); ++i) groups[i].push_back(island[i]);
  return groups;
}

Communicator group_communicator(const Machine& machine, const Routes& routes, const std::vector<int>& group,
                                std::size_t groups) {
  Communicator c = communicator(machine, routes, group);
  c.share_GBps /= static_cast<double>(groups);
  return c;
}

RingPlan copy_ring_plan(const CopyEngine& engine, const Communicator& comm, CollectiveOp op, double bytes) {
  const double rate = comm.share_GBps > 0 ? std::min(engine.rate_GBps, comm.share_GBps) : engine.rate_GBps;
  RingPlan plan;
  plan.steps = ring_steps(op, comm.ranks());
  plan.wire_bytes = bytes / comm.ranks();
  plan.send_us = plan.wire_bytes / (rate * 1e3);
  plan.delay_us = std::hypot(engine.launch_us, plan.send_us) - plan.send_us;
  return plan;
}

TreePlan tree_plan(Protocol p, const CommCost& cost, const Communicator& comm, double bytes) {
  constexpr double kLlShare = 1 / 3.8, kSimpleShare = 0.92, kStreams = 4;
  const RingPlan ring = ring_plan(p, cost, comm, CollectiveOp::all_reduce, bytes);
  constexpr double kTwoNeighbours = 0.75;  // what a port carries when both ways along the chain are contended
  double rate = transport_cost(cost, worst_hop(comm)).rate_simple_GBps;
  if (comm.share_GBps > 0) rate = std::min(rate, kTwoNeighbours * comm.share_GBps);
  TreePlan t;
  t.before_us = ring.before_us;
  t.after_us = 0;
  t.hops = comm.ranks() - 1;
  t.chunks = static_cast<int>(std::clamp(bytes / 2 / kChunkBytes, 1.0, static_cast<double>(kMostChunks)));
  t.chunk_bytes = bytes / 2 / t.chunks;
  t.rate_GBps = rate * (p == Protocol::ll ? kLlShare : kSimpleShare) / kStreams;
  t.send_us = t.chunk_bytes / (t.rate_GBps * 1e3);
  t.delay_us = ring_plan(p, cost, comm, CollectiveOp::all_reduce, 1).delay_us;  // without any data
  return t;
}

double tree_us(const TreePlan& t) {
  return t.before_us + (t.chunks - 1) * t.send_us + 2 * t.hops * (t.send_us + t.delay_us) + t.after_us;
}

Protocol ring_protocol(const CollectivePolicy& policy, const Communicator& comm, CollectiveOp op, double bytes) {
  std::vector<Protocol> allowed = policy.protocols;
  if (allowed.empty()) {
    allowed = {Protocol::ll, Protocol::simple};
    if (is_nvlink(worst_hop(comm))) allowed.push_back(Protocol::ll128);
  }
  return nccl_choice(allowed, op, bytes, comm);
}

double point_to_point_us(const CommCost& cost, const Communicator& pair, double bytes) {
  MOE_CHECK(pair.ranks() == 2, "a message has one sender and one receiver");
  return collective(cost, pair, CollectiveOp::all_to_all, 2 * bytes, {}).time_us;
}

CollectiveCost by_algorithm(const Machine& machine, const Routes& routes, const CommCost& cost,
                            const std::vector<int>& gpus, Algorithm a, CollectiveOp op, double bytes,
                            const CollectivePolicy& policy, const CopyEngine& engine) {
  const Communicator comm = communicator(machine, routes, gpus);
  const int n = comm.ranks();
  CollectivePolicy nccl = policy;
  nccl.custom = false;
  if (a == Algorithm::automatic || n < 2 || bytes <= 0) return collective(cost, comm, op, bytes, policy);
  if (a == Algorithm::ring) return collective(cost, comm, op, bytes, nccl);
  if (a == Algorithm::copy_ring) {
    const RingPlan plan = copy_ring_plan(engine, comm, op, bytes);
    return named("copy-engine ring", plan.steps * (plan.send_us + plan.delay_us), held(a));
  }
  only_all_reduce(a, op);
  if (a == Algorithm::hierarchical) return hierarchical_cost(machine, routes, cost, gpus, bytes, nccl);
  if (a == Algorithm::gather) return gather_cost(cost, comm, bytes, nccl);
  if (a == Algorithm::tree) {
    const Protocol p = ring_protocol(nccl, comm, op, bytes);
    return named(fmt::format("tree {}", name_of(p)), tree_us(tree_plan(p, cost, comm, bytes)), held(a));
  }
  if (policy.one_shot_GBps <= 0)
    throw InputError(fmt::format("`{}` needs the constants of a stack\n  = help: --stack vllm-0.24", name_of(a)));
  return a == Algorithm::one_shot ? named("one-shot", one_shot_us(policy, n, bytes), held(a))
                                  : named("two-shot", two_shot_us(policy, n, bytes), held(a));
}

}  // namespace moe
