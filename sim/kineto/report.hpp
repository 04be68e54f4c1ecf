// What does a user see of a traced step? The same facts as text, JSON and CSV.
#pragma once
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kineto/breakdown.hpp"
#include "kineto/waiting.hpp"

namespace moe {

/// A simulated step beside the traced one.
struct SimulatedStep {
  std::string experiment;
  double step_ms = 0;
  std::array<double, kCategoryNames.size()> breakdown_ms{};
};

/// One line per rank when several traces are given.
struct RankLine {
  std::string file;
  int rank = -1;
  double step_ms = 0, busy_ms = 0;
};

struct TraceReport {
  const KinetoTrace* trace = nullptr;  ///< the rank that is shown
  TraceSteps steps;
  TracedBreakdown breakdown;
  Waiting waiting;
  std::vector<RankLine> ranks;
  std::optional<SimulatedStep> simulated;
};

/// Text for people; `rows`: kernels listed.
std::string trace_text(const TraceReport& report, std::size_t rows);
/// Keys of docs/traces.md, in a stable order.
nlohmann::ordered_json trace_json(const TraceReport& report, const std::vector<std::string>& warnings);
/// category,ms_per_step,share,calls_per_step,hidden_ms,wait_ms and, with an experiment, simulated_ms
std::string trace_csv(const TraceReport& report);

}  // namespace moe
