// A collective as flows, alone on its links, takes the time of its closed form within 1 %.
#include "network/collective_flows.hpp"

#include <filesystem>
#include <numeric>

#include "catch.hpp"
#include "cost/all_to_all.hpp"
#include "network/closed_form.hpp"
#include "shipped_machines.hpp"
#include "network/together.hpp"

using namespace moe;

namespace {

CollectiveRequest request(CollectiveOp op, int ranks, double bytes, Algorithm a = Algorithm::ring) {
  CollectiveRequest r;
  r.op = op, r.bytes = bytes, r.algorithm = a;
  r.gpus.resize(static_cast<std::size_t>(ranks));
  std::iota(r.gpus.begin(), r.gpus.end(), 0);
  r.policy.one_shot_t0_us = 7.4, r.policy.one_shot_GBps = 12.4, r.policy.two_shot_extra_us = 2;
  return r;
}

double off_pct(const test::Box& b, const CollectiveRequest& r) {
  const double closed = closed_form(b.machine, b.routes, b.cost, r).time_us;
  return 100 * (alone_as_flows_us(b.machine, b.routes, b.cost, r) / closed - 1);
}

/// Every file of topologies/, with the profile of its GPU.
std::vector<test::Box> shipped() {
  std::vector<test::Box> all;
  for (const auto& file : std::filesystem::directory_iterator(test::root() + "/topologies")) {
    const std::string name = file.path().stem();
    all.push_back(test::box(name, test::machine(name).gpu));
  }
  REQUIRE(all.size() > 20);
  return all;
}

/// 2 to 8, and 16, as far as there are GPUs of one server: no profile says what sending to another one costs.
std::vector<int> rank_counts(const test::Box& b) {
  std::vector<int> counts;
  for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 16}) {
    if (ranks > static_cast<int>(b.machine.gpus.size())) continue;
    const std::vector<int> gpus = request(CollectiveOp::all_reduce, ranks, 0).gpus;
    if (worst_hop(communicator(b.machine, b.routes, gpus)) != Transport::net) counts.push_back(ranks);
  }
  return counts;
}

constexpr auto kAr = CollectiveOp::all_reduce, kAg = CollectiveOp::all_gather, kRs = CollectiveOp::reduce_scatter,
               kAa = CollectiveOp::all_to_all;

}  // namespace

TEST_CASE("rings as flows agree with the closed form on every machine", "[analytic]") {
  for (const test::Box& b : shipped())
    for (const int ranks : rank_counts(b))
      for (const CollectiveOp op : {kAr, kAg, kRs})
        for (double bytes = 1024; bytes <= 4 << 20; bytes *= 4) {
          INFO(b.machine.name << " " << ranks << " ranks, " << name_of(op) << " " << bytes);
          CHECK(std::abs(off_pct(b, request(op, ranks, bytes))) <= 1);
        }
}

TEST_CASE("all-to-all as flows agrees with the closed form on every machine", "[analytic]") {
  for (const test::Box& b : shipped())
    for (const int ranks : rank_counts(b))
      for (double bytes = 4096; bytes <= 16 << 20; bytes *= 2) {
        INFO(b.machine.name << " " << ranks << " ranks " << bytes);
        CHECK(std::abs(off_pct(b, request(kAa, ranks, bytes))) <= 1);
      }
}

TEST_CASE("an all-to-all that asks for more than the links leave takes what the links need", "[analytic]") {
  // Four GPUs of a socket, 16 KB per peer with LL, 32 KB on the wire. A port of 52.7 GB/s leaves 52.7 x 0.971 x 0.6825 =
  // 34.9 GB/s to three contended peers: 3 x 32768 B / 34.9 GB/s = 2.815 us. The senders alone would need 2.565 us.
  const test::Box direct = test::box("turin-2s-direct");
  const double message_us = 3 * 32768 / (52.7 * 0.971 * 0.6825 * 1e3);
  const CollectiveRequest four = request(kAa, 4, 65536);
  const double before_us = all_to_all_parts(direct.cost, communicator(direct.machine, direct.routes, four.gpus), 65536).before_us;
  CHECK(closed_form(direct.machine, direct.routes, direct.cost, four).time_us == Approx(before_us + message_us));
  // Half of the bytes ask for less than the port leaves: the cost of the senders.
  const CollectiveRequest half = request(kAa, 4, 32768);
  CHECK(closed_form(direct.machine, direct.routes, direct.cost, half).time_us ==
        all_to_all_us(direct.cost, communicator(direct.machine, direct.routes, half.gpus), 32768));
}

