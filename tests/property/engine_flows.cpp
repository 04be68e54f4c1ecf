// What must hold for flows that share links, on random ones. The seed in a failure message reproduces it.
#include <numeric>

#include "catch.hpp"
#include "engine/engine.hpp"
#include "engine/max_min.hpp"
#include "machines.hpp"

using namespace moe;

namespace {

/// Flows over random paths, as the solver sees them.
struct Crowd {
  explicit Crowd(int seed) : random(static_cast<std::uint64_t>(seed)) {
    capacity = random_machine(random).capacity;
    const std::size_t count = 1 + random.below(40);
    for (std::size_t i = 0; i < count; ++i) paths.push_back(random_path(random));
    for (std::size_t i = 0; i < count; ++i)
      flows.push_back({OpId(i), paths[i], limit_Bps(paths[i]), 1 + random.below(4)});
  }
  double limit_Bps(const std::vector<LinkId>& path) {
    double limit = random.below(3) == 0 ? 8e9 * (random.uniform() + 0.01) : 1e12;
    for (const LinkId link : path) limit = std::min(limit, capacity[link].bytes_per_second);
    return limit;
  }
  Random random;
  Table<LinkId, Bandwidth> capacity;
  std::vector<std::vector<LinkId>> paths;
  std::vector<ActiveFlow> flows;
};

constexpr double kRounding = 1e-9;

/// Transfers that all begin within a microsecond and depend on nothing, built in the order of `order`.
Program one_phase(int seed, const std::vector<std::size_t>& order) {
  Random random(static_cast<std::uint64_t>(seed));
  struct Transfer {
    std::vector<LinkId> path;
    Bytes bytes;
    Time latency;
  };
  std::vector<Transfer> all;
  for (std::size_t i = 0; i < order.size(); ++i) {
    all.push_back({random_path(random), Bytes{1e6 * random.uniform()}, from_us(random.uniform())});
  }
  Builder b;
  for (const std::size_t i : order) {
    b.transfer(all[i].path, all[i].bytes, all[i].latency, Category::all_to_all, {b.name("send")});
  }
  return b.seal();
}

std::vector<std::size_t> in_order(std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::vector<std::size_t> shuffled(std::size_t n, Random& random) {
  std::vector<std::size_t> order = in_order(n);
  for (std::size_t i = n; i > 1; --i)
    std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
  return order;
}

}  // namespace

TEST_CASE("no link carries more than its capacity", "[property]") {
  Crowd crowd(GENERATE(range(1, 501)));
  MaxMin solver(kRandomLinks, crowd.flows.size());
  const auto shares = solver.solve(crowd.flows, crowd.capacity);
  Table<LinkId, double> carried_Bps(kRandomLinks);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (const LinkId link : crowd.flows[i].path) carried_Bps[link] += shares[i].rate_Bps;
  }
  for (std::size_t i = 0; i < kRandomLinks; ++i) {
    CHECK(carried_Bps[LinkId(i)] <= crowd.capacity[LinkId(i)].bytes_per_second * (1 + kRounding));
  }
}

TEST_CASE("every flow runs at its limit or crosses a full link on which nobody has a larger rate per weight", "[property]") {
  Crowd crowd(GENERATE(range(1, 501)));
  MaxMin solver(kRandomLinks, crowd.flows.size());
  const auto shares = solver.solve(crowd.flows, crowd.capacity);
  bool certified = true;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i].rate_Bps == crowd.flows[i].limit_Bps) continue;
    const LinkId full = crowd.flows[i].path[shares[i].bottleneck];
    double carried_Bps = 0;
    for (std::size_t j = 0; j < shares.size(); ++j) {
      const auto path = crowd.flows[j].path;
      if (std::find(path.begin(), path.end(), full) == path.end()) continue;
      carried_Bps += shares[j].rate_Bps;
      certified = certified && shares[j].rate_Bps / crowd.flows[j].weight <=
                                   shares[i].rate_Bps / crowd.flows[i].weight * (1 + kRounding);
    }
    certified = certified && carried_Bps >= crowd.capacity[full].bytes_per_second * (1 - kRounding);
  }
  CHECK(certified);
}

