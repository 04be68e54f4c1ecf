// How well does the simulator know a step that was executed? Results of `moe-calibrate replay` beside the same program,
// simulated now: step by step, category by category, kernel by kernel (docs/replay.md).
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"

namespace moe {

/// Sum over the ops of one name on rank 0, in microseconds.
struct ReplayedKernel {
  std::string name, category, path;
  int calls = 0;
  double simulated_us = 0;
  double alone_us = 0;     ///< measured: a graph of these ops only
  double in_step_us = 0;   ///< measured: the step less the step without them
};

struct ReplayedStep {
  std::string name, model, checkpoint, plan;
  int layers = 0, ranks = 1, sequences = 0;
  bool first_rank_alone = false;  ///< executed and compared: what rank 0 computes, without its collectives
  double context = 0;
  std::string problem;     ///< why there is no comparison; the numbers below are then 0
  double simulated_us = 0, low_us = 0, high_us = 0;  ///< low, high: 90 % interval of the simulation
  double measured_us = 0;
  std::vector<ReplayedKernel> kernels;
  double error_pct() const { return 100 * (simulated_us / measured_us - 1); }
};

/// Simulates the experiment of every result again, with `set` on top, and compares. A result whose program is another
/// one by now, or that was refused, gets a `problem`. Throws InputError when the document is no replay result.
std::vector<ReplayedStep> compare_replay(const nlohmann::ordered_json& results, const std::string& file, const Overrides& set);

struct ErrorSummary {
  int count = 0;
  double median_pct = 0, worst_pct = 0;  ///< of |error|; worst keeps its sign
  std::string worst;                     ///< program or kernel
};
/// Of the whole steps that have a comparison; `ranks` 0: all.
ErrorSummary step_errors(const std::vector<ReplayedStep>& steps, int ranks);
/// Of the first ranks that were executed alone.
ErrorSummary first_rank_errors(const std::vector<ReplayedStep>& steps);

/// Tables for people.
std::string replay_text(const std::vector<ReplayedStep>& steps);
/// The same for docs/validation-*.md.
std::string replay_markdown(const std::vector<ReplayedStep>& steps, const std::string& profile);
nlohmann::ordered_json replay_json(const std::vector<ReplayedStep>& steps);
/// program,name,category,path,calls,simulated_us,alone_us,in_step_us; the whole step is the row `step`.
std::string replay_csv(const std::vector<ReplayedStep>& steps);

}  // namespace moe
