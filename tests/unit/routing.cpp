// Which experts do tokens choose? Counts against closed forms, and what similarity and skew do to them.
#include "workload/router.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catch.hpp"

using namespace moe;

namespace {

int touched(const std::vector<int>& rows) {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(), [](int r) { return r > 0; }));
}

double mean_touched(const Routing& routing, int experts, int topk, int tokens, int draws) {
  Router router(routing, {experts, topk}, tokens);
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += touched(router.draw(i));
  return sum / draws;
}

Routing uniform(double similarity = 0) {
  Routing r;
  r.similarity = similarity;
  return r;
}
Routing power_law(double alpha) {
  Routing r;
  r.kind = Routing::Kind::power_law;
  r.alpha = alpha;
  return r;
}

}  // namespace

TEST_CASE("uniform routing touches E (1 - (1 - k/E)^B) experts on average", "[unit]") {
  const int experts = GENERATE(64, 384), topk = GENERATE(1, 8), tokens = GENERATE(1, 8, 64);
  const double e = experts, miss = std::pow(1 - topk / e, tokens);
  // An expert is touched or not: variance below e miss (1 - miss), as the events repel each other.
  const double sigma = std::sqrt(e * miss * (1 - miss) / 400);
  CHECK(mean_touched(uniform(), experts, topk, tokens, 400) ==
        Approx(e * (1 - miss)).margin(4 * sigma + 1e-9));
}

TEST_CASE("rows sum to (tokens + padding) x topk, and no token takes an expert twice", "[unit]") {
  const double similarity = GENERATE(0.0, 0.6), alpha = GENERATE(0.0, 1.2, 4.0);
  Routing r = alpha > 0 ? power_law(alpha) : uniform();
  r.similarity = similarity;
  Router router(r, {32, 8}, 20, 12);
  for (int i = 0; i < 50; ++i) {
    const std::vector<int>& rows = router.draw(i);
    REQUIRE(std::accumulate(rows.begin(), rows.end(), 0) == 32 * 8);
    REQUIRE(*std::max_element(rows.begin(), rows.end()) <= 32);
  }
}

TEST_CASE("padded rows hold the same data and choose the same experts", "[unit]") {
  Router router(uniform(), {384, 8}, 1, 7);
  for (int i = 0; i < 20; ++i) REQUIRE(touched(router.draw(i)) <= 16);
}

TEST_CASE("sequences that are alike touch fewer experts", "[unit]") {
  double before = mean_touched(uniform(), 384, 8, 64, 200);
  for (const double s : {0.2, 0.4, 0.6, 0.8, 0.95}) {
    const double now = mean_touched(uniform(s), 384, 8, 64, 200);
    INFO("similarity " << s);
    CHECK(now < before);
    before = now;
  }
}

TEST_CASE("similarity does not change one token alone", "[unit]") {
  for (const double s : {0.0, 0.5, 0.95}) CHECK(mean_touched(uniform(s), 384, 8, 1, 50) == 8);
}

TEST_CASE("similarity does not make experts popular: over many layers all are chosen alike", "[unit]") {
  Router router(uniform(0.8), {16, 2}, 4);
  std::vector<double> sum(16);
  for (int i = 0; i < 4000; ++i) {
    const std::vector<int>& rows = router.draw(i);
    for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += rows[e];
  }
  // 4000 x 4 x 2 / 16 = 2000 each; rows of one layer are alike, at most 4 per draw: sigma below 4
  // sqrt(4000/8) = 90.
  for (const double n : sum) CHECK(n == Approx(2000).margin(4 * 90));
}

TEST_CASE("the same seed gives the same draws, another seed others", "[unit]") {
  Routing other = power_law(1.2);
  other.seed = 2;
  Router a(power_law(1.2), {64, 8}, 16), b(power_law(1.2), {64, 8}, 16), c(other, {64, 8}, 16);
  bool differs = false;
  for (int i = 0; i < 10; ++i) {
    const std::vector<int> first = a.draw(i);
    REQUIRE(first == b.draw(i));
    differs = differs || first != c.draw(i);
  }
  CHECK(differs);
}

TEST_CASE("a power law touches fewer experts than uniform routing", "[unit]") {
  // Not monotone in alpha: a steep law gives almost all experts the popularity 1, which is uniform again.
  const double even = mean_touched(uniform(), 384, 8, 64, 100);
  for (const double alpha : {0.6, 1.2, 2.0})
    CHECK(mean_touched(power_law(alpha), 384, 8, 64, 100) < 0.9 * even);
  CHECK(mean_touched(power_law(10), 384, 8, 64, 100) == Approx(even).epsilon(0.05));
}

TEST_CASE("popularities of a power law span its range", "[unit]") {
  // Quantiles of p(x) ~ x^-alpha on [1, 200] at (i + 1/2)/E.
  const auto w = power_law_weights(384, 1.2);
  const double top = std::pow((std::pow(200, -0.2) - 1) * (383.5 / 384) + 1, -5.0);
  CHECK(w.size() == 384);
  CHECK(*std::max_element(w.begin(), w.end()) == Approx(top));
  CHECK(*std::min_element(w.begin(), w.end()) > 1);
}
