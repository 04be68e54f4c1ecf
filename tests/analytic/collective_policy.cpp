// Which implementation runs, and what the sentence says: the stack's policy on top of NCCL.
#include "base/check.hpp"
#include "catch.hpp"
#include "cost/all_to_all.hpp"
#include "cost/collective.hpp"
#include "cost/one_shot.hpp"

using namespace moe;

namespace {

constexpr auto kAr = CollectiveOp::all_reduce;

CommCost round_cost() {
  CommCost c;
  c.t_base_us = 4, c.tail_ll = 1.5, c.tail_simple = 0.5, c.wire_GBps = 50, c.b_simple_us = 7;
  c.transport["shm"] = {0, 1, false, 0.8, 0.4, 3, 32};
  c.all_to_all = {{{}, 6, 0.5, 0.8, 1, 2, {{2, 25}, {8, 14}}, {{2, 256}, {8, 64}}}};
  c.quality.p90_pct = 8;
  c.quality.range["bytes"] = {1024, 4194304};
  c.quality.range["ranks"] = {2, 8};
  return c;
}

Communicator ring(int n) {
  Communicator c;
  c.gpus.resize(static_cast<std::size_t>(n));
  c.hops.assign(static_cast<std::size_t>(n), Transport::shm);
  c.hop_latency_us.assign(static_cast<std::size_t>(n), 0.2);
  c.graph_GBps = 20;
  return c;
}

CollectivePolicy custom() {
  CollectivePolicy p;
  p.custom = true, p.custom_max_bytes = 57344, p.custom_ignore_cutoff_rows = 8;
  p.one_shot_t0_us = 7.4, p.one_shot_GBps = 23, p.two_shot_bytes = 32768, p.two_shot_extra_us = 3;
  return p;
}

}  // namespace

TEST_CASE("one rank costs nothing", "[analytic]") {
  Communicator alone;
  alone.gpus = {3};
  const CollectiveCost c = collective(round_cost(), alone, kAr, 1 << 20, {});
  CHECK(c.time_us == 0);
  CHECK(c.wire_bytes_per_hop == 0);
  CHECK(c.reason == "one rank has nobody to talk to");
}

TEST_CASE("one-shot reads n-1 buffers, two-shot twice their n-th parts", "[analytic]") {
  CHECK(one_shot_us(custom(), 8, 14336) == Approx(7.4 + 7 * 14336 / 23e3));
  CHECK(two_shot_us(custom(), 8, 14336) == Approx(7.4 + 3 + 1.75 * 14336 / 23e3));
}

TEST_CASE("the stack's kernel runs up to its cut-off, NCCL above", "[analytic]") {
  const CollectiveCost below = collective(round_cost(), ring(8), kAr, 57344, custom());
  const CollectiveCost above = collective(round_cost(), ring(8), kAr, 57345, custom());
  CHECK(below.implementation == "one-shot");
  CHECK(below.reason == "57344 B is within the stack's cut-off of 57344 B");
  CHECK(below.wire_bytes_per_hop == 7 * 57344);
  CHECK(above.implementation == "ring LL");
}

TEST_CASE("few rows keep the stack's kernel above its cut-off", "[analytic]") {
  const CollectiveCost eight = collective(round_cost(), ring(8), kAr, 114688, custom(), 8);
  CHECK(eight.implementation == "one-shot");
  CHECK(eight.reason == "8 rows are within the 8 for which the stack ignores its cut-off of 57344 B");
  CHECK(collective(round_cost(), ring(8), kAr, 114688, custom(), 9).implementation == "ring LL");
  CHECK(collective(round_cost(), ring(8), kAr, 114688, custom(), 0).implementation == "ring LL");
}

TEST_CASE("the custom kernel may turn two-shot above a size", "[analytic]") {
  CollectivePolicy p = custom();
  p.two_shot_above = true;
  CHECK(collective(round_cost(), ring(8), kAr, 32768, p).implementation == "one-shot");
  CHECK(collective(round_cost(), ring(8), kAr, 32769, p).implementation == "two-shot");
}

