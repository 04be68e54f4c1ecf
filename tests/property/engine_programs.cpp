// What must hold for every program, on random ones. The seed in a failure message reproduces it.
#include <map>
#include <numeric>

#include "catch.hpp"
#include "engine/engine.hpp"
#include "machines.hpp"
#include "timeline/critical_path.hpp"
#include "timeline/fingerprint.hpp"
#include "timeline/usage.hpp"

using namespace moe;

namespace {

/// A random program that has been run.
struct Played {
  Played(int seed, Sharing sharing) {
    Random random(static_cast<std::uint64_t>(seed));
    resources = random_machine(random);
    program = random_program(random);
    timeline = run(program, resources, sharing);
  }
  Resources resources;
  Program program;
  Timeline timeline;
};

template <class Times>
Time sum(const Times& times) {
  return std::accumulate(times.begin(), times.end(), Time{0});
}

/// The longest chain of ops if nobody waits for a server and nobody shares a link. Predecessors have lower
/// ids.
Time longest_chain(const Program& program, const Timeline& t) {
  Table<OpId, Time> earliest(program.size());
  Time longest{0};
  for (const OpId op : ops_of(program)) {
    const Time end = earliest[op] + t.alone[op];
    longest = std::max(longest, end);
    for (const OpId after : program.successors[op]) earliest[after] = std::max(earliest[after], end);
  }
  return longest;
}

}  // namespace

TEST_CASE("the segments of the critical path lie end to end and add up to the makespan exactly",
          "[property]") {
  const int seed = GENERATE(range(1, 201));
  CAPTURE(seed);
  const Played p(seed, seed % 2 == 0 ? Sharing::max_min : Sharing::alone);
  Time at{0};
  bool unbroken = true;
  for (const Segment& piece : critical_path(p.program, p.timeline)) {
    unbroken = unbroken && piece.from == at && piece.to > piece.from;
    at = piece.to;
  }
  CHECK(unbroken);
  CHECK(at == p.timeline.makespan);
}

TEST_CASE("the totals of the critical path add up to the makespan, by category and by link", "[property]") {
  const int seed = GENERATE(range(1, 201));
  CAPTURE(seed);
  const Played p(seed, Sharing::max_min);
  const PathTotals sums = totals(p.program, p.resources, critical_path(p.program, p.timeline));
  CHECK(sum(sums.work) + sum(sums.sharing) == p.timeline.makespan);
  CHECK(sum(sums.lost) == sum(sums.sharing));
}

TEST_CASE("what a transfer loses on its links is what it takes longer than alone", "[property]") {
  const int seed = GENERATE(range(1, 401));
  CAPTURE(seed);
  const Played p(seed, Sharing::max_min);
  bool adds_up = true, is_loss = true;
  for (const OpId op : ops_of(p.program)) {
    const auto lost = p.timeline.lost[op];
    adds_up = adds_up && sum(lost) == p.timeline.end[op] - p.timeline.start[op] - p.timeline.alone[op];
    for (const Time there : lost) is_loss = is_loss && there >= Time{0};
  }
  CHECK(adds_up);
  CHECK(is_loss);
}

TEST_CASE("nobody loses anything when nobody shares", "[property]") {
  const int seed = GENERATE(range(1, 101));
  CAPTURE(seed);
  const Played p(seed, Sharing::alone);
  bool as_alone = true;
  for (const OpId op : ops_of(p.program)) {
    as_alone = as_alone && p.timeline.end[op] - p.timeline.start[op] == p.timeline.alone[op] &&
               sum(p.timeline.lost[op]) == Time{0};
  }
  CHECK(as_alone);
}

TEST_CASE("an op is ready when its last predecessor ends, and starts when its cause ends", "[property]") {
  const int seed = GENERATE(range(1, 201));
  CAPTURE(seed);
  const Played p(seed, Sharing::max_min);
  const Timeline& t = p.timeline;
  Table<OpId, Time> last(p.program.size());
  for (const OpId op : ops_of(p.program)) {
    for (const OpId after : p.program.successors[op]) last[after] = std::max(last[after], t.end[op]);
  }
  bool ready = true, caused = true, explained = true;
  for (const OpId op : ops_of(p.program)) {
    ready = ready && t.ready[op] == last[op];
    caused = caused && t.start[op] == (t.cause[op] == kNoOp ? Time{0} : t.end[t.cause[op]]);
    explained = explained && (t.wait[op] == Wait::queue) == (t.start[op] > t.ready[op]);
  }
  CHECK(ready);
  CHECK(caused);
  CHECK(explained);
}

TEST_CASE("a server runs one op at a time, in the order of getting ready", "[property]") {
  const int seed = GENERATE(range(1, 201));
  CAPTURE(seed);
  const Played p(seed, Sharing::max_min);
  const Timeline& t = p.timeline;
  bool one_at_a_time = true, first_come = true;
  for (const OpId a : ops_of(p.program)) {
    for (const OpId b : ops_of(p.program)) {
      if (a == b || p.program.kind[a] != Kind::compute || p.program.kind[b] != Kind::compute) continue;
      if (p.program.server[a] != p.program.server[b]) continue;
      one_at_a_time = one_at_a_time && (t.end[a] <= t.start[b] || t.end[b] <= t.start[a]);
      first_come = first_come && (t.ready[a] >= t.ready[b] || t.start[a] <= t.start[b]);
    }
  }
  CHECK(one_at_a_time);
  CHECK(first_come);
}

TEST_CASE("no step is shorter than its longest chain, its busiest server or its busiest link", "[property]") {
  const int seed = GENERATE(range(1, 201));
  CAPTURE(seed);
  const Played p(seed, Sharing::max_min);
  const Usage used = usage(p.program, p.resources, p.timeline);
  CHECK(p.timeline.makespan >= longest_chain(p.program, p.timeline));
  for (const Time busy : used.server_busy) CHECK(p.timeline.makespan >= busy);
  for (std::size_t i = 0; i < kRandomLinks; ++i) {
    // Bytes take bytes / capacity on a link, and the link is busy at least that long (1 ps of rounding per
    // flow).
    const auto link = LinkId(i);
    const Time bound = to_time(used.link_bytes[link] / p.resources.capacity[link]);
    CHECK(used.link_busy[link] + Time{60} >= bound);
    CHECK(p.timeline.makespan >= used.link_busy[link]);
  }
}

TEST_CASE("the same input gives the same fingerprint", "[property]") {
  const int seed = GENERATE(range(1, 51));
  CAPTURE(seed);
  const Played first(seed, Sharing::max_min), second(seed, Sharing::max_min),
      other(seed + 1000, Sharing::max_min);
  CHECK(fingerprint(first.timeline) == fingerprint(second.timeline));
  CHECK(fingerprint(first.timeline) != fingerprint(other.timeline));
}

TEST_CASE("a step with every time twice as long is twice as long", "[property]") {
  const int seed = GENERATE(range(1, 201));
  CAPTURE(seed);
  Played p(seed, Sharing::max_min);
  for (const OpId op : ops_of(p.program)) {
    p.program.duration[op] *= 2;
    p.program.latency[op] *= 2;
    p.program.rate_cap[op].bytes_per_second /= 2;
  }
  for (Bandwidth& capacity : p.resources.capacity) capacity.bytes_per_second /= 2;
  const Timeline slow = run(p.program, p.resources, Sharing::max_min);
  const Time difference = slow.makespan - 2 * p.timeline.makespan;
  CHECK(std::abs(difference.count()) <= static_cast<std::int64_t>(p.program.size()));
}