TEST_CASE("a flow of weight w gets what w equal flows get together", "[property]") {
  Crowd crowd(GENERATE(range(1, 501)));
  std::vector<ActiveFlow> split;
  for (const ActiveFlow& flow : crowd.flows)
    for (std::uint32_t part = 0; part < flow.weight; ++part)
      split.push_back({flow.op, flow.path, flow.limit_Bps / flow.weight, 1});
  MaxMin solver(kRandomLinks, split.size());
  const auto parts = solver.solve(split, crowd.capacity);
  Table<OpId, double> together_Bps(crowd.flows.size());
  for (std::size_t i = 0; i < split.size(); ++i) together_Bps[split[i].op] += parts[i].rate_Bps;
  const auto whole = solver.solve(crowd.flows, crowd.capacity);
  for (std::size_t i = 0; i < whole.size(); ++i)
    CHECK(whole[i].rate_Bps == Approx(together_Bps[OpId(i)]).epsilon(kRounding));
}

TEST_CASE("the order of the flows does not change a rate by a bit", "[property]") {
  Crowd crowd(GENERATE(range(1, 501)));
  MaxMin solver(kRandomLinks, crowd.flows.size());
  const auto first = solver.solve(crowd.flows, crowd.capacity);
  const std::vector<Share> shares(first.begin(), first.end());
  const auto order = shuffled(crowd.flows.size(), crowd.random);
  std::vector<ActiveFlow> flows;
  for (const std::size_t i : order) flows.push_back(crowd.flows[i]);
  const auto again = solver.solve(flows, crowd.capacity);
  bool same = true;
  for (std::size_t i = 0; i < order.size(); ++i)
    same = same && again[i].rate_Bps == shares[order[i]].rate_Bps;
  CHECK(same);
}

namespace {

/// Watches a run from inside the solver and adds up what each flow has moved by the time the last one ends.
struct Watcher : CapacityRule {
  Watcher(std::size_t links, std::size_t flows) : solver(links, flows), moved_bytes(flows), rate_Bps(flows) {}
  void correct(std::span<const ActiveFlow> flows, Table<LinkId, Bandwidth>& capacity) override {
    rate_Bps.assign(rate_Bps.size(), 0);
    const auto shares = solver.solve(flows, capacity);
    for (std::size_t i = 0; i < flows.size(); ++i) rate_Bps[flows[i].op] = shares[i].rate_Bps;
  }
  void pass(Time elapsed) {
    for (std::size_t i = 0; i < rate_Bps.size(); ++i) {
      moved_bytes[OpId(i)] += rate_Bps[OpId(i)] * Seconds{elapsed}.count();
    }
  }
  MaxMin solver;
  Table<OpId, double> moved_bytes, rate_Bps;
};

}  // namespace

TEST_CASE("a flow has moved its bytes when it ends", "[property]") {
  const int seed = GENERATE(range(1, 101));
  CAPTURE(seed);
  Random random(static_cast<std::uint64_t>(seed));
  const Resources resources = random_machine(random);
  const Program program = one_phase(seed, in_order(20));
  Watcher watcher(kRandomLinks, program.size());
  Engine engine(program, resources, Sharing::max_min, &watcher);
  // advance() first solves at the present instant, then moves the clock to the next one.
  for (Time before{0}; engine.has_work(); before = engine.now()) {
    engine.advance();
    watcher.pass(engine.now() - before);
  }
  for (const OpId op : ops_of(program)) {
    // Each of at most 40 rate changes and the end are rounded by at most 1 ps, at no more than 64 GB/s.
    CHECK(std::abs(watcher.moved_bytes[op] - program.bytes[op].count) <= 41 * 64e9 * 1e-12);
  }
}

TEST_CASE("the order of building does not change the makespan of one phase", "[property]") {
  const int seed = GENERATE(range(1, 101));
  CAPTURE(seed);
  Random random(static_cast<std::uint64_t>(seed));
  const Resources resources = random_machine(random);
  const Time makespan = run(one_phase(seed, in_order(20)), resources, Sharing::max_min).makespan;
  CHECK(run(one_phase(seed, shuffled(20, random)), resources, Sharing::max_min).makespan == makespan);
}

TEST_CASE("sharing never makes one phase shorter", "[property]") {
  const int seed = GENERATE(range(1, 101));
  CAPTURE(seed);
  Random random(static_cast<std::uint64_t>(seed));
  const Resources resources = random_machine(random);
  const Program program = one_phase(seed, in_order(20));
  const Timeline alone = run(program, resources, Sharing::alone);
  const Timeline shared = run(program, resources, Sharing::max_min);
  for (const OpId op : ops_of(program)) CHECK(alone.end[op] <= shared.end[op]);
  CHECK(alone.makespan <= shared.makespan);
}
