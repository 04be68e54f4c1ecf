// Critical path, usage and fingerprint of timelines small enough to write down.
#include "catch.hpp"
#include "engine/engine.hpp"
#include "machines.hpp"
#include "timeline/critical_path.hpp"
#include "timeline/fingerprint.hpp"
#include "timeline/usage.hpp"

using namespace moe;

namespace {

/// The example of timeline/critical_path.hpp: gpu0 computes 10 us, then a 1 MB transfer shares a 1 GB/s link
/// with another.
struct Example {
  Example() {
    Builder b;
    work = b.compute(ServerId{0}, from_us(10), Category::attention, {b.name("attention")});
    send = b.transfer(links({0, 1}), Bytes{1e6}, Time{0}, Category::pipeline, {b.name("send")});
    other = b.transfer(links({1}), Bytes{1e6}, from_us(10), Category::all_to_all, {b.name("other")});
    b.order(work, send);
    program = b.seal();
    timeline = run(program, resources, Sharing::max_min);
  }
  OpId work{}, send{}, other{};
  Resources resources = machine(1, {10, 1});
  Program program;
  Timeline timeline;
};

}  // namespace

TEST_CASE("the critical path splits a transfer into its own time and the time lost on each link", "[unit]") {
  const Example e;
  const std::vector<Segment> expected{
      {e.work, from_us(0), from_us(10)},
      {e.send, from_us(10), from_us(1010)},
      {e.send, from_us(1010), from_us(2010), Owner::sharing, LinkId{1}},
  };
  CHECK(critical_path(e.program, e.timeline) == expected);
}

TEST_CASE("totals book work and sharing by category and loss by link", "[unit]") {
  const Example e;
  const PathTotals sums = totals(e.program, e.resources, critical_path(e.program, e.timeline));
  CHECK(sums.work[std::size_t(Category::attention)] == from_us(10));
  CHECK(sums.work[std::size_t(Category::pipeline)] == from_us(1000));
  CHECK(sums.sharing[std::size_t(Category::pipeline)] == from_us(1000));
  CHECK(sums.sharing[std::size_t(Category::all_to_all)] == Time{0});  // as slow, but nobody waits for it
  CHECK(sums.lost[LinkId{0}] == Time{0});
  CHECK(sums.lost[LinkId{1}] == from_us(1000));
}

TEST_CASE("usage counts bytes per link and time with a flow on it, without latency", "[unit]") {
  const Example e;
  const Usage used = usage(e.program, e.resources, e.timeline);
  CHECK(used.server_busy[ServerId{0}] == from_us(10));
  CHECK(used.link_bytes[LinkId{0}] == Bytes{1e6});
  CHECK(used.link_bytes[LinkId{1}] == Bytes{2e6});
  CHECK(used.link_busy[LinkId{0}] == from_us(2000));
  CHECK(used.link_busy[LinkId{1}] == from_us(2000));  // two flows at one time count once
  CHECK(used.link_cost[LinkId{1}] == from_us(1000));
}

TEST_CASE("a link is not busy between two flows", "[unit]") {
  Builder b;
  b.transfer(links({0}), Bytes{1e6}, Time{0}, Category::pipeline, {});
  b.transfer(links({0}), Bytes{1e6}, from_us(5000), Category::pipeline, {});
  const Program program = b.seal();
  const Resources resources = machine(0, {1});
  const Timeline t = run(program, resources, Sharing::max_min);
  CHECK(usage(program, resources, t).link_busy[LinkId{0}] == from_us(2000));
  CHECK(t.makespan == from_us(6000));
}

TEST_CASE("a fingerprint is FNV-1a over op, start and end", "[unit]") {
  // Of no ops: the offset basis of FNV-1a, 64 bits.
  CHECK(fingerprint(Timeline{}) == 0xcbf29ce484222325);
  // Of one op from 0 to 0: 24 zero bytes, each of which multiplies by the prime 0x100000001b3 modulo 2^64.
  Timeline one;
  one.start.push_back(Time{0});
  one.end.push_back(Time{0});
  std::uint64_t expected = 0xcbf29ce484222325;
  for (int byte = 0; byte < 24; ++byte) expected *= 0x100000001b3;
  CHECK(fingerprint(one) == expected);
}

TEST_CASE("one picosecond changes the fingerprint", "[unit]") {
  Example e;
  const auto before = fingerprint(e.timeline);
  e.timeline.end[e.send] += Time{1};
  CHECK(fingerprint(e.timeline) != before);
}
