#include "timeline/usage.hpp"

#include <algorithm>
#include <vector>

#include "timeline/critical_path.hpp"

namespace moe {

namespace {

/// A flow is on a link from `from` to `to`.
struct Stay {
  LinkId link;
  Time from, to;
  friend auto operator<=>(const Stay&, const Stay&) = default;
};

/// Length of the union of the stays on each link.
void add_busy(std::vector<Stay> stays, Table<LinkId, Time>& busy) {
  std::sort(stays.begin(), stays.end());
  Time counted_to{0};
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const Stay& stay = stays[i];
    if (i == 0 || stays[i - 1].link != stay.link) counted_to = Time{0};
    busy[stay.link] += std::max(Time{0}, stay.to - std::max(stay.from, counted_to));
    counted_to = std::max(counted_to, stay.to);
  }
}

}  // namespace

Usage usage(const Program& program, const Resources& resources, const Timeline& timeline) {
  Usage sums;
  sums.server_busy.assign(resources.server_names.size(), Time{0});
  sums.link_bytes.assign(resources.capacity.size(), Bytes{0});
  sums.link_busy.assign(resources.capacity.size(), Time{0});
  std::vector<Stay> stays;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const auto op = OpId(i);
    if (program.kind[op] == Kind::compute) sums.server_busy[program.server[op]] += program.duration[op];
    for (const LinkId link : program.path[op]) {
      sums.link_bytes[link].count += program.bytes[op].count;
      stays.push_back({link, timeline.start[op] + program.latency[op], timeline.end[op]});
    }
  }
  add_busy(std::move(stays), sums.link_busy);
  sums.link_cost = totals(program, resources, critical_path(program, timeline)).lost;
  return sums;
}

}  // namespace moe
