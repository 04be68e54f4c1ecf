// The calibration suite draws routing by a copy of the rule that the fit assumes: do the two agree?
#include "../../calibration/bench/measure/routing.hpp"

#include <set>

#include "catch.hpp"
#include "fit/routing_statistics.hpp"

using namespace moe;

namespace {

/// Rows of rank 0's experts, from the choices of all tokens.
ExpertLoad load_of_choices(const bench::RoutingRule& rule, const std::vector<int>& chosen) {
  const int local = rule.experts / rule.ep;
  std::vector<int> rows(static_cast<std::size_t>(local));
  double here = 0;
  for (std::size_t t = 0; t < static_cast<std::size_t>(rule.tokens); ++t) {
    bool any = false;
    for (std::size_t j = 0; j < static_cast<std::size_t>(rule.topk); ++j) {
      const int e = chosen[t * static_cast<std::size_t>(rule.topk) + j];
      if (e < local) ++rows[static_cast<std::size_t>(e)];
      any = any || e < local;
    }
    here += any ? 1 : 0;
  }
  return load_of(rows, here);
}

}  // namespace

TEST_CASE("the suite's routing is what the fit assumes of a row", "[unit]") {
  std::mt19937_64 random(1);
  // tokens, experts, topk, ep, alpha: few and many choices per expert, one rank and four.
  for (const bench::RoutingRule& rule : {bench::RoutingRule{3, 144, 6, 1, 0}, {64, 96, 8, 4, 0}, {24, 320, 8, 1, 1.2},
                                         {256, 64, 4, 1, 1.2}, {192, 288, 6, 4, 1.2}}) {
    INFO(rule.tokens << " tokens, top " << rule.topk << " of " << rule.experts << ", ep " << rule.ep);
    constexpr int kDraws = 200;
    double active = 0, rows = 0, here = 0;
    for (int i = 0; i < kDraws; ++i) {
      const std::vector<int> chosen = bench::choices(rule, random);
      REQUIRE(chosen.size() == static_cast<std::size_t>(rule.tokens * rule.topk));
      for (int t = 0; t < rule.tokens; ++t)  // a token's experts are all different
        REQUIRE(std::set<int>(chosen.begin() + t * rule.topk, chosen.begin() + (t + 1) * rule.topk).size() ==
                static_cast<std::size_t>(rule.topk));
      const ExpertLoad load = load_of_choices(rule, chosen);
      active += load.active / kDraws;
      rows += load.rows / kDraws;
      here += load.tokens_here / kDraws;
    }
    const ExpertLoad assumed = routing_statistics({rule.alpha, rule.tokens, rule.experts, rule.topk, rule.ep}).load;
    // Balanced rows are the same every time; the statistics of a power law are means of 20 draws, whose own spread
    // here is 2 to 3 %.
    const double margin = rule.alpha > 0 ? 0.05 : 1e-9;
    CHECK(active == Approx(assumed.active).epsilon(margin));
    CHECK(rows == Approx(assumed.rows).epsilon(margin));
    CHECK(here == Approx(assumed.tokens_here).epsilon(margin));
  }
}
