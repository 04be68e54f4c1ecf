#include "validate/groups.hpp"

#include "base/statistics.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <regex>

namespace moe {
namespace {

using RowList = std::vector<const ValidatedRow*>;

/// Nearest rank.
double quantile(std::vector<double> v, double q) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(v.size())));
  return v[std::clamp<std::size_t>(rank, 1, v.size()) - 1];
}

/// Left bounds; names sort in this order.
std::string bucket(double value, const std::vector<std::pair<double, std::string>>& bounds) {
  for (const auto& [up_to, name] : bounds)
    if (value <= up_to) return name;
  return bounds.back().second;
}

std::string batch_bucket(const ValidatedRow& r) {
  return bucket(r.batch, {{1, "1"}, {8, "2-8"}, {32, "9-32"}, {128, "33-128"}, {1e9, "over 128"}});
}

std::string context_bucket(const ValidatedRow& r) {
  return bucket(r.context, {{4e3, "0-4k"}, {24e3, "4k-24k"}, {48e3, "24k-48k"}, {98e3, "48k-96k"}, {1.35e5, "96k-128k"}, {1e12, "over 128k"}});
}

const char* graph_name(GraphMode g) { return g == GraphMode::full ? "full" : g == GraphMode::piecewise ? "piecewise" : "eager"; }

class Grouping {
 public:
  explicit Grouping(const Validation& v) {
    for (const ValidatedRow& r : v.rows)
      if (r.compared()) (r.used_for_fit.empty() ? all_ : fitted_).push_back(&r);
  }

  /// Rows that something was fitted to: no validation.
  void fitted() {
    std::map<std::string, RowList> groups;
    for (const ValidatedRow* r : fitted_) groups[r->used_for_fit].push_back(r);
    for (const auto& [what, rows] : groups) out.push_back(stats_of("fitted to=" + what, rows));
  }

  void add(const std::string& name, const std::function<bool(const ValidatedRow&)>& takes) {
    RowList rows;
    for (const ValidatedRow* r : all_)
      if (takes(*r)) rows.push_back(r);
    if (!rows.empty()) out.push_back(stats_of(name, rows));
  }

  void by(const std::string& name, const std::function<std::string(const ValidatedRow&)>& key,
          const std::function<bool(const ValidatedRow&)>& takes) {
    std::vector<std::string> order;
    std::map<std::string, RowList> groups;
    for (const ValidatedRow* r : all_)
      if (takes(*r)) groups[key(*r)].push_back(r);
    for (const auto& [value, rows] : groups) out.push_back(stats_of(name + "=" + value, rows));
  }

  std::vector<GroupStats> out;

 private:
  RowList all_, fitted_;
};

}  // namespace

GroupStats stats_of(const std::string& name, const std::vector<const ValidatedRow*>& rows) {
  GroupStats s;
  s.group = name;
  s.rows = rows.size();
  std::vector<double> size, sign, width;
  double sum = 0;
  std::size_t covered = 0;
  for (const ValidatedRow* r : rows) {
    size.push_back(100 * std::abs(r->error()));
    sign.push_back(100 * r->error());
    width.push_back(100 * (r->high_ms - r->low_ms) / r->simulated_ms);
    sum += size.back();
    covered += r->covered() ? 1 : 0;
  }
  if (rows.empty()) return s;
  s.median_pct = median(size);
  s.mean_pct = sum / static_cast<double>(rows.size());
  s.p90_pct = quantile(size, 0.9);
  s.bias_pct = median(sign);
  s.width_pct = median(width);
  s.coverage90_pct = 100.0 * static_cast<double>(covered) / static_cast<double>(rows.size());
  return s;
}

bool in_bar(const ValidatedRow& r) { return r.drafts == 0 && r.batch >= 1 && r.batch <= 128 && r.context <= 131072; }

std::vector<GroupStats> group_stats(const Validation& v) {
  Grouping g(v);
  const auto any = [](const ValidatedRow&) { return true; };
  const auto plain = [](const ValidatedRow& r) { return r.drafts == 0; };
  const auto drafts = [](const ValidatedRow& r) { return r.drafts > 0; };
  const auto full = [](const ValidatedRow& r) { return in_bar(r) && r.graph == GraphMode::full; };
  g.add("all", any);
  g.add("bar=full graphs, no speculation, documented stacks", [&](const ValidatedRow& r) { return full(r) && r.documented; });
  g.add("bar=full graphs, no speculation, all stacks", full);
  g.add("bar=eager, no speculation", [](const ValidatedRow& r) { return r.drafts == 0 && r.graph == GraphMode::eager; });
  g.by("speculation", [](const ValidatedRow& r) { return r.drafts > 0 ? "on" : "off"; }, any);
  g.by("graphs", [](const ValidatedRow& r) { return graph_name(r.graph); }, plain);
  g.by("stack", [](const ValidatedRow& r) { return r.documented ? "documented" : "not documented"; }, full);
  g.by("family", [](const ValidatedRow& r) { return r.family; }, plain);
  g.by("engine stack", [](const ValidatedRow& r) { return r.stack; }, full);
  g.by("model", [](const ValidatedRow& r) { return r.model; }, full);
  g.by("plan", [](const ValidatedRow& r) { return r.plan; }, full);
  g.by("batch", batch_bucket, full);
  g.by("context", context_bucket, full);
  g.by("speculation family", [](const ValidatedRow& r) { return r.family; }, drafts);
  g.by("speculation model", [](const ValidatedRow& r) { return r.model; }, drafts);
  g.by("speculation batch", batch_bucket, drafts);
  g.by("interval widths", [](const ValidatedRow& r) { return r.sets_widths ? "half that set them" : "other half"; }, any);
  g.fitted();
  return std::move(g.out);
}

std::vector<Unmapped> unmapped(const Validation& v) {
  static const std::regex number(R"(\d+(\.\d+)?)");
  std::vector<Unmapped> out;
  for (const ValidatedRow& r : v.rows) {
    if (r.reason.empty()) continue;
    const bool folds = r.rule == "memory";
    const std::string reason = folds ? std::regex_replace(r.reason, number, "#") : r.reason;
    const auto same = std::find_if(out.begin(), out.end(), [&](const Unmapped& u) { return u.reason == reason && u.rule == r.rule; });
    if (same != out.end()) ++same->rows;
    else out.push_back({r.rule, reason, 1, r.id});
  }
  std::stable_sort(out.begin(), out.end(), [](const Unmapped& a, const Unmapped& b) { return a.rows > b.rows; });
  return out;
}

std::vector<const ValidatedRow*> worst_rows(const Validation& v, std::size_t most) {
  RowList rows;
  for (const ValidatedRow& r : v.rows)
    if (r.compared()) rows.push_back(&r);
  std::stable_sort(rows.begin(), rows.end(), [](const ValidatedRow* a, const ValidatedRow* b) {
    return std::abs(std::log1p(a->error())) > std::abs(std::log1p(b->error()));
  });
  if (rows.size() > most) rows.resize(most);
  return rows;
}

}  // namespace moe
