// Whatever the kind of routing: rows are conserved, tokens take distinct experts, and every knob does what it says.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "catch.hpp"
#include "workload/recorded.hpp"
#include "workload/router.hpp"

using namespace moe;

namespace {

using Kind = Routing::Kind;

/// Every kind of routing; recorded ones with a skewed record of `shape`.
Routing routing_of(Kind kind, const RouterShape& shape) {
  Routing r{.kind = kind};
  if (kind != Kind::histogram && kind != Kind::trace) return r;
  RecordedRouting record;
  Router source({.kind = Kind::power_law, .seed = 7}, shape, 50);
  for (int layer = 0; layer < 4; ++layer) {
    RecordedLayer& l = record.layers[layer];
    l.choice = source.choices(layer).expert;
    const std::vector<int>& rows = source.draw(layer);
    l.count.assign(rows.begin(), rows.end());
  }
  r.recorded = std::make_shared<const RecordedRouting>(std::move(record));
  return r;
}

int touched(const std::vector<int>& rows) {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(), [](int r) { return r > 0; }));
}

double mean_touched(const Routing& routing, const RouterShape& shape, int tokens, int steps = 40) {
  Router router(routing, shape, tokens);
  double sum = 0;
  for (int step = 0; step < steps; ++step) {
    router.start_step(step);
    for (int layer = 0; layer < 4; ++layer) sum += touched(router.draw(layer));
  }
  return sum / (4 * steps);
}

/// Share of a token's experts that it had in the step before, mean over tokens, steps and layers.
double overlap(Router& router, int steps) {
  double same = 0, all = 0;
  for (int layer = 0; layer < 3; ++layer)
    for (int step = 1; step < steps; ++step) {
      router.start_step(step - 1);
      const Choices before = router.choices(layer);
      router.start_step(step);
      const Choices& now = router.choices(layer);
      for (int t = 0; t < now.tokens; ++t)
        for (int i = 0; i < now.topk; ++i, ++all)
          same += std::count(before.of(t), before.of(t) + now.topk, now.of(t)[i]) > 0 ? 1 : 0;
    }
  return same / all;
}

const RouterShape kShape{64, 6, 8, 3};

}  // namespace

TEST_CASE("rows sum to (tokens + padding) x topk, and a token's experts are distinct", "[property]") {
  const Kind kind = GENERATE(Kind::uniform, Kind::power_law, Kind::histogram, Kind::trace);
  const double similarity = GENERATE(0.0, 0.7), temporal = GENERATE(0.0, 0.6);
  const int oea = GENERATE(0, 2), padding = GENERATE(0, 9);
  const RouterShape shape = GENERATE(RouterShape{64, 6}, kShape, RouterShape{64, 6, 1, 1, true}, RouterShape{6, 6});
  Routing r = routing_of(kind, shape);
  r.similarity = similarity, r.temporal = temporal, r.oea_keep = oea;
  Router router(r, shape, 23, padding);
  for (int step = 0; step < 4; ++step) {
    router.start_step(step);
    const std::vector<int>& rows = router.draw(step % 2);
    REQUIRE(std::accumulate(rows.begin(), rows.end(), 0) == (23 + padding) * 6);
    const Choices& c = router.choices(step % 2);
    for (std::size_t at = 0; at < c.expert.size(); at += 6)
      REQUIRE(std::set<std::uint32_t>(&c.expert[at], &c.expert[at] + 6).size() == 6);
  }
}

TEST_CASE("uniform routing touches E (1 - (1 - k/E)^B) experts in the mean", "[property]") {
  const int topk = GENERATE(1, 8), tokens = GENERATE(1, 3, 16, 64);
  const double e = 384, miss = std::pow(1 - topk / e, tokens);
  // Touched or not are negatively correlated between experts, so the variance is below e miss (1 - miss).
  const double sigma = std::sqrt(e * miss * (1 - miss) / 160);
  CHECK(mean_touched({}, {384, topk}, tokens) == Approx(e * (1 - miss)).margin(4 * sigma + 1e-9));
}

TEST_CASE("alike sequences touch fewer experts, the more so the more alike", "[property]") {
  const Kind kind = GENERATE(Kind::uniform, Kind::power_law, Kind::histogram);
  const RouterShape shape = GENERATE(RouterShape{384, 8}, RouterShape{256, 8, 8, 4}, RouterShape{256, 6, 1, 1, true});
  Routing r = routing_of(kind, shape);
  double before = mean_touched(r, shape, 64);
  for (const double s : {0.2, 0.4, 0.6, 0.8, 0.95}) {
    r.similarity = s;
    const double now = mean_touched(r, shape, 64);
    INFO("similarity " << s);
    CHECK(now < before);
    before = now;
  }
}

TEST_CASE("one token alone is not changed by similarity", "[property]") {
  const double s = GENERATE(0.0, 0.5, 0.95);
  Router router({.similarity = s}, {16, 4}, 1);
  std::vector<double> sum(16);
  for (int step = 0; step < 8000; ++step) {
    router.start_step(step);
    const std::vector<int>& rows = router.draw(0);
    REQUIRE(touched(rows) == 4);
    for (std::size_t e = 0; e < 16; ++e) sum[e] += rows[e];
  }
  for (const double n : sum) CHECK(n == Approx(2000).margin(4 * std::sqrt(8000 * 0.25 * 0.75)));  // and none is popular
}

