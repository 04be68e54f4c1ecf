#include "engine/max_min.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace moe {

/// Levels that differ by rounding only are one level; 1e-12 is far below anything measurable.
constexpr double kSameLevel = 1 + 1e-12;

MaxMin::MaxMin(std::size_t links, std::size_t most_flows) : loads_(links), counted_(links) {
  used_.reserve(links);
  rising_.reserve(most_flows);
  shares_.reserve(most_flows);
}

std::span<const Share> MaxMin::solve(std::span<const ActiveFlow> flows,
                                     const Table<LinkId, Bandwidth>& capacity) {
  counted_.assign(counted_.size(), 0);
  for (const ActiveFlow& flow : flows)
    for (const LinkId link : flow.path) counted_[link] += flow.weight;
  return solve(flows, capacity, counted_);
}

std::span<const Share> MaxMin::solve(std::span<const ActiveFlow> flows, const Table<LinkId, Bandwidth>& capacity,
                                     const Table<LinkId, std::uint32_t>& crossing) {
  open(flows, capacity, crossing);
  while (!used_.empty()) {
    const double level_Bps = next_level(flows);
    stop_flows(flows, level_Bps);
    close_round(level_Bps);
  }
  for (const std::uint32_t i : rising_) shares_[i] = {flows[i].limit_Bps, 0};
  return shares_;
}

/// A link that gives every flow its limit can never be full: rates per weight rise to the highest limit and no further.
void MaxMin::open(std::span<const ActiveFlow> flows, const Table<LinkId, Bandwidth>& capacity,
                  const Table<LinkId, std::uint32_t>& crossing) {
  shares_.resize(flows.size());
  rising_.resize(flows.size());
  std::iota(rising_.begin(), rising_.end(), 0U);
  double highest_Bps = 0;
  for (const ActiveFlow& flow : flows) highest_Bps = std::max(highest_Bps, flow.limit_Bps / flow.weight);
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    const auto link = static_cast<LinkId>(i);
    if (crossing[link] == 0) continue;
    const double left_Bps = capacity[link].bytes_per_second;
    const bool can_fill = left_Bps < highest_Bps * crossing[link];
    loads_[link] = {left_Bps, std::numeric_limits<double>::infinity(), crossing[link], 0};
    if (can_fill) used_.push_back(link);
  }
}

/// The rate per weight at which the next link is full or the next flow reaches its limit.
double MaxMin::next_level(std::span<const ActiveFlow> flows) {
  double level_Bps = std::numeric_limits<double>::infinity();
  for (const LinkId link : used_) {
    Load& load = loads_[link];
    load.fair_Bps = load.left_Bps / load.rising;
    level_Bps = std::min(level_Bps, load.fair_Bps);
  }
  for (const std::uint32_t i : rising_) level_Bps = std::min(level_Bps, flows[i].limit_Bps / flows[i].weight);
  return level_Bps;
}

/// Stops the flows at their limit or on a full link. fair_Bps stays as it was: no flow sees another.
void MaxMin::stop_flows(std::span<const ActiveFlow> flows, double level_Bps) {
  const double full_Bps = level_Bps * kSameLevel;
  const auto stops = [&](std::uint32_t i) {
    const ActiveFlow& flow = flows[i];
    const bool at_limit = flow.limit_Bps <= full_Bps * flow.weight;
    std::uint32_t hop = 0;
    while (hop < flow.path.size() && loads_[flow.path[hop]].fair_Bps > full_Bps) ++hop;
    if (!at_limit && hop == flow.path.size()) return false;
    shares_[i] = at_limit ? Share{flow.limit_Bps, 0} : Share{level_Bps * flow.weight, hop};
    for (const LinkId link : flow.path) loads_[link].stopping += flow.weight;
    return true;
  };
  std::erase_if(rising_, stops);
}

void MaxMin::close_round(double level_Bps) {
  const auto is_done = [&](LinkId link) {
    Load& load = loads_[link];
    load.left_Bps -= level_Bps * load.stopping;
    load.rising -= load.stopping;
    load.stopping = 0;
    return load.rising == 0;
  };
  std::erase_if(used_, is_done);
}

}  // namespace moe
