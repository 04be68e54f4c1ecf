// How far is a profile off? Predicted against measured, row by row, and pooled.
//
//   op    path                 dtype  bucket  rows  median_pct  mean_pct  p90_pct  outside_pct
//   gemm  sglang-0.5.14/nvfp4  nvfp4  all     1344  1.1         2.9       7.8      0.0
//   gemm  all                  nvfp4  all     5056  1.6         3.6       9.5      0.0
#pragma once
#include "fit/samples.hpp"

namespace moe {

struct Spread {
  double median = 0, mean = 0, p90 = 0;
};
/// Median: middle element (upper); p90: element at 90 % of the sorted errors. Zeros when empty.
Spread spread_of_errors(std::vector<double> errors_pct);

struct RowError {
  std::size_t path = 0;  ///< position in Evaluation::paths
  Sample sample;
  double predicted_us = 0;
  bool in_range = true;
  double error_pct() const { return 100 * (predicted_us / sample.us - 1); }
};

struct Evaluation {
  std::vector<PathData> paths;
  std::vector<RowError> rows;
  std::vector<std::string> missing;  ///< measured paths that the profile does not have
};

enum class Which { all, held_out, fitted };
/// `where`: only matching rows (empty: all). `cold`: only rows whose data came from DRAM.
Evaluation evaluate_profile(const Profile& profile, const Measurements& m, const Protocol& protocol,
                            Which which, bool cold, const std::vector<Where>& leave_out,
                            const std::vector<Where>& where);

struct SummaryRow {
  std::string op, path, dtype, bucket;  ///< `all` where pooled
  std::size_t rows = 0;
  Spread spread;
  double outside_pct = 0;  ///< share of rows outside the fitted range
};
/// Per path and bucket, per path, per (op, dtype) and bucket, per (op, dtype), per op; in this order within
/// an op.
std::vector<SummaryRow> summarise(const Evaluation& e);

}  // namespace moe
