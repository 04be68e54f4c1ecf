// Closed forms of flows on shared links. 1 GB/s = 1 B/ns = 1 MB/ms, so sizes in MB over GB/s are times in ms.
#include "catch.hpp"
#include "engine/engine.hpp"
#include "machines.hpp"

using namespace moe;

namespace {

OpId send(Builder& b, std::initializer_list<int> path, double bytes, double latency_us = 0,
          double cap_GBps = 0) {
  return b.transfer(links(path), Bytes{bytes}, from_us(latency_us), Category::all_to_all, {b.name("send")},
                    from_GBps(cap_GBps));
}

}  // namespace

TEST_CASE("one transfer alone takes its latency plus its bytes over the narrowest link", "[analytic]") {
  Builder b;
  const OpId op = send(b, {0, 1, 2}, 1e6, 1.5);
  // 1.5 us + 1 MB / 25 GB/s = 1.5 us + 40 us, under both models.
  for (const Sharing sharing : {Sharing::alone, Sharing::max_min}) {
    Builder copy = b;
    const Timeline t = run(copy.seal(), machine(0, {50, 25, 100}), sharing);
    CHECK(t.end[op] == from_us(41.5));
    CHECK(t.alone[op] == from_us(41.5));
    CHECK(t.makespan == from_us(41.5));
  }
}

TEST_CASE("a transfer alone is exact to the picosecond for odd sizes", "[analytic]") {
  Builder b;
  const OpId op = send(b, {0}, 12345.0, 0.777);
  const Timeline t = run(b.seal(), machine(0, {56.4}), Sharing::max_min);
  // 12345 B / 56.4 B/ns = 218.88297872 ns, rounded once to 218'883 ps; plus 777'000 ps.
  CHECK(t.end[op] == Time{777'000 + 218'883});
}

TEST_CASE("a flow that comes and goes elsewhere does not move a flow by a picosecond", "[analytic]") {
  Builder b;
  const OpId op = send(b, {0}, 12345.0, 0.777);
  for (int i = 0; i < 9; ++i) send(b, {1}, 1000.0 * i + 1, 0.7 + 0.03 * i);  // nine solves while op runs
  const Timeline t = run(b.seal(), machine(0, {56.4, 30}), Sharing::max_min);
  CHECK(t.solves > 9);
  CHECK(t.end[op] == Time{777'000 + 218'883});
  CHECK(t.lost[op][0] == Time{0});
}

TEST_CASE("two equal flows on one link each get half", "[analytic]") {
  Builder b;
  const OpId a = send(b, {0}, 1e6, 1), c = send(b, {0}, 1e6, 1);
  const Timeline t = run(b.seal(), machine(0, {1}), Sharing::max_min);
  // 1 us + 1 MB / 0.5 GB/s = 2001 us; alone 1001 us, so 1000 us are lost on the link.
  for (const OpId op : {a, c}) {
    CHECK(t.end[op] == from_us(2001));
    CHECK(t.alone[op] == from_us(1001));
    CHECK(t.lost[op][0] == from_us(1000));
  }
  CHECK(t.solves == 1);
}

