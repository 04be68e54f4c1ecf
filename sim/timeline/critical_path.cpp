#include "timeline/critical_path.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace moe {

namespace {

/// Appends the pieces of one op, last piece first.
void append_backwards(const Program& program, const Timeline& timeline, OpId op, std::vector<Segment>& path) {
  const auto links = program.path[op];
  const auto lost = timeline.lost[op];
  Time to = timeline.end[op];
  for (std::size_t hop = links.size(); hop-- > 0;) {
    if (lost[hop] == Time{0}) continue;
    path.push_back({op, to - lost[hop], to, Owner::sharing, links[hop]});
    to -= lost[hop];
  }
  if (to > timeline.start[op]) path.push_back({op, timeline.start[op], to});
}

}  // namespace

std::vector<Segment> critical_path(const Program& program, const Timeline& timeline) {
  std::vector<Segment> path;
  if (program.size() == 0) return path;
  const auto last = std::max_element(timeline.end.begin(), timeline.end.end());
  OpId op = OpId(last - timeline.end.begin());
  while (op != kNoOp) {
    append_backwards(program, timeline, op, path);
    const OpId cause = timeline.cause[op];
    const Time let_go = cause == kNoOp ? Time{0} : timeline.end[cause];
    MOE_CHECK(timeline.start[op] == let_go, "an op starts when its cause ends");
    op = cause;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

PathTotals totals(const Program& program, const Resources& resources, const std::vector<Segment>& path) {
  PathTotals sums;
  sums.lost.assign(resources.capacity.size(), Time{0});
  for (const Segment& piece : path) {
    const auto category = static_cast<std::size_t>(program.category[piece.op]);
    const Time length = piece.to - piece.from;
    (piece.owner == Owner::work ? sums.work : sums.sharing)[category] += length;
    if (piece.owner == Owner::sharing) sums.lost[piece.link] += length;
  }
  return sums;
}

}  // namespace moe