TEST_CASE("a power law makes the same experts popular in every step", "[property]") {
  const RouterShape shape{64, 4};
  Router router({.kind = Kind::power_law, .alpha = 2}, shape, 16);
  const std::vector<double> expected = router.expected_load(1);
  CHECK(std::accumulate(expected.begin(), expected.end(), 0.0) == Approx(4));
  std::vector<double> sum(64);
  for (int step = 0; step < 500; ++step) {
    router.start_step(step);
    const std::vector<int>& rows = router.draw(1);
    for (std::size_t e = 0; e < 64; ++e) sum[e] += rows[e];
  }
  for (std::size_t e = 0; e < 64; ++e)
    CHECK(sum[e] / 8000 == Approx(expected[e]).epsilon(0.04).margin(4 * std::sqrt(expected[e] / 8000)));
}

TEST_CASE("a histogram is drawn as often as it was recorded", "[property]") {
  RecordedRouting record;
  for (int e = 0; e < 64; ++e) record.layers[0].count.push_back(e % 16 == 0 ? 30 : e % 5 == 4 ? 0 : 5);
  const std::vector<double> count = record.layers[0].count;
  Routing r{.kind = Kind::histogram};
  r.recorded = std::make_shared<const RecordedRouting>(record);
  Router router(r, {64, 4}, 32);
  std::vector<double> sum(64);
  for (int step = 0; step < 500; ++step) {
    router.start_step(step);
    const std::vector<int>& rows = router.draw(0);
    for (std::size_t e = 0; e < 64; ++e) sum[e] += rows[e];
  }
  const double rows = std::accumulate(count.begin(), count.end(), 0.0);
  for (std::size_t e = 0; e < 64; ++e) {
    const double p = 4 * count[e] / rows;
    CHECK(sum[e] / 16000 == Approx(p).epsilon(0.02).margin(4 * std::sqrt(p / 16000)));
  }
}

TEST_CASE("sequences keep experts from step to step as asked", "[property]") {
  const double temporal = GENERATE(0.0, 0.3, 0.8, 1.0), similarity = GENERATE(0.0, 0.5);
  Router router({.similarity = similarity, .temporal = temporal}, {256, 8}, 32);
  const double chance = similarity > 0 ? 0.22 : 8.0 / 256;  // to choose a dropped expert again
  const double share = overlap(router, 12);
  CHECK(share >= temporal - 0.02);
  CHECK(share <= temporal + (1 - temporal) * chance + 0.02);
}

TEST_CASE("keeping experts over steps does not change how many a step touches", "[property]") {
  const Kind kind = GENERATE(Kind::uniform, Kind::power_law);
  const double similarity = GENERATE(0.0, 0.6);
  Routing r{.kind = kind, .similarity = similarity};
  const double fresh = mean_touched(r, {256, 8}, 48, 60);
  r.temporal = 0.7;
  CHECK(mean_touched(r, {256, 8}, 48, 60) == Approx(fresh).epsilon(0.05));
}

TEST_CASE("opportunistic activation touches no expert that nobody keeps, and fewer the less is kept", "[property]") {
  const Kind kind = GENERATE(Kind::uniform, Kind::power_law, Kind::trace);
  const RouterShape shape = GENERATE(RouterShape{384, 8}, RouterShape{256, 8, 8, 4});
  Routing r = routing_of(kind, shape);
  double before = mean_touched(r, shape, 32);
  for (const int keep : {6, 4, 2}) {
    r.oea_keep = keep;
    const double now = mean_touched(r, shape, 32);
    CHECK(now < before);
    before = now;
    Router plain(routing_of(kind, shape), shape, 32), router(r, shape, 32);
    std::set<std::uint32_t> kept;
    for (int t = 0; t < 32; ++t) kept.insert(plain.choices(0).of(t), plain.choices(0).of(t) + keep);
    if (shape.groups == 1)
      for (const std::uint32_t e : router.choices(0).expert) REQUIRE(kept.contains(e));
    for (int t = 0; t < 32; ++t)
      REQUIRE(std::equal(plain.choices(0).of(t), plain.choices(0).of(t) + keep, router.choices(0).of(t)));
  }
}

TEST_CASE("one token alone keeps its own experts under opportunistic activation", "[property]") {
  Router plain({}, {64, 8}, 1), router({.oea_keep = 3}, {64, 8}, 1);
  CHECK(plain.draw(5) == router.draw(5));
}

TEST_CASE("group-limited tokens stay inside topk_groups groups", "[property]") {
  const Kind kind = GENERATE(Kind::uniform, Kind::power_law, Kind::histogram);
  Routing r = routing_of(kind, kShape);
  r.temporal = GENERATE(0.0, 0.5), r.oea_keep = GENERATE(0, 3);
  Router router(r, kShape, 40);
  for (int step = 0; step < 5; ++step) {
    router.start_step(step);
    const Choices& c = router.choices(2);
    for (int t = 0; t < c.tokens; ++t) {
      std::set<std::uint32_t> groups;
      for (int i = 0; i < 6; ++i) groups.insert(c.of(t)[i] / 8);
      REQUIRE(groups.size() <= 3);
    }
  }
}

TEST_CASE("the same seed draws the same, in any order of layers and steps; another seed does not", "[property]") {
  Routing r{.kind = Kind::power_law, .similarity = 0.4, .temporal = 0.5};
  r.oea_keep = GENERATE(0, 4);
  Router forward(r, {64, 8}, 16, 2), jumping(r, {64, 8}, 16, 2);
  std::vector<std::vector<int>> rows;
  for (int step = 0; step < 4; ++step)
    for (int layer = 0; layer < 3; ++layer) forward.start_step(step), rows.push_back(forward.draw(layer));
  for (std::size_t at : {11, 0, 7, 7, 4, 10, 1}) {
    jumping.start_step(static_cast<int>(at / 3));
    REQUIRE(jumping.draw(static_cast<int>(at % 3)) == rows[at]);
  }
  r.seed = 2;
  CHECK(Router(r, {64, 8}, 16, 2).draw(0) != rows[0]);
}