TEST_CASE("tree, hierarchy, gather, copy-engine ring and custom kernels agree with their closed forms on every machine",
          "[analytic]") {
  for (const test::Box& b : shipped())
    for (const int ranks : rank_counts(b))
      for (const Algorithm a : {Algorithm::tree, Algorithm::hierarchical, Algorithm::gather, Algorithm::copy_ring,
                                Algorithm::one_shot, Algorithm::two_shot}) {
        if (a == Algorithm::hierarchical && ranks != 8) continue;  // islands of one size
        for (double bytes = 16384; bytes <= 4 << 20; bytes *= 16) {
          INFO(b.machine.name << " " << ranks << " ranks, " << name_of(a) << " " << bytes);
          try {
            CHECK(std::abs(off_pct(b, request(kAr, ranks, bytes, a))) <= 1);
          } catch (const std::exception&) {  // one island
            CHECK(a == Algorithm::hierarchical);
          }
        }
      }
}

TEST_CASE("a custom kernel is as slow as the links between its GPUs", "[analytic]") {
  // Eight GPUs on two switches: every GPU reads from the four behind the other uplink at 12.4 / 7 GB/s each, 16 flows ask for
  // 28.3 of its 53.8 GB/s. Both directions busy, and outputs of the ports contended: not all of them get it.
  const test::Box flat = test::box("wrx90-2sw-flat"), direct = test::box("turin-2s-direct");
  const CollectiveRequest r = request(kAr, 8, 1 << 18, Algorithm::one_shot);
  const double constants_us = 7.4 + 7 * (1 << 18) / 12.4e3;  // t0 + (n-1) S / R
  CHECK(closed_form(direct.machine, direct.routes, direct.cost, r).time_us == Approx(constants_us));
  const CollectiveCost c = closed_form(flat.machine, flat.routes, flat.cost, r);
  CHECK(c.time_us > 1.05 * constants_us);
  CHECK(c.reason.find("these links carry less") != std::string::npos);
}

TEST_CASE("a byte matrix moves as its uniform case when it is uniform, and longer with one heavy pair", "[analytic]") {
  const test::Box b = test::box("turin-2s-direct");
  CollectiveRequest uniform = request(kAa, 4, 1 << 20), matrix = uniform;
  matrix.pair_bytes.assign(4, std::vector<double>(4, (1 << 20) / 4.0));
  const double even = alone_as_flows_us(b.machine, b.routes, b.cost, uniform);
  CHECK(alone_as_flows_us(b.machine, b.routes, b.cost, matrix) == Approx(even));
  matrix.pair_bytes[0][3] *= 2;
  CHECK(alone_as_flows_us(b.machine, b.routes, b.cost, matrix) > 1.5 * even);
}

TEST_CASE("rings on their own switches do not feel each other, rings across the uplinks do", "[analytic]") {
  const test::Box b = test::box("wrx90-2sw-flat");
  CollectiveRequest one = request(kAr, 4, 4 << 20), two = one;
  two.gpus = {4, 5, 6, 7};
  for (const TogetherResult& r : run_together(b.machine, b.routes, b.cost, {one, two})) {
    CHECK_FALSE(r.shares);
    CHECK(r.together_us == r.alone_us);
  }
  one.gpus = {0, 1, 4, 5}, two.gpus = {2, 3, 6, 7};
  for (const TogetherResult& r : run_together(b.machine, b.routes, b.cost, {one, two})) {
    CHECK(r.shares);
    CHECK(r.together_us > 1.2 * r.alone_us);
  }
}
