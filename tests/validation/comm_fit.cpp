// How good are fitted communication constants on sizes that were not fitted? Needs the measurements beside the checkout.
#include <cstdio>

#include "catch.hpp"
#include "fit/comm.hpp"
#include "machine/load.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

Machine load(const std::string& name) {
  Diagnostics d;
  Machine m = load_machine(test::root() + "/topologies/" + name + ".yaml", d);
  REQUIRE_FALSE(d.has_errors());
  return m;
}

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

/// NCCL 2.29.2, and the engines' tables at 4 and 8 GPUs, which are NCCL too.
std::vector<CommSetup> host_bounced() {
  const Machine m = load("pcie-2s-host-bounced");
  return {{"nccl-2.29.2", m, {}, 2},
          {"sglang-0.5.14/SGLang_CustomAllReduce_graph", m, {}, 4},
          {"vllm-0.24.0/vLLM_custom_graph", m, {}, 4},
          {"trtllm-1.3.0rc20/TRTLLM", m, {}, 4}};
}

void check(const char* what, const std::vector<CommError>& errors, double median, double p90) {
  const ErrorSummary s = summary_of(errors);
  std::printf("  %s: %zu rows, median %.2f %%, p90 %.2f %%\n", what, s.rows, s.median_pct, s.p90_pct);
  CHECK(s.median_pct <= median);
  CHECK(s.p90_pct <= p90);
}

}  // namespace

TEST_CASE("RTX PRO 6000: powers of two with even exponents predict the odd ones, and the other way round", "[validation]") {
  const auto setups = host_bounced();
  const auto rows = usable_rows(rows_of("sm120"), setups);
  if (rows.empty()) return;
  for (const SizeClass fitted : {SizeClass::even, SizeClass::odd}) {
    std::vector<CommRow> fit, rest;
    for (const CommRow& r : rows) (size_class(r.bytes) == fitted ? fit : rest).push_back(r);
    const auto errors = evaluate_comm(fit_comm(fit, setups), rest, setups);
    // Fitted on the odd ones p90 is 10.3 %: all-to-all of two GPUs has few sizes there.
    check(fitted == SizeClass::even ? "fitted on even" : "fitted on odd", errors, 4, fitted == SizeClass::even ? 10 : 11);
  }
}

TEST_CASE("two H200: powers of two and 5120 B predict the sizes between them, over three transports", "[validation]") {
  const auto all = rows_of("h200x2");
  if (all.empty()) return;
  const Machine bounced = load("h200x2-host-bounced");
  const std::vector<std::vector<CommSetup>> together{
      {{"nccl-2.28-nvlink", load("h200x2-nvlink"), {}, 2}},
      {{"nccl-2.28-shm", bounced, {}, 2}, {"nccl-2.28-shm_ll", bounced, {Protocol::ll}, 2}}};
  for (const auto& setups : together) {
    std::vector<CommRow> fit, rest;
    for (const CommRow& r : usable_rows(all, setups, 8 << 20))
      (size_class(r.bytes) != SizeClass::between || r.bytes == 5120 ? fit : rest).push_back(r);
    const CommCost cost = fit_comm(fit, setups);
    std::printf("  started passes count %s, blocks of at least %d threads\n", cost.ll_whole_pass ? "whole" : "their share",
                cost.ll_min_threads);
    for (const CommSetup& s : setups) {
      std::vector<CommRow> mine;
      for (const CommRow& r : rest)
        if (r.path == s.path) mine.push_back(r);
      check(s.path.c_str(), evaluate_comm(cost, mine, setups), 5, 10);
    }
  }
}
