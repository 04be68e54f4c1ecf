// How good is it, by kind of row? Statistics of errors over groups of rows.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "validate/run.hpp"

namespace moe {

/// Errors are of time: simulated / measured - 1. A bias above 0 means that the simulator is too slow.
struct GroupStats {
  std::string group;          ///< "by=value", e.g. "model=kimi-k2.5"
  std::size_t rows = 0;
  double median_pct = 0, mean_pct = 0, p90_pct = 0;  ///< of |error|
  double bias_pct = 0;        ///< median of the signed error
  double coverage90_pct = 0;  ///< share of rows whose measurement lies in the 90 % interval
  double width_pct = 0;       ///< median width of the interval over the simulated time
};

/// Statistics of the rows that were compared.
GroupStats stats_of(const std::string& name, const std::vector<const ValidatedRow*>& rows);

/// Rows that the accuracy bars of docs/accuracy.md are about: no speculation, batch 1 to 128, context up to 128k.
bool in_bar(const ValidatedRow& row);

/// All groups: the whole, the bars, then by speculation, graphs, stack, family, model, plan, batch and context; those by
/// plan, batch, context and model are made of the bar's full-graph rows.
std::vector<GroupStats> group_stats(const Validation& v);

struct Unmapped {
  std::string rule, reason;
  std::size_t rows = 0;
  std::string example;        ///< id of the first row
};
/// Rows without a comparison, by reason, most rows first. Numbers in reasons are folded: "GPU # needs # GiB".
std::vector<Unmapped> unmapped(const Validation& v);

/// Compared rows, worst |ln(simulated/measured)| first.
std::vector<const ValidatedRow*> worst_rows(const Validation& v, std::size_t most);

}  // namespace moe
