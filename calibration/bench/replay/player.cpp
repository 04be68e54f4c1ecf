#include "replay/player.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "harness/check.hpp"
#include "harness/device_state.hpp"
#include "kernels/small.hpp"
#include "replay/team.hpp"

namespace moe::bench {
namespace {

/// A burst of replays and a pause of three times its length: on average a card stays below its power limit, and its
/// clocks are those of the short measurements that a profile is fitted from.
constexpr double kBurstUs = 10000, kPause = 3;
constexpr double kMostUs = 200000;    // of counted replays, for one graph
constexpr int kLeastReplays = 12, kPartReplays = 6, kSustainedReplays = 12;
constexpr double kSustainUs = 250000; // long enough for the power limit to act

double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[std::min(v.size() - 1, static_cast<std::size_t>(q * static_cast<double>(v.size())))];
}

std::vector<GroupTime> groups_of(const ReplayProgram& program) {
  std::vector<GroupTime> groups;
  for (const ReplayOp& op : program.ops) {
    if (op.rank != 0) continue;
    auto g = std::find_if(groups.begin(), groups.end(), [&](const GroupTime& t) { return t.name == op.name; });
    if (g == groups.end()) {
      groups.push_back({op.name, op.category, op.op_class, op.path});
      g = groups.end() - 1;
    }
    ++g->calls;
    g->simulated_us += op.simulated_us;
  }
  return groups;
}

/// In bursts, each after one replay that is not counted.
std::vector<double> in_bursts(const Team& team, const GroupGraph& graph, int replays) {
  const double once_us = std::max(1.0, quantile(team.replay(graph, 2), 0.5));
  const int burst = std::max(1, static_cast<int>(kBurstUs / once_us));
  std::vector<double> out;
  while (static_cast<int>(out.size()) < replays) {
    const std::vector<double> some = team.replay(graph, 1 + std::min(burst, replays - static_cast<int>(out.size())));
    out.insert(out.end(), some.begin() + 1, some.end());
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(kPause * once_us * static_cast<double>(some.size())));
  }
  return out;
}

double part_us(Team& team, const Team::Filter& filter) {
  const GroupGraph graph(team.gpus(), [&] { team.enqueue(filter); });
  return quantile(in_bursts(team, graph, kPartReplays), 0.5);
}

double empty_graph_us(const Team& team) {
  const GroupGraph graph(team.gpus(), [&] {
    for (int gpu = 0; gpu < team.gpus().size(); ++gpu) {
      const OnDevice here(team.gpus().device(gpu));
      launch_empty(team.gpus().stream(gpu));
    }
  });
  return quantile(in_bursts(team, graph, 60), 0.5);
}

void time_step(Team& team, const PlayOptions& options, Played& out) {
  const GroupGraph graph(team.gpus(), [&] { team.enqueue([](const ReplayOp&) { return true; }); });
  const double once_us = std::max(1.0, quantile(team.replay(graph, 3), 0.5));
  const int wanted = std::clamp(static_cast<int>(kMostUs / once_us), std::min(kLeastReplays, options.replays), options.replays);
  const std::vector<double> step = in_bursts(team, graph, wanted);
  out.sm_mhz = device_state(0).sm_mhz;
  out.replays = wanted;
  out.median_us = quantile(step, 0.5);
  out.low_us = quantile(step, 0.05);
  out.high_us = quantile(step, 0.95);
  team.replay(graph, static_cast<int>(kSustainUs / once_us) + 1);
  out.sustained_us = quantile(team.replay(graph, kSustainedReplays), 0.5);
  const DeviceState after = device_state(0);
  out.sustained_sm_mhz = after.sm_mhz;
  out.throttle = after.throttle;
}

}  // namespace

std::vector<std::string> refusals(const ReplayProgram& program) {
  std::map<std::string, int> counts;
  for (const ReplayOp& op : program.ops)
    if (const std::string why = refusal(op); !why.empty()) ++counts[fmt::format("{}: {}", op.name, why)];
  std::vector<std::string> out;
  for (const auto& [why, ops] : counts) out.push_back(fmt::format("{} ({} ops)", why, ops));
  return out;
}

Played play(const ReplayProgram& program, const PlayOptions& options) {
  Played out;
  Team team(program);
  team.enqueue([](const ReplayOp&) { return true; });  // libraries set up what they need: not while a graph is captured
  team.gpus().synchronise();
  out.weight_bytes = static_cast<double>(team.rank(0).weight_bytes());
  out.cache_bytes = static_cast<double>(team.rank(0).cache_bytes());
  out.empty_graph_us = empty_graph_us(team);
  out.groups = groups_of(program);
  time_step(team, options, out);
  if (!options.attribute) return out;
  for (GroupTime& g : out.groups) {
    g.alone_us = part_us(team, [&](const ReplayOp& op) { return op.name == g.name; }) - out.empty_graph_us;
    if (options.in_step) g.in_step_us = out.median_us - part_us(team, [&](const ReplayOp& op) { return op.name != g.name; });
  }
  return out;
}

}  // namespace moe::bench
