// How far is the simulator from what was measured? Runs every row of a file and compares.
//
//   Validation v = validate(mapping, table, options);
//   v.rows[0].error()            // simulated / measured - 1, of time
#pragma once
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "report/result.hpp"
#include "validate/mapping.hpp"

namespace moe {

/// Status of one row of the file.
struct ValidatedRow {
  int line = 0;
  std::string id, source;
  std::string reason;            ///< why there is no comparison; empty: there is one
  std::string rule;              ///< short id of the reason: step of the mapping, "memory", "input", ...
  bool simulated = false;        ///< the times below are given
  bool per_step = false;         ///< the row measured a step, not a token
  double measured_ms = 0;        ///< per token of a sequence, or per step; 0: the row has no measurement
  double simulated_ms = 0, low_ms = 0, high_ms = 0;  ///< the same quantity, with its 90 % interval
  double step_ms = 0;
  double spread = 0;             ///< of ln(step), without what is known about the build
  std::string used_for_fit;      ///< what was fitted to this row; it counts in no other group
  bool sets_widths = false;      ///< of the half of the rows that interval widths come from
  std::array<double, kCategoryNames.size()> breakdown_ms{};
  std::vector<std::string> unknown;
  // What groups are made of.
  std::string family, model, checkpoint, stack, machine, plan;
  int batch = 0, drafts = 0;
  double context = 0;            ///< tokens as the row states them
  bool documented = false;
  GraphMode graph = GraphMode::full;

  bool compared() const { return simulated && measured_ms > 0; }
  double error() const { return simulated_ms / measured_ms - 1; }
  bool covered() const { return measured_ms >= low_ms && measured_ms <= high_ms; }
};

struct ValidateOptions {
  int threads = 0;                                        ///< 0: all cores
  std::function<void(std::size_t, std::size_t)> progress; ///< rows done, rows; called by one thread at a time
};

struct Validation {
  std::string file, mapping;
  std::vector<ValidatedRow> rows;  ///< in file order
};

/// Runs all rows. What a row lacks is its reason, never an exception.
Validation validate(const Mapping& mapping, const CsvTable& table, const ValidateOptions& options = {});

/// The experiment of a row as YAML, with the context that its run had; `reason` says why there is none.
std::string experiment_of(const Mapping& mapping, const CsvTable& table, const CsvRow& row, std::string& reason);

}  // namespace moe
