// A fit finds the constants that made its rows, the same way every time, whatever the order of the rows.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "cost/load_profile.hpp"
#include "fit/comm_section.hpp"
#include "machine/load.hpp"
#include "program.hpp"
#include "repository.hpp"
#include "temporary.hpp"

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

TEST_CASE("fit warns where one machine is given for rows of several paths", "[property]") {
  const test::Folder folder;
  std::string csv = "path,op,dtype,gpus,bytes,latency_us\n";
  for (const char* path : {"nccl-2.28-nvlink", "nccl-2.28-shm"})
    for (double bytes = 1024; bytes <= 1 << 20; bytes *= 2)
      csv += fmt::format("{},all_reduce,half,2,{:.0f},{:.3f}\n", path, bytes, 6 + bytes * 1e-5);
  folder.write("collective.csv", csv);
  const std::string fit = "fit " + folder.path() + " --only comm --gpu h200 --out " + folder.path("p.yaml") + " --machine ";
  const test::Ran one = test::moe_sim(fit + "h200x2-nvlink");
  CHECK(one.err.find("rows of `nccl-2.28-nvlink` (11 rows), `nccl-2.28-shm` (11 rows)") != std::string::npos);
  CHECK(one.err.find("- {path: nccl-2.28-shm, machine: h200x2-nvlink}") != std::string::npos);
  folder.write("setups.yaml", "schema: 1\nsetups:\n  - {path: nccl-2.28-nvlink, machine: h200x2-nvlink}\n");
  CHECK(test::moe_sim(fit + folder.path("setups.yaml")).err.find("are all taken") == std::string::npos);
}
