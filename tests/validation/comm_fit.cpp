// How good are fitted communication constants on sizes that were not fitted? Needs the measurements beside the checkout.
#include <cstdio>

#include "catch.hpp"
#include "fit/comm_setups.hpp"
#include "shipped_machines.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

std::vector<CommRow> rows_of(const std::string& folder) {
  if (test::shared().empty()) {
    WARN("no ../shared: measurements are not here, nothing is compared");
    return {};
  }
  Diagnostics d;
  auto rows = read_collectives(test::shared() + "/data/" + folder + "/collective.csv", d);
  REQUIRE_FALSE(d.has_errors());
  return rows;
}

/// How the rows of a GPU were measured, as shipped.
std::vector<CommSetup> setups_of(const std::string& gpu) {
  return load_setups(test::root() + "/calibration/protocols/collectives-" + gpu + ".yaml", test::machine);
}

void check(const char* what, const std::vector<CommError>& errors, double median, double p90) {
  const ErrorSummary s = summary_of(errors);
  std::printf("  %s: %zu rows, median %.2f %%, p90 %.2f %%\n", what, s.rows, s.median_pct, s.p90_pct);
  CHECK(s.median_pct <= median);
  CHECK(s.p90_pct <= p90);
}

}  // namespace

TEST_CASE("RTX PRO 6000: powers of two with even exponents predict the odd ones, and the other way round", "[validation]") {
  const auto setups = setups_of("rtx-pro-6000");
  const auto rows = usable_rows(rows_of("sm120"), setups);
  if (rows.empty()) return;
  for (const SizeClass fitted : {SizeClass::even, SizeClass::odd}) {
    const CommSplit s = split_rows(rows, fitted);
    const auto errors = evaluate_comm(fit_comm(s.fit, setups), s.test, setups);
    check(fitted == SizeClass::even ? "fitted on even" : "fitted on odd", errors, 4, 10);
  }
}

TEST_CASE("two H200: powers of two and 5120 B predict the sizes between them, over three transports", "[validation]") {
  const auto all = rows_of("h200x2");
  if (all.empty()) return;
  const auto setups = setups_of("h200");
  const CommSplit halves = split_rows(usable_rows(all, setups));
  const CommCost cost = fit_comm(halves.fit, setups);  // one profile for all three
  std::printf("  started passes count %s, blocks of at least %d threads\n", cost.ll_whole_pass ? "whole" : "their share",
              cost.ll_min_threads);
  for (const CommSetup& s : setups) {
    std::vector<CommRow> mine;
    for (const CommRow& r : halves.test)
      if (r.path == s.path) mine.push_back(r);
    if (!mine.empty()) check(s.path.c_str(), evaluate_comm(cost, mine, setups), 5, 10);
  }
}
