#include "network/flows.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "engine/engine.hpp"
#include "network/fabric.hpp"
#include "network/pcie_rule.hpp"
#include "program/alone.hpp"
#include "program/builder.hpp"

namespace moe {
namespace {

constexpr double kGB = 1e9;

Program program_of(const Machine& machine, const Routes& routes, const std::vector<FlowPair>& pairs,
                   const FlowOptions& options) {
  Builder b;
  const std::uint16_t name = b.name(options.reads ? "read" : "write");
  for (const FlowPair& p : pairs)
    b.transfer(path_of(machine, routes.between_gpus(p.from, p.to)), Bytes{options.bytes}, Time{0},
               Category::all_to_all,
               {name, -1, static_cast<std::int16_t>(p.from), static_cast<std::int16_t>(p.to)},
               from_GBps(options.cap_GBps), p.weight);
  return b.seal();
}

Timeline play(const Machine& machine, const Program& program, const FlowOptions& options) {
  PcieRule rule(machine, std::vector<bool>(program.size(), options.reads));
  return run(program, fabric(machine), Sharing::max_min, options.corrected ? &rule : nullptr);
}

/// Sharing at the start, when every flow is active.
struct Snapshot {
  Resources nominal;
  Table<LinkId, Bandwidth> capacity;
  std::vector<ActiveFlow> flows;
  std::vector<Share> shares;
};

Snapshot snapshot_of(const Machine& machine, const Program& program, const FlowOptions& options) {
  Snapshot s;
  s.nominal = fabric(machine);
  s.capacity = s.nominal.capacity;
  for (std::size_t i = 0; i < program.size(); ++i)
    s.flows.push_back({OpId(i), program.path[OpId(i)], alone_Bps(program, s.nominal, OpId(i)), program.weight[OpId(i)]});
  PcieRule rule(machine, std::vector<bool>(program.size(), options.reads));
  for (const ActiveFlow& flow : s.flows) rule.begins(flow);
  if (options.corrected) rule.correct(s.flows, s.capacity);
  MaxMin solver(s.capacity.size(), s.flows.size());
  const auto shares = solver.solve(s.flows, s.capacity);
  s.shares.assign(shares.begin(), shares.end());
  return s;
}

std::vector<LinkResult> links_of(const Snapshot& s) {
  Table<LinkId, LinkResult> all(s.capacity.size());
  for (std::size_t i = 0; i < s.flows.size(); ++i)
    for (const LinkId link : s.flows[i].path) {
      all[link].carried_GBps += s.shares[i].rate_Bps / kGB;
      ++all[link].flows;
    }
  std::vector<LinkResult> used;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto id = static_cast<LinkId>(i);
    if (all[id].flows == 0 || s.nominal.capacity[id] >= kUnlimited) continue;
    LinkResult link = all[id];
    link.name = s.nominal.link_names[id];
    link.nominal_GBps = to_GBps(s.nominal.capacity[id]);
    link.capacity_GBps = to_GBps(s.capacity[id]);
    used.push_back(link);
  }
  std::stable_sort(used.begin(), used.end(), [](const LinkResult& a, const LinkResult& b) {
    return a.carried_GBps / a.capacity_GBps > b.carried_GBps / b.capacity_GBps;
  });
  return used;
}

/// The fullest link of the flow's path: the one that holds it back.
std::string holding_link(const Snapshot& s, std::size_t flow) {
  const double at_limit = s.flows[flow].limit_Bps;
  const bool own_cap = s.shares[flow].rate_Bps >= at_limit;
  const LinkId held = s.flows[flow].path[s.shares[flow].bottleneck];
  if (!own_cap) return s.nominal.link_names[held];
  for (const LinkId link : s.flows[flow].path)
    if (s.nominal.capacity[link].bytes_per_second <= at_limit) return s.nominal.link_names[link];
  return "";
}

}  // namespace

FlowsResult play_flows(const Machine& machine, const Routes& routes, const std::vector<FlowPair>& pairs,
                       const FlowOptions& options) {
  MOE_CHECK(!pairs.empty(), "there is at least one flow");
  const Program program = program_of(machine, routes, pairs, options);
  const Timeline timeline = play(machine, program, options);
  const Snapshot s = snapshot_of(machine, program, options);
  FlowsResult r;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double rate = s.shares[i].rate_Bps / kGB;
    r.flows.push_back({pairs[i], rate, s.flows[i].limit_Bps / kGB, to_us(timeline.end[OpId(i)]), holding_link(s, i)});
    r.sum_GBps += rate;
  }
  r.links = links_of(s);
  const auto total = [&](const Timeline& t) {
    return options.bytes * static_cast<double>(pairs.size()) / (to_us(t.makespan) * 1e3);
  };
  r.total_GBps = total(timeline);
  FlowOptions plain = options;
  plain.corrected = false;
  r.without_corrections_GBps = total(play(machine, program, plain));
  return r;
}

std::vector<double> flow_ends_us(const Machine& machine, const Routes& routes, const std::vector<FlowPair>& pairs,
                                 const FlowOptions& options) {
  const Program program = program_of(machine, routes, pairs, options);
  const Timeline timeline = play(machine, program, options);
  std::vector<double> ends;
  for (const Time end : timeline.end) ends.push_back(to_us(end));
  return ends;
}

}  // namespace moe
