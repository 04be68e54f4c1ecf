// What a capacity rule may do to the flows, and what it may not.
#include "catch.hpp"
#include "engine/engine.hpp"
#include "machines.hpp"

using namespace moe;

namespace {

/// Every link carries half while more than one flow is active.
struct HalfWhenCrowded : CapacityRule {
  void correct(std::span<const ActiveFlow> flows, Table<LinkId, Bandwidth>& capacity) override {
    if (flows.size() < 2) return;
    for (const ActiveFlow& flow : flows) {
      for (const LinkId link : flow.path) capacity[link] = from_GBps(5);
    }
  }
};

struct Broken : CapacityRule {
  void correct(std::span<const ActiveFlow>, Table<LinkId, Bandwidth>& capacity) override {
    capacity[LinkId{0}] = from_GBps(0);
  }
};

/// Counts what comes and goes, and checks that it is what is active.
struct Counter : CapacityRule {
  void begins(const ActiveFlow&) override { ++active, ++begun; }
  void ends(const ActiveFlow&) override { --active; }
  void correct(std::span<const ActiveFlow> flows, Table<LinkId, Bandwidth>&) override {
    agrees = agrees && flows.size() == active;
  }
  std::size_t active = 0, begun = 0;
  bool agrees = true;
};

}  // namespace

TEST_CASE("a capacity rule hears of every flow that comes and goes before it is asked", "[analytic]") {
  Builder b;
  for (int i = 1; i <= 5; ++i) send_bytes(b, {0}, 100 * i);
  Counter rule;
  run(b.seal(), machine(0, {10}), Sharing::max_min, &rule);
  CHECK(rule.agrees);
  CHECK(rule.begun == 5);
  CHECK(rule.active == 0);
}

TEST_CASE("a capacity rule slows flows that share no link, and the loss is booked on their links",
          "[analytic]") {
  Builder b;
  const OpId a = send_bytes(b, {0}, 100), c = send_bytes(b, {1}, 50);
  HalfWhenCrowded rule;
  const Timeline t = run(b.seal(), machine(0, {10, 10}), Sharing::max_min, &rule);
  // Both at 5 B/ns until c ends at 10 ns; a has 50 B left, now at 10 B/ns, and ends at 15 ns (alone 10 ns and
  // 5 ns).
  CHECK(t.end[c] == Time{10'000});
  CHECK(t.end[a] == Time{15'000});
  CHECK(t.lost[a][0] == Time{5'000});
  CHECK(t.lost[c][0] == Time{5'000});
}

TEST_CASE("a capacity rule may not close a link", "[analytic]") {
  Builder b;
  send_bytes(b, {0}, 100);
  const Program program = b.seal();
  Broken rule;
  CHECK_THROWS_AS(run(program, machine(0, {10}), Sharing::max_min, &rule), InternalError);
}
