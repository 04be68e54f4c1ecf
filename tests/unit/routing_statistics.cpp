// What the MoE benchmark rows multiplied: balanced in closed form, power law by its invariants.
#include "fit/routing_statistics.hpp"

#include "catch.hpp"

using namespace moe;

TEST_CASE("64 balanced tokens of top-8 touch all 384 experts once or twice", "[unit]") {
  const RoutingStatistics s = routing_statistics({0, 64, 384, 8, 1});
  CHECK(s.load.active == 384);
  CHECK(s.load.rows == 512);
  CHECK(s.load.tiles_for(16) == 384);
  CHECK(s.union5 == 384);
}

TEST_CASE("a balanced rank of four has a quarter of the rows", "[unit]") {
  const RoutingStatistics s = routing_statistics({0, 96, 384, 8, 4});
  CHECK(s.load.active == 96);
  CHECK(s.load.rows == 192);
  CHECK(s.load.tokens_here == 96);
}

TEST_CASE("power-law draws keep all rows, and the timed rank is the most loaded one", "[unit]") {
  const RoutingStatistics whole = routing_statistics({1.2, 128, 256, 8, 1});
  CHECK(whole.load.rows == Approx(128 * 8));
  const RoutingStatistics rank = routing_statistics({1.2, 128, 256, 8, 4});
  CHECK(rank.load.rows >= 128 * 8 / 4.0);
  CHECK(rank.union5 >= rank.load.active);
  CHECK(routing_statistics({1.2, 128, 256, 8, 4}).load.rows == rank.load.rows);
}
