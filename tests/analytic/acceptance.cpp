// Acceptance lengths by hand.
#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "workload/acceptance.hpp"

using namespace moe;

TEST_CASE("survival adds up to the acceptance length, the bonus token counted", "[analytic]") {
  Acceptance a;
  a.per_position = {0.739, 0.487, 0.304};
  CHECK(acceptance_length(survival(a, 3, 1, 3)) == Approx(1 + 0.739 + 0.487 + 0.304));
  CHECK(acceptance_length(survival(a, 1, 1, 3)) == Approx(1.739));
  CHECK(acceptance_length(survival(a, 0, 1, 3)) == 1);
  // Beyond the list the last conditional probability goes on: 0.304 x 0.304/0.487.
  CHECK(survival(a, 4, 1, 3)[3] == Approx(0.304 * 0.304 / 0.487));
}

TEST_CASE("a mean length stands for one conditional probability", "[analytic]") {
  // 1 + 1/2 + 1/4 + 1/8 = 1.875
  CHECK(conditional_probability(1.875, 3) == Approx(0.5));
  Acceptance a;
  a.mean_length = 1.875;
  a.drafts = 3;
  CHECK(acceptance_length(survival(a, 1, 1, 5)) == Approx(1.5));
  CHECK(acceptance_length(survival(a, 4, 1, 5)) == Approx(1.9375));
  a.drafts = 0;  // measured with the k of the run
  CHECK(acceptance_length(survival(a, 5, 1, 5)) == Approx(1.875));
}

TEST_CASE("the first rejection ends a step", "[analytic]") {
  const std::vector<double> p = accepted_distribution({0.8, 0.6, 0.3});
  REQUIRE(p.size() == 4);
  CHECK(p[0] == Approx(0.2));
  CHECK(p[1] == Approx(0.2));
  CHECK(p[2] == Approx(0.3));
  CHECK(p[3] == Approx(0.3));
}

TEST_CASE("acceptance may depend on the batch", "[analytic]") {
  Acceptance a;
  a.by_batch = {{8, 2.5, {}}, {64, 0, {0.5, 0.2}}};
  CHECK(acceptance_length(survival(a, 3, 8, 3)) == Approx(2.5));
  CHECK(acceptance_length(survival(a, 2, 9, 3)) == Approx(1.7));
  CHECK(acceptance_length(survival(a, 2, 500, 3)) == Approx(1.7));  // the last entry holds beyond it
}

TEST_CASE("slow sequences stay longer, and the slowest ends a batch that is not refilled", "[analytic]") {
  CHECK(served_length(2.5, 0, 3) == 2.5);
  // E[1/x] of a normal of mean 2.5 and deviation 0.25: (1 + (0.25/2.5)^2) / 2.5 to second order.
  CHECK(served_length(2.5, 0.25, 3) == Approx(2.5 / 1.01).epsilon(1e-3));
  CHECK(slowest_length(2.5, 0.25, 3, 1) == Approx(2.5));
  CHECK(slowest_length(2.5, 0.25, 3, 64) == Approx(2.5 - 2.298 * 0.25).epsilon(1e-2));  // normal quantile of 0.0108
}

TEST_CASE("a trace gives survival and spread", "[analytic]") {
  const std::string file = (std::filesystem::temp_directory_path() / "moe-acceptance-trace.csv").string();
  std::ofstream(file) << "sequence,accepted\na,3\na,1\nb,0\nb,0\n";
  Acceptance a;
  REQUIRE(read_acceptance_trace(file, a).empty());
  CHECK(a.per_position == std::vector<double>{0.5, 0.25, 0.25});
  CHECK(acceptance_length(survival(a, 3, 1, 3)) == Approx(2.0));
  CHECK(a.spread == Approx(1.0));  // means 3 and 1
  std::ofstream(file) << "steps\n1\n";
  CHECK(read_acceptance_trace(file, a).find("accepted") != std::string::npos);
  std::filesystem::remove(file);
}
