// A fit finds the constants that made its rows, the same way every time, whatever the order of the rows.
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "cost/load_profile.hpp"
#include "fit/comm_section.hpp"
#include "machine/load.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

struct Truth {
  std::vector<CommSetup> setups;
  CommCost cost;
  std::vector<CommRow> rows;
};

/// Rows computed from the profile itself.
Truth truth() {
  Diagnostics d;
  Truth t;
  t.setups = {{"made", load_machine(test::root() + "/topologies/pcie-2s-host-bounced.yaml", d)}};
  t.cost = load_profile(test::root() + "/calibration/profiles/rtx-pro-6000.yaml", d).comm;
  REQUIRE_FALSE(d.has_errors());
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::all_to_all})
    for (const int gpus : {2, 4, 8})
      for (double bytes = 1024; bytes <= 4 << 20; bytes *= 2) t.rows.push_back({"made", op, "half", gpus, bytes, 1});
  const auto made = evaluate_comm(t.cost, t.rows, t.setups);
  for (std::size_t i = 0; i < t.rows.size(); ++i) t.rows[i].latency_us = made[i].predicted_us;
  return t;
}

}  // namespace

TEST_CASE("constants come back from rows that they made", "[property]") {
  const Truth t = truth();
  const CommCost fitted = fit_comm(t.rows, t.setups);
  const ErrorSummary s = summary_of(evaluate_comm(fitted, t.rows, t.setups));
  CHECK(s.median_pct < 1);
  CHECK(s.p90_pct < 3);
  CHECK(fitted.transport.at("shm").rate_simple_GBps == Approx(t.cost.transport.at("shm").rate_simple_GBps).epsilon(0.1));
  CHECK(fitted.all_to_all.front().threads == t.cost.all_to_all.front().threads);
  CHECK_FALSE(fitted.ll_whole_pass);
}

TEST_CASE("the same rows give the same constants, in any order within rounding", "[property]") {
  Truth t = truth();
  const auto text = [&] { return comm_yaml({fit_comm(t.rows, t.setups), {}, {}, {}}); };
  const std::string once = text();
  CHECK(text() == once);
  const double base = fit_comm(t.rows, t.setups).t_base_us;
  std::reverse(t.rows.begin(), t.rows.end());
  CHECK(fit_comm(t.rows, t.setups).t_base_us == Approx(base).epsilon(1e-3));
}

TEST_CASE("sizes are even or odd powers of two, or between", "[property]") {
  CHECK(size_class(1024) == SizeClass::even);
  CHECK(size_class(2048) == SizeClass::odd);
  for (double size = 1024; size < 1 << 23; size *= 2) CHECK(size_class(1.25 * size) == SizeClass::between);
}
