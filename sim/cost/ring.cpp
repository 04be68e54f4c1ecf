#include "cost/ring.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace moe {
namespace {

constexpr double kFullPassBytes = 4096;  ///< 512 threads of 8 B
constexpr int kFullThreads = 512;
constexpr double kBytesPerUsPerGBps = 1e3;

double alpha_ll_us(const CommCost& cost, const Communicator& comm, std::size_t hop) {
  const TransportCost& t = transport_cost(cost, comm.hops[hop]);
  return t.alpha_ll_us + (t.adds_route_latency ? comm.hop_latency_us[hop] : 0);
}

double mean_alpha_ll_us(const CommCost& cost, const Communicator& comm) {
  double sum = 0;
  for (std::size_t i = 0; i < comm.hops.size(); ++i) sum += alpha_ll_us(cost, comm, i);
  return sum / static_cast<double>(comm.hops.size());
}

double mean_alpha_simple_us(const CommCost& cost, const Communicator& comm) {
  double sum = 0;
  for (const Transport t : comm.hops) sum += transport_cost(cost, t).alpha_simple_us;
  return sum / static_cast<double>(comm.hops.size());
}

/// The rate of a ring under Simple: its slowest hop.
double slowest_GBps(const CommCost& cost, const Communicator& comm) {
  double rate = transport_cost(cost, comm.hops.front()).rate_simple_GBps;
  for (const Transport t : comm.hops) rate = std::min(rate, transport_cost(cost, t).rate_simple_GBps);
  return rate;
}

/// `first + extra` of an LL step.
double passes_us(const CommCost& cost, const Communicator& comm, double bytes) {
  const LlGeometry g = ll_geometry(bytes, comm.ranks(), comm.channels, cost.ll_min_threads);
  const TransportCost& worst = transport_cost(cost, worst_hop(comm));
  const double more = g.passes - 1;
  const double polls = cost.ll_whole_pass ? std::ceil(more) : more;
  const double first = worst.tau1_ll_us * std::min(g.step_bytes, g.pass_bytes) / kFullPassBytes;
  return first + polls * (worst.tau_ll_us - worst.tau1_ll_us) + more * worst.tau1_ll_us * g.threads / kFullThreads;
}

double at_most_share(double rate_GBps, const Communicator& comm) {
  return comm.share_GBps > 0 ? std::min(rate_GBps, comm.share_GBps) : rate_GBps;
}

double start_us(const CommCost& cost, const Communicator& comm) {
  return cost.t_base_us + transport_cost(cost, worst_hop(comm)).start_us;
}

}  // namespace

const TransportCost& transport_cost(const CommCost& cost, Transport t) {
  const auto found = cost.transport.find(std::string(name_of(t)));
  if (found == cost.transport.end())
    throw Infeasible("not-calibrated",
                     fmt::format("the profile has no communication parameters for the transport `{}`", name_of(t)));
  return found->second;
}

bool is_nvlink(Transport t) { return t == Transport::nvlink || t == Transport::nvlink_pair; }

Transport worst_hop(const Communicator& comm) { return *std::max_element(comm.hops.begin(), comm.hops.end()); }

int ring_steps(CollectiveOp op, int ranks) {
  MOE_CHECK(op != CollectiveOp::all_to_all, "all-to-all is not a ring");
  return op == CollectiveOp::all_reduce ? 2 * (ranks - 1) : ranks - 1;
}

double wire_factor(Protocol p) {
  return p == Protocol::ll ? 2.0 : p == Protocol::ll128 ? 128.0 / 120.0 : 1.0;
}

double nccl_expects_us(Protocol p, CollectiveOp op, double bytes, const Communicator& comm) {
  struct Row {
    double base, pcie, nvlink, efficiency;
  };
  constexpr Row kLl{6.6, 1.0, 0.6, 0.5}, kLl128{14.0, 2.5, 1.9, 0.92}, kSimple{8.4, 5.7, 3.4, 1.0};
  const Row& row = p == Protocol::ll ? kLl : p == Protocol::ll128 ? kLl128 : kSimple;
  const double k = ring_steps(op, comm.ranks()), n = comm.ranks();
  return row.base + k * (is_nvlink(worst_hop(comm)) ? row.nvlink : row.pcie) +
         bytes * k / (n * row.efficiency * comm.graph_GBps * kBytesPerUsPerGBps);
}

