// What ranks get of a draw: conserved rows and tokens, and placements that balance what they claim to balance.
#include <algorithm>
#include <numeric>
#include <set>

#include "catch.hpp"
#include "workload/router.hpp"

using namespace moe;

namespace {

const RouterShape kShape{64, 6};
const Routing kSkewed{.kind = Routing::Kind::power_law, .alpha = 1.2};

int sum(const std::vector<int>& values) { return std::accumulate(values.begin(), values.end(), 0); }

/// Rows of the busiest rank over the mean rank, mean over layers and steps.
double imbalance(const Placement& placement, int ranks) {
  Router router(kSkewed, {256, 8}, 128);
  double total = 0;
  for (int layer = 0; layer < 8; ++layer) {
    const ExpertMap map = place_experts(placement, ranks, router.expected_load(layer));
    for (int step = 0; step < 10; ++step) {
      router.start_step(step);
      total += router.draw(layer, {{128}}, map).max_rows() / (128.0 * 8 / ranks);
    }
  }
  return total / 80;
}

}  // namespace

TEST_CASE("rank loads conserve rows and tokens", "[property]") {
  const int ranks = GENERATE(1, 3, 8), replicas = GENERATE(0, 10), oea = GENERATE(0, 2);
  const auto kind = GENERATE(Placement::Kind::contiguous, Placement::Kind::balanced);
  const std::vector<Source> sources =
      GENERATE(std::vector<Source>{{20, 12}}, std::vector<Source>{{7, 1}, {0, 8}, {13, 3}});
  Routing r = kSkewed;
  r.oea_keep = oea;
  Router router(r, kShape, 20, 12);
  const ExpertMap map = place_experts({kind, replicas}, ranks, router.expected_load(4));
  const RankLoads loads = router.draw(4, sources, map);
  const std::vector<int>& rows = router.draw(4);
  std::vector<int> by_expert(64);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    for (std::size_t slot = 0; slot < map.held[at].size(); ++slot)
      by_expert[static_cast<std::size_t>(map.held[at][slot])] += loads.rows[at][slot];
    int arriving = 0;
    for (const auto& from : loads.tokens_between) arriving += from[at];
    CHECK(arriving == loads.tokens_here[at]);
    CHECK(arriving <= std::min(32, loads.rows_of(rank)));
    CHECK(loads.rows_of(rank) <= arriving * 6);
  }
  CHECK(by_expert == rows);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const int own = sources[s].tokens + sources[s].padding, sent = sum(loads.tokens_between[s]);
    CHECK(sent >= own);
    CHECK(sent <= own * std::min(6, ranks));
  }
}

TEST_CASE("tokens at a rank are the ones that chose an expert there", "[property]") {
  Router router(kSkewed, kShape, 24);
  const ExpertMap map = place_experts({}, 4, router.expected_load(0));
  const RankLoads loads = router.draw(0, {{10}, {14}}, map);
  const Choices& c = router.choices(0);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    std::vector<int> expected(2);
    for (int t = 0; t < 24; ++t)
      expected[t < 10 ? 0 : 1] +=
          std::any_of(c.of(t), c.of(t) + 6, [&](std::uint32_t e) { return e / 16 == rank; }) ? 1 : 0;
    CHECK(loads.tokens_between[0][rank] == expected[0]);
    CHECK(loads.tokens_between[1][rank] == expected[1]);
  }
}

TEST_CASE("every expert is placed, slots are even, and copies stand on different ranks", "[property]") {
  const int ranks = GENERATE(2, 7, 8), replicas = GENERATE(0, 5, 64, 100000);
  Router router(kSkewed, kShape, 64);
  const ExpertMap map = place_experts({Placement::Kind::balanced, replicas}, ranks, router.expected_load(0));
  std::size_t fewest = map.held[0].size(), most = fewest, slots = 0;
  for (const auto& held : map.held) {
    fewest = std::min(fewest, held.size()), most = std::max(most, held.size()), slots += held.size();
    if (replicas <= 64) CHECK(std::set<int>(held.begin(), held.end()).size() == held.size());
  }
  CHECK(most - fewest <= 1);
  CHECK(slots == static_cast<std::size_t>(std::min(64 + replicas, 64 * ranks)));
  for (std::size_t e = 0; e < 64; ++e) {
    REQUIRE_FALSE(map.copies[e].empty());
    for (const ExpertSlot& s : map.copies[e])
      CHECK(map.held[static_cast<std::size_t>(s.rank)][static_cast<std::size_t>(s.slot)] == static_cast<int>(e));
  }
}

TEST_CASE("balanced placement has a lower busiest rank than contiguous, and replicas lower it further", "[property]") {
  const int ranks = GENERATE(4, 8, 16);
  const double contiguous = imbalance({}, ranks);
  const double balanced = imbalance({Placement::Kind::balanced, 0}, ranks);
  const double replicated = imbalance({Placement::Kind::balanced, 64}, ranks);
  CHECK(balanced < contiguous);
  CHECK(replicated < balanced);
}

TEST_CASE("balanced placement evens out the expected load almost fully", "[property]") {
  const int ranks = GENERATE(4, 8, 16);
  const std::vector<double> load = Router(kSkewed, {256, 8}, 128).expected_load(0);
  const ExpertMap map = place_experts({Placement::Kind::balanced, 0}, ranks, load);
  for (const auto& held : map.held) {
    double here = 0;
    for (const int e : held) here += load[static_cast<std::size_t>(e)];
    CHECK(here == Approx(8.0 / ranks).epsilon(0.002));
  }
}

TEST_CASE("rows of an expert are dealt evenly to its copies", "[property]") {
  Router router(kSkewed, kShape, 100, 28);
  const ExpertMap map = place_experts({Placement::Kind::balanced, 40}, 8, router.expected_load(3));
  const RankLoads loads = router.draw(3, {{100, 28}}, map);
  for (const auto& copies : map.copies) {
    int fewest = 1 << 20, most = 0;
    for (const ExpertSlot& s : copies) {
      const int rows = loads.rows[static_cast<std::size_t>(s.rank)][static_cast<std::size_t>(s.slot)];
      fewest = std::min(fewest, rows), most = std::max(most, rows);
    }
    CHECK(most - fewest <= 1);
  }
}