TEST_CASE("best of both takes the faster, whatever the size", "[analytic]") {
  CollectivePolicy p = custom();
  p.best_of_both = true, p.custom_max_bytes = 0;
  for (const double bytes : {1024.0, 65536.0, 262144.0, 4194304.0}) {
    const double ring_us = collective(round_cost(), ring(8), kAr, bytes, {}).time_us;
    CHECK(collective(round_cost(), ring(8), kAr, bytes, p).time_us ==
          Approx(std::min(ring_us, one_shot_us(p, 8, bytes))));
  }
}

TEST_CASE("a custom all-reduce does not serve other collectives", "[analytic]") {
  CHECK(collective(round_cost(), ring(8), CollectiveOp::all_gather, 4096, custom()).implementation == "ring LL");
}

TEST_CASE("the host's launch floor holds below it only", "[analytic]") {
  CollectivePolicy p;
  p.launch_floor_us = 30;
  const CollectiveCost c = collective(round_cost(), ring(2), kAr, 1024, p);
  CHECK(c.time_us == 30);
  CHECK(c.reason.find("launching it takes the host 30.0 us") != std::string::npos);
  p.launch_floor_us = 0.001;
  CHECK(collective(round_cost(), ring(2), kAr, 1024, p).time_us < 30);
}

TEST_CASE("the reason of a ring names what NCCL expected", "[analytic]") {
  const CollectiveCost c = collective(round_cost(), ring(8), kAr, 4096, {});
  CHECK(c.reason == "NCCL expects LL 21.3 us, Simple 88.6 us and takes LL");
  CHECK(c.wire_bytes_per_hop == Approx(2 * 14 * 4096 / 8.0));
  CollectivePolicy held;
  held.protocols = {Protocol::simple};
  CHECK(collective(round_cost(), ring(8), kAr, 4096, held).reason == "NCCL is held to Simple");
}

TEST_CASE("spread comes from the fit and range from its sizes and ranks", "[analytic]") {
  const CollectiveCost c = collective(round_cost(), ring(8), kAr, 4096, {});
  CHECK(c.spread == Approx(std::log(1.08) / 1.6449));
  CHECK(c.in_range);
  CHECK_FALSE(collective(round_cost(), ring(8), kAr, 512, {}).in_range);
  CHECK_FALSE(collective(round_cost(), ring(16), kAr, 4096, {}).in_range);
}

TEST_CASE("all-to-all with LL is start, first pass and further passes", "[analytic]") {
  // n = 8: 6 + 7 x 0.5 = 9.5. 128 KiB: 16384 B per peer, pass = 8 x 64 = 512 B: 31 further passes of 0.8.
  CHECK(all_to_all_us(round_cost(), ring(8), 131072) == Approx(9.5 + 0.8 + 31 * 0.8));
  // Half a pass: 256 B per peer.
  CHECK(all_to_all_us(round_cost(), ring(8), 2048) == Approx(9.5 + 0.4));
}

TEST_CASE("all-to-all turns Simple above 16 KiB per peer and gets faster", "[analytic]") {
  CHECK(all_to_all_us(round_cost(), ring(8), 262144) == Approx(9.5 + 2 + 7 * 32768 / 14e3));
  CHECK(all_to_all_us(round_cost(), ring(8), 262144) < all_to_all_us(round_cost(), ring(8), 131072));
}

TEST_CASE("all-to-all between fitted counts uses those of the next larger one", "[analytic]") {
  CHECK(all_to_all_us(round_cost(), ring(4), 1 << 20) == Approx(7.5 + 2 + 3 * 262144 / 14e3));
  CHECK(all_to_all_us(round_cost(), ring(16), 1 << 20) == Approx(13.5 + 2 + 15 * 65536 / 14e3));
}

TEST_CASE("all-to-all has no answer for a transport outside its fit", "[analytic]") {
  CommCost cost = round_cost();
  cost.all_to_all.front().transports = {"nvlink"};
  CHECK_THROWS_AS(all_to_all_us(cost, ring(8), 4096), Infeasible);
}
