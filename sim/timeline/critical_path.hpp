// Where did the time go? The chain of ops that made the step as long as it is: from the op that ended last
// back through the op whose end let it start, and so on to time 0. An op starts the moment its cause ends, so
// the segments lie end to end and add up to the makespan exactly.
//
// Example: gpu0 computes 10 us, then sends 1 MB at 1 GB/s while another flow shares link 3 all the time:
//
//   op             from      to       owner     link
//   0 attention    0 us      10 us    work
//   1 send         10 us     1010 us  work
//   1 send         1010 us   2010 us  sharing   3
#pragma once
#include <array>
#include <vector>

#include "program/program.hpp"
#include "timeline/timeline.hpp"

namespace moe {

/// Who owns a piece of the critical path: the op itself, or the other flows on a link.
enum class Owner : std::uint8_t { work, sharing };

/// A transfer that lost time is cut into the time it takes alone and one piece per link where it lost some.
/// The cuts are bookkeeping: in truth it lost a bit all along.
struct Segment {
  OpId op;
  Time from, to;
  Owner owner = Owner::work;
  LinkId link{};  ///< where the time was lost; sharing only
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// In order of time; pieces of no length are left out. Of several ops that end last, the one with the lowest
/// id.
std::vector<Segment> critical_path(const Program& program, const Timeline& timeline);

using CategoryTimes = std::array<Time, kCategoryNames.size()>;

/// Sums over a critical path: work and sharing of all categories, and work of all categories plus `lost` of
/// all links, each add up to the makespan.
struct PathTotals {
  CategoryTimes work{};      ///< time the ops take alone
  CategoryTimes sharing{};   ///< time lost to other flows
  Table<LinkId, Time> lost;  ///< the same loss by the link where it happened
};
PathTotals totals(const Program& program, const Resources& resources, const std::vector<Segment>& path);

}  // namespace moe
