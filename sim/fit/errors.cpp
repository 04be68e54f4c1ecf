#include "fit/errors.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace moe {
namespace {

template <class Path>
void predict(const GpuSpec& gpu, const Path& path, std::vector<RowError>& rows, std::size_t from) {
  for (std::size_t i = from; i < rows.size(); ++i) {
    const KernelCost cost = cost_of(gpu, path, rows[i].sample);
    rows[i].predicted_us = cost.time_us;
    rows[i].in_range = cost.in_range;
  }
}

/// False when the profile has no such path.
bool predict_path(const Profile& p, const PathData& d, std::vector<RowError>& rows, std::size_t from) {
  bool known = false;
  in_section(p, d.section, [&](const auto& paths) {
    const auto found = paths.find(d.name);
    known = found != paths.end();
    if (known) predict(p.gpu, found->second, rows, from);
  });
  return known;
}

struct Pool {
  std::vector<double> errors;
  std::size_t outside = 0;
};

}  // namespace

Spread spread_of_errors(std::vector<double> e) {
  if (e.empty()) return {};
  std::sort(e.begin(), e.end());
  const auto at = [&](double q) {
    return e[std::min(e.size() - 1, static_cast<std::size_t>(q * static_cast<double>(e.size())))];
  };
  return {at(0.5), std::accumulate(e.begin(), e.end(), 0.0) / static_cast<double>(e.size()), at(0.9)};
}

Evaluation evaluate_profile(const Profile& profile, const Measurements& m, const Protocol& protocol,
                            Which which, bool cold, const std::vector<Where>& leave_out,
                            const std::vector<Where>& where) {
  Evaluation e;
  e.paths = paths_of(m, protocol);
  for (std::size_t p = 0; p < e.paths.size(); ++p) {
    const std::size_t from = e.rows.size();
    for (const Sample& s : samples_of(m, e.paths[p], protocol, profile.gpu, leave_out)) {
      if (which != Which::all && s.held_out != (which == Which::held_out)) continue;
      if (cold && !s.cold) continue;
      const Point& point = m.series[s.series].points[s.point];
      bool wanted = where.empty();
      for (const Where& w : where) wanted = wanted || w.matches(e.paths[p].op, point);
      if (wanted) e.rows.push_back({p, s, 0, true});
    }
    if (e.rows.size() == from || predict_path(profile, e.paths[p], e.rows, from)) continue;
    e.rows.resize(from);
    e.missing.push_back(e.paths[p].name);
  }
  return e;
}

std::vector<SummaryRow> summarise(const Evaluation& e) {
  using Key = std::vector<std::string>;  // op position, level, path, dtype, bucket position
  std::map<Key, Pool> pools;
  for (const RowError& r : e.rows) {
    const PathData& d = e.paths[r.path];
    const std::string op = std::to_string(static_cast<int>(d.op)),
                      bucket = std::to_string(bucket_of(r.sample.rows));
    for (const Key& key : {Key{op, "0", d.name, d.dtype, bucket}, Key{op, "0", d.name, d.dtype, "9"},
                           Key{op, "1", "all", d.dtype, bucket}, Key{op, "1", "all", d.dtype, "9"},
                           Key{op, "2", "all", "all", "9"}}) {
      Pool& pool = pools[key];
      pool.errors.push_back(std::abs(r.error_pct()));
      pool.outside += r.in_range ? 0 : 1;
    }
  }
  std::vector<SummaryRow> out;
  for (const auto& [key, pool] : pools) {
    const auto n = pool.errors.size();
    out.push_back({op_class(static_cast<Op>(std::stoi(key[0]))).name, key[2], key[3],
                   key[4] == "9" ? "all" : bucket_names()[static_cast<std::size_t>(std::stoi(key[4]))], n,
                   spread_of_errors(pool.errors),
                   100 * static_cast<double>(pool.outside) / static_cast<double>(n)});
  }
  return out;
}

}  // namespace moe
