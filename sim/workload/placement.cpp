#include "workload/placement.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

#include "base/check.hpp"

namespace moe {
namespace {

void put(ExpertMap& map, int expert, int rank) {
  auto& held = map.held[static_cast<std::size_t>(rank)];
  map.copies[static_cast<std::size_t>(expert)].push_back({rank, static_cast<int>(held.size())});
  held.push_back(expert);
}

/// Copies per expert: each replica to the expert with the most load per copy, ties to the lower number.
std::vector<int> count_copies(const std::vector<double>& load, int replicas, int ranks) {
  std::vector<int> copies(load.size(), 1);
  using Entry = std::pair<double, int>;  // load per copy, minus the expert's number
  std::priority_queue<Entry> busiest;
  for (std::size_t e = 0; e < load.size(); ++e) busiest.emplace(load[e], -static_cast<int>(e));
  for (int i = 0; i < replicas && !busiest.empty();) {
    const auto e = static_cast<std::size_t>(-busiest.top().second);
    busiest.pop();
    if (copies[e] >= ranks) continue;
    ++copies[e];
    ++i;
    busiest.emplace(load[e] / copies[e], -static_cast<int>(e));
  }
  return copies;
}

/// The least loaded rank with a free slot that does not hold the expert; else the least loaded with a free slot.
int rank_for(const ExpertMap& map, int expert, const std::vector<double>& sum, const std::vector<int>& free) {
  int best = -1;
  bool best_is_new = false;
  const auto& copies = map.copies[static_cast<std::size_t>(expert)];
  for (int r = 0; r < map.ranks(); ++r) {
    if (free[static_cast<std::size_t>(r)] == 0) continue;
    const bool is_new = std::none_of(copies.begin(), copies.end(), [&](const ExpertSlot& s) { return s.rank == r; });
    const bool lighter = best < 0 || sum[static_cast<std::size_t>(r)] < sum[static_cast<std::size_t>(best)];
    if (best < 0 || (is_new && !best_is_new) || (is_new == best_is_new && lighter)) best = r, best_is_new = is_new;
  }
  return best;
}

void place_balanced(ExpertMap& map, const std::vector<double>& load, int replicas) {
  const int ranks = map.ranks();
  const std::vector<int> copies = count_copies(load, replicas, ranks);
  std::vector<int> order(load.size());
  std::iota(order.begin(), order.end(), 0);
  auto per_copy = [&](int e) { return load[static_cast<std::size_t>(e)] / copies[static_cast<std::size_t>(e)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return per_copy(a) > per_copy(b); });
  const int slots = std::accumulate(copies.begin(), copies.end(), 0);
  std::vector<int> free(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) free[static_cast<std::size_t>(r)] = slots / ranks + (r < slots % ranks ? 1 : 0);
  std::vector<double> sum(free.size());
  for (const int e : order)
    for (int c = 0; c < copies[static_cast<std::size_t>(e)]; ++c) {
      const int r = rank_for(map, e, sum, free);
      put(map, e, r);
      sum[static_cast<std::size_t>(r)] += per_copy(e);
      --free[static_cast<std::size_t>(r)];
    }
}

}  // namespace

ExpertMap place_experts(const Placement& placement, int ranks, const std::vector<double>& load) {
  MOE_CHECK(ranks > 0 && !load.empty(), "experts need a rank to be on");
  ExpertMap map;
  map.held.resize(static_cast<std::size_t>(ranks));
  map.copies.resize(load.size());
  if (placement.kind == Placement::Kind::balanced) {
    place_balanced(map, load, placement.replicas);
    return map;
  }
  const int experts = static_cast<int>(load.size());
  for (int r = 0; r < ranks; ++r)
    for (int e = experts * r / ranks; e < experts * (r + 1) / ranks; ++e) put(map, e, r);
  return map;
}

}  // namespace moe
