// What happens at one instant, and below one picosecond. Links of 10 GB/s carry 0.01 B per picosecond.
#include "catch.hpp"
#include "engine/engine.hpp"
#include "engine/max_min.hpp"
#include "machines.hpp"

using namespace moe;

TEST_CASE("flows that end at one instant end in id order, whichever began first", "[analytic]") {
  // All end at 20 ns: 100 B from 10 ns, 200 B from 0 ns, 50 B from 15 ns. Each lets an op go to one server;
  // the op behind the lower id is served first.
  Builder b;
  const OpId flows[] = {send_bytes(b, {0}, 100, Time{10'000}), send_bytes(b, {1}, 200),
                        send_bytes(b, {2}, 50, Time{15'000})};
  OpId served[3];
  for (const int i : {1, 2, 0}) {
    served[i] = b.compute(ServerId{0}, from_us(1), Category::experts, {});
    b.order(flows[i], served[i]);
  }
  const Timeline t = run(b.seal(), machine(1, {10, 10, 10}), Sharing::max_min);
  for (int i = 0; i < 3; ++i) {
    CHECK(t.end[flows[i]] == Time{20'000});
    CHECK(t.start[served[i]] == Time{20'000} + i * from_us(1));
  }
}

TEST_CASE("computes that end at one instant end in the order in which they started", "[analytic]") {
  // Forty servers end together; what each lets go is served in the same order by one more server.
  Builder b;
  std::vector<OpId> served;
  for (int i = 0; i < 40; ++i) {
    const OpId before = b.compute(ServerId(i), from_us(5), Category::experts, {});
    served.push_back(b.compute(ServerId{40}, from_us(1), Category::experts, {}));
    b.order(before, served.back());
  }
  const Timeline t = run(b.seal(), machine(41, {}), Sharing::max_min);
  for (int i = 0; i < 40; ++i) CHECK(t.start[served[static_cast<std::size_t>(i)]] == from_us(5 + i));
}

TEST_CASE("links that are full at one level but for rounding give one rate", "[analytic]") {
  // 0.1 + 0.2 is not 0.3 in double; two flows on each link must not differ for that.
  const std::vector<LinkId> paths[] = {links({0}), links({0}), links({1}), links({1})};
  std::vector<ActiveFlow> flows;
  for (const auto& path : paths) flows.push_back({OpId(flows.size()), path, 1e9});
  Table<LinkId, Bandwidth> capacity;
  capacity.push_back({0.1 + 0.2});
  capacity.push_back({0.3});
  MaxMin solver(2, 4);
  const auto shares = solver.solve(flows, capacity);
  REQUIRE(capacity[LinkId{0}] != capacity[LinkId{1}]);
  for (const Share& share : shares) CHECK(share.rate_Bps == 0.15);
}

TEST_CASE("solving for others never moves the end of a flow, not even one that lies between two picoseconds",
          "[analytic]") {
  // 0.0564 B per picosecond, sizes of n + 1/2 ps, where the last bit of a double decides how the end is
  // rounded.
  for (int i = 0; i < 200; ++i) {
    Builder b;
    const OpId op = send_bytes(b, {0}, 0.0564 * (1e6 + 977 * i + 0.5));
    for (int other = 1; other < 9; ++other) send_bytes(b, {1}, 1, Time{other * 7'777});
    const Timeline t = run(b.seal(), machine(0, {56.4, 10}), Sharing::max_min);
    CHECK(t.end[op] == t.alone[op]);
  }
}

TEST_CASE("a flow never ends before it would have ended alone", "[analytic]") {
  // The other flow takes 1e-9 of the link for a moment: far less than a picosecond is lost.
  for (int i = 0; i < 200; ++i) {
    Builder b;
    const OpId op = send_bytes(b, {0}, 0.01 * (1e8 + 977 * i + 0.5));
    for (int other = 1; other < 9; ++other) {
      b.transfer(links({0}), Bytes{1e-11}, Time{other * 7'777}, Category::all_to_all, {}, from_GBps(1e-8));
    }
    const Timeline t = run(b.seal(), machine(0, {10}), Sharing::max_min);
    CHECK(t.end[op] >= t.alone[op]);
  }
}

TEST_CASE("a remainder below one picosecond is booked where the flow lost last", "[analytic]") {
  // a needs 100.4 ps alone: 100. On L1 a flow with a cap of a third of the link slows it for 1 ps: 1/3 ps is
  // lost, booked as 0. In the end 100.4 + 0.33 = 100.73: 101, so 1 ps remains, and it is L1's although a
  // ended at full speed.
  Builder b;
  const OpId a = send_bytes(b, {0, 1}, 0.01 * 100.4);
  b.transfer(links({1}), Bytes{0.01 / 3}, Time{0}, Category::all_to_all, {}, from_GBps(10.0 / 3));
  const Timeline t = run(b.seal(), machine(0, {10, 10}), Sharing::max_min);
  CHECK(t.alone[a] == Time{100});
  CHECK(t.end[a] == Time{101});
  CHECK(t.lost[a][0] == Time{0});
  CHECK(t.lost[a][1] == Time{1});
}

TEST_CASE("a remainder below zero is given back by the link that was charged too much", "[analytic]") {
  // a needs 100.6 ps alone: 101. 0-1 ps: a third of L0, 2/3 ps lost, booked as 1. 1-2 ps: nine tenths of L1,
  // 0.1 ps lost, booked as 0. In the end 100.6 + 0.77 = 101.37: 101, so nothing was lost and L0 gives its
  // picosecond back.
  Builder b;
  const OpId a = send_bytes(b, {0, 1}, 0.01 * 100.6);
  for (int i = 0; i < 2; ++i) send_bytes(b, {0}, 0.01 / 3);
  b.transfer(links({1}), Bytes{0.001}, Time{1}, Category::all_to_all, {}, from_GBps(1));
  const Timeline t = run(b.seal(), machine(0, {10, 10}), Sharing::max_min);
  CHECK(t.solves == 3);
  CHECK(t.end[a] == Time{101});
  CHECK(t.lost[a][0] == Time{0});
  CHECK(t.lost[a][1] == Time{0});
}
