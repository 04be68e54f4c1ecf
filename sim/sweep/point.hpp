// What is the answer at one point of a study? The metrics of a run as one row of numbers, or the reason why there is none.
//
//   Row row = evaluate_point(study, 17, cache);      // never throws for what a user can cause
//   row.status == Status::ok:          row.metrics[0] is step_ms, ... (metric_names())
//   row.status == Status::infeasible:  row.rule "memory", row.reason "does not fit: GPU 0 needs 141.0 GiB ..."
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "experiment/cache.hpp"
#include "sweep/grid.hpp"

namespace moe {

/// infeasible: an answer (does not fit, illegal plan, not simulated yet). failed: our bug at this point.
enum class Status { ok, infeasible, failed };
std::string_view name_of(Status status);
Status status_of(std::string_view name);

struct Row {
  std::uint64_t index = 0;
  Status status = Status::ok;
  std::string rule;              ///< stable short id of the reason
  std::string reason;
  std::vector<std::string> axes; ///< value of every axis key
  std::vector<double> metrics;   ///< by metric_names(); empty unless ok
};

/// Names of the metrics, as in result.json; nested keys dotted (breakdown_ms.experts).
const std::vector<std::string>& metric_names();
/// Position of a metric, or -1.
int metric_position(std::string_view name);

Row evaluate_point(const Study& study, std::uint64_t index, CaseCache& cache);

}  // namespace moe
