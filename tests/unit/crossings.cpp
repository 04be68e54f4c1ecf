// Counting who sends where, one flow at a time.
#include "network/crossings.hpp"

#include "base/random.hpp"
#include "catch.hpp"
#include "network/fabric.hpp"
#include "network/pcie_rule.hpp"
#include "shipped_machines.hpp"

using namespace moe;

TEST_CASE("crossings: different outputs, different inputs, contended outputs", "[unit]") {
  Crossings x(3, 3);
  x.add(0, 0), x.add(0, 0), x.add(0, 1), x.add(1, 1);  // 0 feeds outputs 0 (twice) and 1; 1 feeds output 1 too
  CHECK(x.outputs_of(0) == 2);
  CHECK(x.inputs_of(1) == 2);
  CHECK(x.contended_of(0) == 1);
  CHECK(x.contended_of(1) == 1);
  x.add(2, 1);
  CHECK(x.contended_of(2) == 1);
  x.remove(1, 1), x.remove(2, 1);
  CHECK(x.contended_of(0) == 0);
  CHECK(x.contended_of(1) == 0);
  x.remove(0, 0);
  CHECK(x.joined(0, 0));  // one of the two is left
  x.remove(0, 0);
  CHECK_FALSE(x.joined(0, 0));
  CHECK(x.outputs_of(0) == 1);
}

TEST_CASE("a rule that has seen flows come and go answers as one that has only seen those that are left", "[unit]") {
  for (const char* name : {"asus-bcm", "turin-16g-cpayne", "wrx90-3sw", "turin-2s-direct", "turin-2n-16g"}) {
    INFO(name);
    const Machine m = test::machine(name);
    const Routes routes(m);
    const Resources links = fabric(m);
    const int gpus = static_cast<int>(m.gpus.size());
    std::vector<std::vector<LinkId>> paths;
    std::vector<bool> reads;
    Random random(7);
    for (int from = 0; from < gpus; ++from)
      for (int to = 0; to < gpus; ++to) {
        if (from == to) continue;
        paths.push_back(random.below(4) == 0 ? bounced_path(m, routes, from, to)
                                             : path_of(m, routes.between_gpus(from, to)));
        reads.push_back(random.below(3) == 0);
      }
    PcieRule seasoned(m, reads);
    std::vector<bool> active(paths.size());
    const auto flow = [&](std::size_t i) { return ActiveFlow{OpId(i), paths[i], 1e9}; };
    for (int change = 0; change < 500; ++change) {
      const std::size_t i = random.below(static_cast<std::uint32_t>(paths.size()));
      active[i] ? seasoned.ends(flow(i)) : seasoned.begins(flow(i));
      active[i] = !active[i];
      PcieRule fresh(m, reads);
      for (std::size_t f = 0; f < paths.size(); ++f)
        if (active[f]) fresh.begins(flow(f));
      Table<LinkId, Bandwidth> now = links.capacity, expected = links.capacity;
      seasoned.correct({}, now);
      fresh.correct({}, expected);
      REQUIRE(now == expected);
    }
  }
}
