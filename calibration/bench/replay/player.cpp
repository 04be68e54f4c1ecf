#include "replay/player.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "harness/check.hpp"
#include "harness/device_state.hpp"
#include "kernels/small.hpp"
#include "replay/team.hpp"

namespace moe::bench {
namespace {

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

/// Replays of the ops that the filter takes; the first ones, for `warm_ms`, are not counted.
std::vector<double> time(Team& team, const Team::Filter& filter, double warm_ms, int replays) {
  const GroupGraph graph(team.gpus(), [&] { team.enqueue(filter); });
  const double once_us = std::max(1.0, quantile(team.replay(graph, 3), 0.5));
  const int warm = std::clamp(static_cast<int>(1000 * warm_ms / once_us), 1, 20000);
  team.replay(graph, warm);
  return team.replay(graph, replays);
}

double empty_graph_us(Team& team, int replays) {
  const GroupGraph graph(team.gpus(), [&] {
    for (int gpu = 0; gpu < team.gpus().size(); ++gpu) {
      const OnDevice here(gpu);
      launch_empty(team.gpus().stream(gpu));
    }
  });
  team.replay(graph, replays);
  return quantile(team.replay(graph, replays), 0.5);
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
  out.sm_mhz_before = device_state(0).sm_mhz;
  Team team(program);
  const auto all = [](const ReplayOp&) { return true; };
  team.enqueue(all);  // libraries set up what they need: not while a graph is captured
  team.gpus().synchronise();
  out.step_us = time(team, all, options.warm_ms, options.replays);
  out.median_us = quantile(out.step_us, 0.5);
  out.low_us = quantile(out.step_us, 0.05);
  out.high_us = quantile(out.step_us, 0.95);
  out.empty_graph_us = empty_graph_us(team, options.replays);
  const DeviceState after = device_state(0);
  out.sm_mhz_after = after.sm_mhz;
  out.throttle = after.throttle;
  out.weight_bytes = static_cast<double>(team.rank(0).weight_bytes());
  out.cache_bytes = static_cast<double>(team.rank(0).cache_bytes());
  out.groups = groups_of(program);
  if (!options.attribute) return out;
  for (GroupTime& g : out.groups) {
    const auto only = [&](const ReplayOp& op) { return op.name == g.name; };
    const auto without = [&](const ReplayOp& op) { return op.name != g.name; };
    g.alone_us = quantile(time(team, only, 0, options.part_replays), 0.5);
    g.in_step_us = out.median_us - quantile(time(team, without, 0, options.part_replays), 0.5);
  }
  return out;
}

}  // namespace moe::bench
