// Reading collective.csv, and reporting errors over its rows.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "fit/comm.hpp"
#include "fit/csv.hpp"

namespace moe {
namespace {

std::optional<CollectiveOp> op_of(std::string_view name) {
  if (name == "all_reduce") return CollectiveOp::all_reduce;
  if (name == "all_gather") return CollectiveOp::all_gather;
  if (name == "reduce_scatter") return CollectiveOp::reduce_scatter;
  if (name == "alltoall" || name == "all_to_all") return CollectiveOp::all_to_all;
  return std::nullopt;
}

}  // namespace

std::vector<CommRow> read_collectives(const std::string& file, Diagnostics& out) {
  CsvFile f(file, out);
  std::vector<CommRow> rows;
  std::vector<int> columns;
  for (const char* name : {"path", "op", "dtype", "gpus", "bytes", "latency_us"}) {
    columns.push_back(f.column(name));
    if (columns.back() < 0 && !out.has_errors())
      out.error(fmt::format("the column `{}` is missing", name), {file, 1, 1, 1}, "",
                "expected path,op,dtype,gpus,bytes,latency_us");
  }
  if (out.has_errors()) return rows;
  while (f.next()) {
    const auto op = op_of(f.cell(columns[1]));
    if (!op) continue;
    CommRow r{std::string(f.cell(columns[0])), *op, std::string(f.cell(columns[2])),
              static_cast<int>(f.number(columns[3])), f.number(columns[4]), f.number(columns[5])};
    if (r.gpus >= 2 && r.bytes > 0 && r.latency_us > 0) rows.push_back(r);
  }
  return rows;
}

bool CommSetup::covers(const CommRow& row) const {
  const bool same = path.ends_with("*") ? row.path.starts_with(path.substr(0, path.size() - 1)) : path == row.path;
  const bool wanted = ops.empty() || std::find(ops.begin(), ops.end(), row.op) != ops.end();
  return same && wanted && row.bytes <= most_bytes && row.gpus >= least_gpus &&
         row.gpus <= static_cast<int>(machine.gpus.size());
}

std::vector<CommRow> usable_rows(const std::vector<CommRow>& rows, const std::vector<CommSetup>& setups) {
  std::vector<CommRow> usable;
  constexpr double kLeastBytes = 1024, kArithmeticBytes = 1 << 20;
  for (const CommRow& r : rows) {
    const bool known = std::any_of(setups.begin(), setups.end(), [&](const CommSetup& s) { return s.covers(r); });
    const bool reduces = r.op == CollectiveOp::all_reduce || r.op == CollectiveOp::reduce_scatter;
    const bool arithmetic = r.dtype == "int8" && reduces && r.bytes >= kArithmeticBytes;
    if (known && r.bytes >= kLeastBytes && !arithmetic) usable.push_back(r);
  }
  return usable;
}

SizeClass size_class(double bytes) {
  int exponent = 0;
  if (std::frexp(bytes, &exponent) != 0.5) return SizeClass::between;
  return (exponent - 1) % 2 == 0 ? SizeClass::even : SizeClass::odd;
}

CommSplit split_rows(const std::vector<CommRow>& rows, SizeClass fitted) {
  constexpr double kOneBetween = 5120;
  std::set<std::string> has_between;
  for (const CommRow& r : rows)
    if (size_class(r.bytes) == SizeClass::between) has_between.insert(r.path);
  CommSplit s;
  for (const CommRow& r : rows) {
    const SizeClass c = size_class(r.bytes);
    const bool in_fit = has_between.count(r.path) != 0 ? (c != SizeClass::between || r.bytes == kOneBetween) : c == fitted;
    (in_fit ? s.fit : s.test).push_back(r);
  }
  return s;
}

ErrorSummary summary_of(const std::vector<CommError>& errors) {
  ErrorSummary s;
  s.rows = errors.size();
  if (errors.empty()) return s;
  std::vector<double> sizes;
  for (const CommError& e : errors) sizes.push_back(100 * std::abs(e.off()));
  std::sort(sizes.begin(), sizes.end());
  const auto at = [&](double share) {
    return sizes[static_cast<std::size_t>(share * static_cast<double>(sizes.size() - 1) + 0.5)];
  };
  s.median_pct = at(0.5), s.p90_pct = at(0.9);
  return s;
}

std::string comm_report(const std::vector<CommError>& errors) {
  const std::vector<std::pair<double, std::string>> buckets{{16384, "to 16 KB"}, {262144, "to 256 KB"}, {1e18, "above"}};
  std::map<std::pair<int, int>, std::vector<std::vector<CommError>>> cells;
  for (const CommError& e : errors) {
    auto& line = cells[{static_cast<int>(e.row.op), e.row.gpus}];
    line.resize(buckets.size() + 1);
    std::size_t b = 0;
    while (e.row.bytes > buckets[b].first) ++b;
    line[b].push_back(e);
    line.back().push_back(e);
  }
  TextTable table("lrrrrr");
  table.row({"median / p90 % (rows)", "GPUs", buckets[0].second, buckets[1].second, buckets[2].second, "all"});
  const auto cell = [](const std::vector<CommError>& e) {
    const ErrorSummary s = summary_of(e);
    return s.rows == 0 ? std::string("-") : fmt::format("{:.1f} / {:.1f} ({})", s.median_pct, s.p90_pct, s.rows);
  };
  for (const auto& [key, line] : cells) {
    std::vector<std::string> row{std::string(name_of(static_cast<CollectiveOp>(key.first))), std::to_string(key.second)};
    for (const auto& e : line) row.push_back(cell(e));
    table.row(row);
  }
  table.row({"all", "", "", "", "", cell(errors)});
  return table.render();
}

}  // namespace moe