TEST_CASE("a late flow halves the first until it ends", "[analytic]") {
  // The example of engine/fluid.hpp with ns for s: a 100 B from 0, b 25 B from 5 ns, link 10 B/ns.
  Builder b;
  const OpId a = send(b, {0}, 100), c = send(b, {0}, 25, 0.005);
  const Timeline t = run(b.seal(), machine(0, {10}), Sharing::max_min);
  // a: 50 B by 5 ns, 25 B by 10 ns at 5 B/ns, the last 25 B at 10 B/ns until 12.5 ns. b: 25 B at 5 B/ns until
  // 10 ns.
  CHECK(t.end[a] == Time{12'500});
  CHECK(t.end[c] == Time{10'000});
  CHECK(t.lost[a][0] == Time{2'500});
  CHECK(t.lost[c][0] == Time{2'500});
}

TEST_CASE("nobody shares under the alone model", "[analytic]") {
  Builder b;
  const OpId a = send(b, {0}, 1e6, 1), c = send(b, {0}, 1e6, 1);
  const Timeline t = run(b.seal(), machine(0, {1}), Sharing::alone);
  CHECK(t.end[a] == from_us(1001));
  CHECK(t.end[c] == from_us(1001));
  CHECK(t.solves == 0);
}

TEST_CASE("parking lot: the long flow loses on the fuller link and the short one takes the rest",
          "[analytic]") {
  // Links of 12 GB/s; a crosses both, b only L0, c and d only L1, 12 MB each.
  // L1 fills first at 4 GB/s: a, c, d. b gets 12 - 4 = 8 GB/s and ends at 1.5 ms; the other three end at 3
  // ms.
  Builder b;
  const OpId a = send(b, {0, 1}, 12e6), short0 = send(b, {0}, 12e6);
  const OpId c = send(b, {1}, 12e6), d = send(b, {1}, 12e6);
  const Timeline t = run(b.seal(), machine(0, {12, 12}), Sharing::max_min);
  CHECK(t.end[short0] == from_us(1500));
  for (const OpId op : {a, c, d}) CHECK(t.end[op] == from_us(3000));
  CHECK(t.lost[a][0] == Time{0});
  CHECK(t.lost[a][1] == from_us(2000));  // alone 1 ms
  CHECK(t.lost[short0][0] == from_us(500));
}

TEST_CASE("the loss of a flow follows its bottleneck from link to link", "[analytic]") {
  // a crosses L0 and L1 (10 B/ns both), 100 B. On L0 b sends 25 B from 0; on L1 c sends 25 B from 5 ns.
  // 0-5 ns: a and b at 5; both at 25 B. b ends at 5. 5-10 ns: a and c at 5, c ends at 10 with a at 50 B. Then
  // a at 10 until 15 ns. a loses half of 5 ns on each link.
  Builder b;
  const OpId a = send(b, {0, 1}, 100);
  send(b, {0}, 25);
  send(b, {1}, 25, 0.005);
  const Timeline t = run(b.seal(), machine(0, {10, 10}), Sharing::max_min);
  CHECK(t.end[a] == Time{15'000});
  CHECK(t.lost[a][0] == Time{2'500});
  CHECK(t.lost[a][1] == Time{2'500});
}

TEST_CASE("a flow never runs faster than its own cap, and others take what it leaves", "[analytic]") {
  Builder b;
  const OpId capped = send(b, {0}, 2e6, 0, 2), free = send(b, {0}, 8e6);
  const Timeline t = run(b.seal(), machine(0, {10}), Sharing::max_min);
  // Fair share 5 GB/s; the cap holds at 2 GB/s, 8 GB/s are left: both end at 1 ms.
  CHECK(t.end[capped] == from_us(1000));
  CHECK(t.end[free] == from_us(1000));
  // The cap is the flow's own: it lost nothing. The other would have taken 8 MB / 10 GB/s = 0.8 ms.
  CHECK(t.lost[capped][0] == Time{0});
  CHECK(t.alone[capped] == from_us(1000));
  CHECK(t.lost[free][0] == from_us(200));
}

TEST_CASE("uniform all-to-all takes latency plus the bytes of the busiest link over its capacity",
          "[analytic]") {
  // Two switches with four GPUs each. Link g: GPU g up; 8 + g: GPU g down; 16, 17: switch 0 to 1 and back.
  // A GPU port carries 7 S, an uplink 4 x 4 S = 16 S.
  const double size = 1e6;
  const auto uplink_GBps = GENERATE(50.0, 200.0);
  Resources box = machine(0, {50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50});
  for (int i = 0; i < 2; ++i) box.capacity.push_back(from_GBps(uplink_GBps));
  Builder b;
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) {
      if (from == to) continue;
      if (from / 4 == to / 4)
        send(b, {from, 8 + to}, size, 2);
      else
        send(b, {from, 16 + from / 4, 8 + to}, size, 2);
    }
  }
  const Timeline t = run(b.seal(), box, Sharing::max_min);
  // 16 MB / 50 GB/s = 320 us against 7 MB / 50 GB/s = 140 us; with wide uplinks 80 us against 140 us. Rates
  // change on the way, so allow the rounding of each change: 1 ps.
  const Time busiest = from_us(2 + (uplink_GBps < 100 ? 320 : 140));
  CHECK(t.makespan >= busiest);
  CHECK(t.makespan <= busiest + Time{1});
}

TEST_CASE("a transfer with an empty path or without bytes takes its latency", "[analytic]") {
  Builder b;
  const OpId local = send(b, {}, 1e9, 3), empty = send(b, {0}, 0, 2), both = send(b, {}, 0);
  const Timeline t = run(b.seal(), machine(0, {10}), Sharing::max_min);
  CHECK(t.end[local] == from_us(3));
  CHECK(t.end[empty] == from_us(2));
  CHECK(t.end[both] == Time{0});
}

TEST_CASE("a transfer of less than a picosecond ends when its latency is over", "[analytic]") {
  Builder b;
  const OpId op = send(b, {0}, 1e-3, 2), after = b.join({});  // 1e-3 B / 10 B/ns = 0.1 ps
  b.order(op, after);
  const Timeline t = run(b.seal(), machine(0, {10}), Sharing::max_min);
  CHECK(t.end[op] == from_us(2));
  CHECK(t.end[after] == from_us(2));
}

TEST_CASE("latency occupies no link", "[analytic]") {
  // b's 50 us latency passes while a has the link for itself; a's 40 us are over before b's bytes begin.
  Builder b;
  const OpId a = send(b, {0}, 400e3), c = send(b, {0}, 100e3, 50);
  const Timeline t = run(b.seal(), machine(0, {10}), Sharing::max_min);
  CHECK(t.end[a] == from_us(40));
  CHECK(t.end[c] == from_us(60));
}
