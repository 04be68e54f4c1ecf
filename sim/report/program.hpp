// The lowered program as a file that another program can execute: what every kernel is called with, in which order, on
// which rank (docs/replay.md). Reads back nothing: a replay is compared by lowering the experiment again.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "lower/lower.hpp"
#include "timeline/timeline.hpp"

namespace moe {

/// A step of one case, every rank by itself, with its calls and times.
struct RecordedStep {
  Lowered lowered;
  Timeline timeline;
  std::vector<double> call_us;          ///< by call: simulated time, contention included
  std::vector<Category> category;       ///< by call: of its last op (routed experts: the second GEMM)
  std::string hash;                     ///< of what is executed; times and profile do not change it
};

/// Lowers and plays the first step. Throws InputError where a replay has no meaning: speculation, pipelines, half
/// batches, launches outside of a full CUDA graph.
RecordedStep recorded_step(const Case& c);

/// The document of docs/replay.md. `name`: what the results call it.
nlohmann::ordered_json program_json(const Case& c, const RecordedStep& step, const std::string& name);

/// program_json() with one op per line.
std::string program_text(const nlohmann::ordered_json& program);

}  // namespace moe
