// The statistics of the MoE benchmark rows against those that the prototype's vectors list. Balanced rows
// agree exactly; power-law rows are averages over other draws of the same rule. Without the vectors the test
// says so and passes.
#include "fit/routing_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>

#include "catch.hpp"
#include "repository.hpp"

using namespace moe;

TEST_CASE("routing statistics agree with the prototype's", "[validation]") {
  std::ifstream in(test::shared() + "/reference/kernels_prototype/testvectors_moe_sm120.csv");
  std::string line;
  if (test::shared().empty() || !std::getline(in, line)) {
    std::printf("skipped: the prototype's vectors are not here\n");
    return;
  }
  std::vector<double> off;  // relative difference of rows, active experts and tiles of 16
  while (std::getline(in, line)) {
    std::vector<std::string> c;
    std::string cell;
    for (std::istringstream row(line); std::getline(row, cell, ',');) c.push_back(cell);
    const auto whole = [&](std::size_t i) { return static_cast<int>(std::stod(c[i])); };
    const bool balanced = c[9] == "balanced";
    const RoutingStatistics s = routing_statistics(
        {balanced ? 0 : std::stod(c[9].substr(10)), whole(1), whole(6), whole(5), whole(8)});
    const double difference = std::max({std::abs(s.load.active / std::stod(c[10]) - 1),
                                        std::abs(s.load.rows / std::stod(c[11]) - 1),
                                        std::abs(s.load.tiles_for(16) / std::stod(c[15]) - 1)});
    if (balanced)
      CHECK(difference < 1e-3);
    else
      off.push_back(difference);
  }
  std::sort(off.begin(), off.end());
  std::printf("routing statistics: %zu power-law rows, median difference %.2f %%, p90 %.2f %%\n", off.size(),
              100 * off[off.size() / 2], 100 * off[off.size() * 9 / 10]);
  CHECK(off[off.size() / 2] < 0.02);
  CHECK(off[off.size() * 9 / 10] < 0.08);
}
