// What does a row's figure say about time? The metrics that a row may state, as milliseconds.
#pragma once
#include <string>

#include "validate/csv_table.hpp"

namespace moe {

struct Measured {
  double ms = 0;            ///< 0: the row states no value
  bool per_step = false;    ///< of a step; false: of a token of one sequence
  std::string problem;      ///< why it cannot be read
};

/// Metrics: output_tok_s_total (tokens/s of all sequences), decode_tok_s_per_user, tpot_ms, step_ms.
///   time per token = concurrency / (tokens/s)
Measured measured_of(const CsvTable& table, const CsvRow& row);

}  // namespace moe