Protocol nccl_choice(const std::vector<Protocol>& allowed, CollectiveOp op, double bytes, const Communicator& comm) {
  MOE_CHECK(!allowed.empty(), "NCCL may choose from at least one protocol");
  return *std::min_element(allowed.begin(), allowed.end(), [&](Protocol a, Protocol b) {
    return nccl_expects_us(a, op, bytes, comm) < nccl_expects_us(b, op, bytes, comm);
  });
}

LlGeometry ll_geometry(double bytes, int ranks, int channels, int min_threads) {
  const double bytes_per_thread = 8.0 * ranks;
  int threads = kFullThreads;
  const auto too_small = [&] { return bytes < channels * threads * bytes_per_thread; };
  while (too_small() && channels > 1) --channels;
  while (too_small() && threads % 128 == 0) threads /= 2;
  threads = std::max(threads, min_threads);
  LlGeometry g{channels, threads, bytes / (ranks * channels), 8.0 * threads, 1};
  g.passes = std::max(1.0, g.step_bytes / g.pass_bytes);
  return g;
}

double ring_ll_us(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes) {
  const double passes = passes_us(cost, comm, bytes);
  const double wire = wire_factor(Protocol::ll) * bytes / comm.ranks() /
                      (at_most_share(cost.wire_GBps, comm) * kBytesPerUsPerGBps);
  const double step = std::max(mean_alpha_ll_us(cost, comm) + passes, wire);
  return start_us(cost, comm) + ring_steps(op, comm.ranks()) * step + cost.tail_ll * passes;
}

double ring_ll128_us(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes) {
  const double rate = at_most_share(cost.ll128_rate_GBps, comm) * kBytesPerUsPerGBps;
  const double wire = wire_factor(Protocol::ll128) * bytes / comm.ranks() / rate;
  const double step = cost.ll128_alpha_factor * mean_alpha_ll_us(cost, comm) + wire;
  return start_us(cost, comm) + ring_steps(op, comm.ranks()) * step + cost.tail_simple * wire;
}

double ring_simple_us(const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes) {
  const double rate = at_most_share(slowest_GBps(cost, comm), comm) * kBytesPerUsPerGBps;
  const double wire = bytes / comm.ranks() / rate;
  const double step = mean_alpha_simple_us(cost, comm) + wire;
  return start_us(cost, comm) + cost.b_simple_us + ring_steps(op, comm.ranks()) * step + cost.tail_simple * wire;
}

RingPlan ring_plan(Protocol p, const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes) {
  RingPlan plan;
  plan.before_us = start_us(cost, comm);
  plan.steps = ring_steps(op, comm.ranks());
  plan.streams = p == Protocol::ll ? ll_geometry(bytes, comm.ranks(), comm.channels, cost.ll_min_threads).channels
                                   : comm.channels;
  plan.wire_bytes = wire_factor(p) * bytes / comm.ranks();
  const auto on_wire_us = [&](double GBps) {
    return plan.wire_bytes / (at_most_share(GBps, comm) * kBytesPerUsPerGBps);
  };
  if (p == Protocol::ll) {
    const double passes = passes_us(cost, comm, bytes), wire = on_wire_us(cost.wire_GBps);
    plan.send_us = std::max(passes, wire);
    plan.delay_us = std::max(mean_alpha_ll_us(cost, comm) + passes, wire) - plan.send_us;
    plan.after_us = cost.tail_ll * passes;
    return plan;
  }
  const bool simple = p == Protocol::simple;
  plan.send_us = on_wire_us(simple ? slowest_GBps(cost, comm) : cost.ll128_rate_GBps);
  plan.delay_us = simple ? mean_alpha_simple_us(cost, comm) : cost.ll128_alpha_factor * mean_alpha_ll_us(cost, comm);
  plan.before_us += simple ? cost.b_simple_us : 0;
  plan.after_us = cost.tail_simple * plan.send_us;
  return plan;
}

double ring_us(Protocol p, const CommCost& cost, const Communicator& comm, CollectiveOp op, double bytes) {
  switch (p) {
    case Protocol::ll: return ring_ll_us(cost, comm, op, bytes);
    case Protocol::ll128: return ring_ll128_us(cost, comm, op, bytes);
    case Protocol::simple: return ring_simple_us(cost, comm, op, bytes);
  }
  return 0;
}

}  // namespace moe
