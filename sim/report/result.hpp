// What is the answer? Everything that the views show about one run, computed once.
#pragma once
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "experiment/experiment.hpp"
#include "lower/lower.hpp"
#include "plan/memory.hpp"
#include "timeline/critical_path.hpp"
#include "timeline/usage.hpp"

namespace moe {

struct WhatIf {
  std::string name;
  double step_ms = 0;
  std::string problem;          ///< why there is no number
};

struct ClaimResult {
  Claim claim;
  double simulated = 0;
  bool holds = false;
};

struct LinkUse {
  std::string name;
  double capacity_GBps = 0;
  double carried_MB = 0;        ///< in one step
  double busy_share = 0;        ///< of the step
  double cost_ms = 0;           ///< of the step, lost to sharing on the critical path
};

/// Times are means over the simulated steps.
struct Result {
  double step_ms = 0;
  double tpot_ms = 0;                       ///< step / acceptance length (1 without speculation)
  double tokens_per_s = 0, tokens_per_s_per_sequence = 0;
  double interval_low_ms = 0, interval_high_ms = 0;  ///< 90 %
  std::vector<double> steps_ms;             ///< every simulated step
  std::array<double, kCategoryNames.size()> breakdown_ms{};  ///< critical path, sums to step_ms
  double contention_ms = 0;                 ///< step minus the step if no transfer shared a link
  double theoretical_min_ms = 0;            ///< bytes this plan reads per GPU over peak DRAM bandwidth
  double theoretical_min_unreplicated_ms = 0;
  double flops_pct_of_peak = 0;             ///< each op against the peak of its compute type
  Memory memory;
  std::vector<LinkUse> links;               ///< that carried something, costliest first
  std::vector<PathUse> paths;               ///< kernel paths and collectives, longest first
  std::vector<WhatIf> what_if;
  std::vector<ClaimResult> claims;
  std::vector<std::string> warnings;
  double active_experts = 0;
  int rows = 0;
  std::size_t ops = 0;
  std::uint64_t events = 0, solves = 0, fingerprint = 0;
  double host_ms = 0;                       ///< time of the simulation itself (not in result.json)
  /// Step time that a share `q` of the simulated steps does not exceed (nearest rank).
  double quantile_ms(double q) const;
  Lowered lowered;                          ///< of the first step
  Timeline timeline;                        ///< of the first step
};

struct EvaluateOptions {
  bool what_if = true;
  bool fold = true;
  bool detail = true;   ///< false: numbers only, without links, fingerprint and timeline (sweeps)
};

/// Simulates a case. Throws Infeasible (does not fit, no route) or InputError (a kernel is missing).
Result evaluate(const Case& c, const EvaluateOptions& options = {});

/// When the measured round began: 0, or where a pipeline's round before it ended.
Time step_start(const Lowered& l, const Timeline& t);

/// Step time only, with one thing changed.
double step_ms(const Case& c, const Tweaks& tweaks, Sharing sharing = Sharing::max_min);

/// Fills result.what_if: the step again with one thing twice as fast, then what the experiment asks for.
void add_what_ifs(const Case& c, Result& result);
/// Fills the interval from the spread of every path; see docs/uncertainty in README.
void add_interval(const Case& c, Result& result);
/// Checks the experiment's claims against the finished result.
void check_claims(const Case& c, Result& result);

}  // namespace moe
