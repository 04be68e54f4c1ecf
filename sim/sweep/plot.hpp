// How does a metric change along an axis? The rows of a study as a chart, one line per series.
//
//   moe-sim plot out.db --x batch --y tpot --by plan      a line per plan, tpot_ms against batch.sequences
//
// Where several rows share series and x (axes that are neither), the best one is shown, and the picture says so.
#pragma once
#include "report/chart.hpp"
#include "sweep/store.hpp"

namespace moe {

struct PlotRequest {
  std::string x, y = "tokens_per_s";
  std::vector<std::string> by;      ///< axis keys, or `plan` for all keys of the plan; empty: all other keys
  std::vector<std::string> where;   ///< key=value: only these rows
  bool log_x = false, log_y = false, linear = false;
  std::size_t most_series = 12;     ///< the best ones when there are more
};

/// x and y may be axis keys (last component alone) or metrics (`tpot` for tpot_ms). Throws InputError.
Chart plot_chart(const Store& store, const PlotRequest& request);

}  // namespace moe
