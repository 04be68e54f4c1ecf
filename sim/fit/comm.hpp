// Which communication constants explain a table of measured collectives best, and how well do they do on other rows?
//
//   path,op,dtype,gpus,bytes,latency_us
//   nccl-2.29.2,all_reduce,half,8,16384,27.0
//
//   std::vector<CommSetup> setups{{"nccl-2.29.2", machine}};          // how the rows of a path were measured
//   CommCost cost = fit_comm(rows, setups);
//   auto errors = evaluate_comm(cost, other_rows, setups);
//
// The machine says what NCCL sees (channels, believed bandwidth, transports); only times are fitted. Least squares of
// ln(predicted / measured) by Levenberg-Marquardt, rows beyond 5 % counting linearly, constants as logarithms, a weak pull
// towards generic starting values so that a constant that no row decides stays there. The same input gives the same
// output. Threads per all-to-all peer, and how a started LL pass counts, are chosen by trying.
#pragma once
#include <string>
#include <vector>

#include "config/diagnostic.hpp"
#include "cost/collective.hpp"

namespace moe {

struct CommRow {
  std::string path;
  CollectiveOp op = CollectiveOp::all_reduce;
  std::string dtype;
  int gpus = 0;
  double bytes = 0, latency_us = 0;
};

struct CommSetup {
  std::string path;                 ///< rows of this path ...
  Machine machine;                  ///< ... were measured on the first GPUs of this machine
  std::vector<Protocol> protocols{};  ///< that NCCL was held to; empty: its own choice
  int least_gpus = 2;               ///< below, the rows are of another kernel
  double most_bytes = 4 << 20;      ///< above, other things decide than the equations say
  std::vector<CollectiveOp> ops{};  ///< empty: all
  /// The rows decide only what no other setup's rows do: transports and rank counts that are nowhere else. For rows of
  /// another host, which shall not pull at the constants of the first.
  bool adds = false;
  /// `path` may end with `*`.
  bool covers(const CommRow& row) const;
};

/// Reads collective.csv. Rows of other ops are passed over.
std::vector<CommRow> read_collectives(const std::string& file, Diagnostics& out);

/// Rows that the equations are for: of the setups, from 1 KB on, no 8-bit reductions of 1 MB or more (those are bound by
/// arithmetic).
std::vector<CommRow> usable_rows(const std::vector<CommRow>& rows, const std::vector<CommSetup>& setups);

/// Rows by size: exact powers of two with an even or odd exponent, and sizes between.
enum class SizeClass { even, odd, between };
SizeClass size_class(double bytes);

CommCost fit_comm(const std::vector<CommRow>& rows, const std::vector<CommSetup>& setups);

struct CommError {
  CommRow row;
  double predicted_us = 0;
  double off() const { return predicted_us / row.latency_us - 1; }
};
std::vector<CommError> evaluate_comm(const CommCost& cost, const std::vector<CommRow>& rows,
                                     const std::vector<CommSetup>& setups);

/// Median and 90 % point of |predicted / measured - 1| [percent].
struct ErrorSummary {
  std::size_t rows = 0;
  double median_pct = 0, p90_pct = 0;
};
ErrorSummary summary_of(const std::vector<CommError>& errors);
/// A line per op and GPU count, with columns by size: up to 16 KB, 256 KB, above.
std::string comm_report(const std::vector<CommError>& errors);

/// Rows to fit and rows to test, and the other way round. Where a path has sizes between the powers of two, all powers and
/// 5120 B are fitted and the other sizes between are the test; else even powers, tested on odd ones.
struct CommSplit {
  std::vector<CommRow> fit, test;
};
CommSplit split_rows(const std::vector<CommRow>& rows, SizeClass fitted = SizeClass::even);

}  // namespace moe
