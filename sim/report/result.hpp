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
  double simulated = 0;     ///< NaN: there is no such number, see `problem`
  bool holds = false;       ///< within the tolerance; true where nothing is claimed
  std::string problem;      ///< why there is no number
  /// "reproduced", "refuted", "consistent only under ...", "predicted" or "no answer: ...".
  std::string verdict() const;
};

/// What the grouped GEMMs of the routed experts reach on the first rank, in the first step.
struct ExpertGemm {
  double slice = 0;               ///< of an expert's intermediate size per GPU: N of its gate and of its up product, K of down
  double rows_per_expert = 0;     ///< of a touched expert
  double dram_pct_of_peak = 0;    ///< bytes read / time / peak DRAM bandwidth
  double flops_pct_of_peak = 0;   ///< useful FLOPs / time / peak of the format it multiplies in
};

struct LinkUse {
  std::string name;
  double capacity_GBps = 0;
  double carried_MB = 0;        ///< in one step
  double busy_share = 0;        ///< of the step
  double cost_ms = 0;           ///< of the step, lost to sharing on the critical path
};

/// One cell of the speculation table.
struct SpeculationPoint {
  int batch = 0, k = 0;
  double step_ms = 0, acceptance_length = 1, tpot_ms = 0;
  double speedup = 1;               ///< TPOT without drafts over this TPOT
  double break_even_length = 1;     ///< acceptance length at which this k costs what it saves: step(k) / step(0)
  bool extrapolated = false;        ///< more drafts than acceptance was measured with
};

/// What speculation does to the answer (docs/speculation.md). Of the run's own batch, then a table over k and batch.
struct SpeculationResult {
  bool on = false;
  std::string method, source;
  int k = 0;                                ///< drafts of this batch
  double acceptance_length = 1, low = 1, high = 1;  ///< 90 % interval
  std::vector<double> per_position, accepted;       ///< S_i; P(n accepted)
  double served_length = 1, slowest_length = 1;     ///< refilled batch; batch drain
  double tpot_low_ms = 0, tpot_high_ms = 0;
  double step_without_ms = 0, speedup = 1, break_even_length = 1;
  double draft_ms = 0, verify_ms = 0;
  int best_k = 0;                           ///< at the run's batch, among the k that acceptance was measured with
  double break_even_batch = 0;              ///< beyond it k drafts never pay again; 0: they pay up to the table's end
  std::vector<SpeculationPoint> table;
};

/// A batch that is not refilled (batch.remaining), from now until its last sequence is done.
struct DrainResult {
  bool on = false;
  double seconds = 0, low = 0, high = 0;   ///< 90 % interval: draws, step and acceptance
  double half_seconds = 0, mean_batch = 0, tokens_per_s = 0;
  double seconds_without = 0;              ///< without drafts; 0: there are none
};

/// Times are means over the simulated steps.
struct Result {
  double step_ms = 0;
  double tpot_ms = 0;                       ///< step / acceptance length (1 without speculation)
  double tokens_per_s = 0, tokens_per_s_per_sequence = 0;
  double interval_low_ms = 0, interval_high_ms = 0;  ///< 90 %
  double spread = 0;                        ///< of ln(step): what kernels, routing, host and stated unknowns give together
  std::vector<double> steps_ms;             ///< every simulated step
  std::array<double, kCategoryNames.size()> breakdown_ms{};  ///< critical path, sums to step_ms
  double contention_ms = 0;                 ///< step minus the step if no transfer shared a link
  double theoretical_min_ms = 0;            ///< bytes this plan reads per GPU over peak DRAM bandwidth
  double theoretical_min_unreplicated_ms = 0;
  double flops_pct_of_peak = 0;             ///< each op against the peak of its compute type
  double achieved_tflops = 0;               ///< useful FLOPs of all GPUs over the step
  double achieved_pct_of_fastest_peak = 0;  ///< the same against the GPUs' peak in their fastest format
  ExpertGemm expert_gemm;
  Memory memory;
  std::vector<LinkUse> links;               ///< that carried something, costliest first
  std::vector<PathUse> paths;               ///< kernel paths and collectives, longest first
  std::vector<WhatIf> what_if;
  SpeculationResult speculation;
  DrainResult drain;
  std::vector<ClaimResult> claims;
  std::vector<std::string> warnings;
  double active_experts = 0;
  GraphMode graph = GraphMode::full;        ///< how the step was launched
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
/// Memory of every rank of one replica, draft included.
Memory memory_of(const Case& c);
/// Acceptance, and time per token with it; after the interval. `compares`: also the step without drafts, simulated again.
void add_speculation(const Case& c, Result& result, bool compares);
/// Speed-up by batch and k: the step simulated for each. Batches that do not fit are left out.
void add_speculation_table(const Case& c, Result& result);
/// Plays the batch until it is empty (batch.remaining). After speculation.
void add_drain(const Case& c, Result& result);
/// Checks the experiment's claims against the finished result; a claim with `set` is simulated with those keys changed.
void check_claims(const Case& c, Result& result);

}  // namespace moe
