// moe-sim evaluate PROFILE DIR: predicted against measured.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/fit_commands.hpp"
#include "fit/errors.hpp"

namespace moe {
namespace {

Which which_of(const std::string& rows) {
  if (rows == "all") return Which::all;
  if (rows == "held-out") return Which::held_out;
  if (rows == "fit") return Which::fitted;
  throw InputError(fmt::format("`--rows {}` is not known\n  = help: {}", rows,
                               suggestion(rows, {"all", "held-out", "fit"})));
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw InputError(fmt::format("cannot write `{}`", path));
}

std::string summary_csv(const std::vector<SummaryRow>& rows) {
  std::string out = "op,path,dtype,bucket,rows,median_pct,mean_pct,p90_pct,outside_pct\n";
  for (const SummaryRow& r : rows)
    out += fmt::format("{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.2f}\n", r.op, r.path, r.dtype, r.bucket,
                       r.rows, r.spread.median, r.spread.mean, r.spread.p90, r.outside_pct);
  return out;
}

std::string sizes_of(const Measurements& m, const RowError& r, char between) {
  const Series& series = m.series[r.sample.series];
  const Point& p = series.points[r.sample.point];
  std::string out;
  for (std::size_t i = 0; i < op_class(series.op).sizes.size(); ++i)
    out += fmt::format("{}{}={:g}", out.empty() ? "" : std::string(1, between), op_class(series.op).sizes[i],
                       p.size[i]);
  return out;
}

std::string rows_csv(const Measurements& m, const Evaluation& e) {
  std::string out = "op,path,dtype,sizes,held_out,cold,in_range,measured_us,predicted_us,error_pct\n";
  for (const RowError& r : e.rows) {
    const PathData& d = e.paths[r.path];
    out += fmt::format("{},{},{},{},{:d},{:d},{:d},{:g},{:.4g},{:.2f}\n", op_class(d.op).name, d.name,
                       d.dtype, sizes_of(m, r, ' '), r.sample.held_out, r.sample.cold, r.in_range,
                       r.sample.us, r.predicted_us, r.error_pct());
  }
  return out;
}

/// All and cold figures of a pool side by side.
std::string table(const std::vector<SummaryRow>& all, const std::vector<SummaryRow>& cold,
                  const std::string& bucket) {
  TextTable t("lllrrrrrrrr");
  t.row({"op", "path", "dtype", "rows", "median %", "mean %", "p90 %", "outside %", "cold rows", "median %",
         "p90 %"});
  for (const SummaryRow& r : all) {
    if (r.bucket != bucket) continue;
    std::vector<std::string> cells{r.op,
                                   r.path,
                                   r.dtype,
                                   std::to_string(r.rows),
                                   fmt::format("{:.1f}", r.spread.median),
                                   fmt::format("{:.1f}", r.spread.mean),
                                   fmt::format("{:.1f}", r.spread.p90),
                                   fmt::format("{:.1f}", r.outside_pct),
                                   "0",
                                   "-",
                                   "-"};
    for (const SummaryRow& c : cold)
      if (c.op == r.op && c.path == r.path && c.dtype == r.dtype && c.bucket == bucket) {
        cells[8] = std::to_string(c.rows);
        cells[9] = fmt::format("{:.1f}", c.spread.median);
        cells[10] = fmt::format("{:.1f}", c.spread.p90);
      }
    t.row(cells);
  }
  return t.render("");
}

std::string worst(const Measurements& m, const Evaluation& e) {
  std::vector<const RowError*> order;
  for (const RowError& r : e.rows) order.push_back(&r);
  const std::size_t n = std::min<std::size_t>(10, order.size());
  const auto further = [](const RowError* a, const RowError* b) {
    return std::abs(a->error_pct()) > std::abs(b->error_pct());
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(), further);
  TextTable t("llrrr");
  t.row({"path", "sizes", "measured us", "predicted us", "error %"});
  for (std::size_t i = 0; i < n; ++i)
    t.row({e.paths[order[i]->path].name, sizes_of(m, *order[i], ' '), significant(order[i]->sample.us),
           significant(order[i]->predicted_us), fmt::format("{:+.1f}", order[i]->error_pct())});
  return t.render("");
}

nlohmann::ordered_json json_of(const std::vector<SummaryRow>& rows) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const SummaryRow& r : rows)
    out.push_back({{"op", r.op},
                   {"path", r.path},
                   {"dtype", r.dtype},
                   {"bucket", r.bucket},
                   {"rows", r.rows},
                   {"median_pct", r.spread.median},
                   {"mean_pct", r.spread.mean},
                   {"p90_pct", r.spread.p90},
                   {"outside_pct", r.outside_pct}});
  return out;
}

std::vector<Where> wheres(const std::vector<std::string>& texts) {
  std::vector<Where> out;
  for (const std::string& t : texts) out.push_back(parse_where(t));
  return out;
}

}  // namespace

int evaluate_command(const EvaluateArguments& a, const Streams& s) {
  const Profile profile = named_profile(a.profile);
  const Measurements m = read_measurements(a.folder, a.only);
  const Protocol protocol =
      find_protocol(m, a.protocol, std::filesystem::path(a.profile).parent_path().string());
  const Evaluation e =
      evaluate_profile(profile, m, protocol, which_of(a.rows), a.cold, wheres(a.leave_out), wheres(a.where));
  for (const std::string& name : e.missing)
    s.err << "warning: the profile has no path `" << name << "`; its rows are left out\n";
  if (e.rows.empty())
    throw InputError("no row is left to evaluate\n  = help: --rows all, or another --where");
  const std::vector<SummaryRow> all = summarise(e);
  if (!a.csv.empty()) write_file(a.csv, rows_csv(m, e));
  if (!a.summary_csv.empty()) write_file(a.summary_csv, summary_csv(all));
  if (a.json) {
    s.out << json_of(all).dump(2) << "\n";
    return kAnswered;
  }
  Evaluation cold = e;
  std::erase_if(cold.rows, [](const RowError& r) { return !r.sample.cold; });
  s.out << fmt::format("{} against {}: {} rows ({}), errors |predicted/measured - 1|\n\n", profile.name,
                       a.folder, grouped(static_cast<double>(e.rows.size())), a.rows);
  s.out << table(all, summarise(cold), "all") << "\nworst rows\n" << worst(m, e);
  s.out << "\ncold: data that came from DRAM, as in a decode step. Buckets: --summary-csv FILE; every row: "
           "--csv FILE\n";
  return kAnswered;
}

}  // namespace moe
