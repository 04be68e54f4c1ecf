#include "sweep/plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"

namespace moe {
namespace {

/// One column of the rows: an axis or a metric.
struct Column {
  std::string name;
  int axis = -1, metric = -1;
  bool categorical = false;
  double of(const Row& r, std::vector<std::string>& names) const {
    if (metric >= 0) return r.metrics[static_cast<std::size_t>(metric)];
    const std::string& text = r.axes[static_cast<std::size_t>(axis)];
    const Parsed number = parse_quantity(text, Unit::count);
    if (number.problem.empty()) return number.value;
    const Parsed real = parse_number(text.substr(0, text.find_first_of(" %")));
    if (real.problem.empty()) return real.value;
    const auto found = std::find(names.begin(), names.end(), text);  // a name: its position
    if (found == names.end()) names.push_back(text);
    return static_cast<double>(std::find(names.begin(), names.end(), text) - names.begin()) + 1;
  }
};

Column column_of(const Store& store, const std::string& word) {
  const std::vector<std::string> axes = store.axis_keys();
  std::vector<std::string> all = axes;
  all.insert(all.end(), metric_names().begin(), metric_names().end());
  for (const std::string& metric : {word, word + "_ms"})
    if (metric_position(metric) >= 0) return {metric, -1, metric_position(metric)};
  const std::string key = full_key(word, all);
  const auto found = std::find(axes.begin(), axes.end(), key);
  if (found == axes.end()) return {key, -1, metric_position(key)};
  return {key, static_cast<int>(found - axes.begin()), -1};
}

bool smaller_is_better(const std::string& metric) { return metric.find("_ms") != std::string::npos; }

/// Axis positions that name a series.
std::vector<std::size_t> series_axes(const Store& store, const PlotRequest& r, const Column& x) {
  const std::vector<std::string> axes = store.axis_keys();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool wanted = r.by.empty() ? static_cast<int>(i) != x.axis : std::any_of(r.by.begin(), r.by.end(), [&](const std::string& by) {
      return by == "plan" ? axes[i].starts_with("plan.") : axes[i] == full_key(by, axes);
    });
    if (wanted) out.push_back(i);
  }
  return out;
}

std::string series_name(const Row& r, const std::vector<std::string>& keys, const std::vector<std::size_t>& by) {
  std::string name;
  for (const std::size_t i : by) {
    const std::string& value = r.axes[i];
    const bool plan = keys[i].starts_with("plan.");
    if (plan && keys[i] != "plan.tp" && (value == "1" || value == "none")) continue;
    const std::string key = keys[i].substr(keys[i].find_last_of('.') + 1);
    name += (name.empty() ? "" : " · ") + (key == "overlap" ? value : key + " " + value);
  }
  return name.empty() ? "all" : name;
}

class Where {
 public:
  Where(const Store& store, const std::vector<std::string>& texts) {
    const std::vector<std::string> axes = store.axis_keys();
    for (const std::string& text : texts) {
      const std::size_t equal = text.find('=');
      if (equal == std::string::npos) throw InputError(fmt::format("`--where {}` is not key=value", text));
      const std::string key = full_key(text.substr(0, equal), axes);
      conditions_.emplace_back(static_cast<std::size_t>(std::find(axes.begin(), axes.end(), key) - axes.begin()), text.substr(equal + 1));
    }
  }
  bool holds(const Row& r) const {
    return std::all_of(conditions_.begin(), conditions_.end(), [&](auto& c) { return r.axes[c.first] == c.second; });
  }

 private:
  std::vector<std::pair<std::size_t, std::string>> conditions_;
};

/// Series that win somewhere, in the order of x: the best y at some x, or, where x is a metric, a point of the front.
std::vector<std::string> winners(const Chart& chart, bool smaller, bool front) {
  std::map<double, std::pair<double, std::string>> best;  // x -> y and who
  for (const ChartSeries& s : chart.series)
    for (const ChartPoint& p : s.points) {
      const auto [at, fresh] = best.emplace(p.x, std::make_pair(p.y, s.name));
      if (!fresh && (smaller ? p.y < at->second.first : p.y > at->second.first)) at->second = {p.y, s.name};
    }
  std::vector<std::string> out;
  double reached = smaller ? 1e300 : -1e300;
  for (auto at = best.rbegin(); at != best.rend(); ++at) {  // from the largest x: what a smaller x must beat
    const auto& [y, name] = at->second;
    if (front && (smaller ? y >= reached : y <= reached)) continue;
    reached = y;
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  return out;
}

void keep_best(Chart& chart, std::size_t most, bool smaller, bool front) {
  if (chart.series.size() <= most) return;
  const std::vector<std::string> first = winners(chart, smaller, front);
  auto rank = [&](const ChartSeries& s) {
    double v = smaller ? 1e300 : -1e300;
    for (const ChartPoint& p : s.points) v = smaller ? std::min(v, p.y) : std::max(v, p.y);
    const auto place = std::find(first.begin(), first.end(), s.name) - first.begin();
    return std::make_pair(place, smaller ? v : -v);
  };
  std::stable_sort(chart.series.begin(), chart.series.end(), [&](auto& a, auto& b) { return rank(a) < rank(b); });
  chart.title += fmt::format(", {} of {} series: winners first", most, chart.series.size());
  chart.series.resize(most);
}

bool spans_decades(const Chart& c, double ChartPoint::*axis) {
  double low = 1e300, high = 0;
  for (const ChartSeries& s : c.series)
    for (const ChartPoint& p : s.points) low = std::min(low, p.*axis), high = std::max(high, p.*axis);
  return low > 0 && high / low >= 12;
}

}  // namespace

Chart plot_chart(const Store& store, const PlotRequest& r) {
  const Column x = column_of(store, r.x), y = column_of(store, r.y);
  const Where where(store, r.where);
  const std::vector<std::size_t> by = series_axes(store, r, x);
  const std::vector<std::string> keys = store.axis_keys();
  const bool smaller = smaller_is_better(y.name);
  std::vector<std::string> order, names;
  std::map<std::string, std::map<double, ChartPoint>> lines;
  bool several = false;
  store.each([&](const Row& row) {
    if (row.status != Status::ok || !where.holds(row)) return;
    const std::string name = series_name(row, keys, by);
    if (lines.find(name) == lines.end()) order.push_back(name);
    ChartPoint p{x.of(row, names), y.of(row, names), {}};
    p.tip = fmt::format("{} {}\n{} {}", x.name, x.axis >= 0 ? row.axes[static_cast<std::size_t>(x.axis)] : significant(p.x), y.name, significant(p.y));
    const auto [at, fresh] = lines[name].emplace(p.x, p);
    several = several || !fresh;
    if (!fresh && (smaller ? p.y < at->second.y : p.y > at->second.y)) at->second = p;
  });
  if (lines.empty()) throw InputError("no row with an answer matches\n  = help: moe-sim sweep prints why points have none");
  Chart chart;
  chart.title = fmt::format("{} against {}{}", y.name, x.name, several ? fmt::format(", the {} of other axes", smaller ? "smallest" : "largest") : "");
  chart.x_label = x.name;
  for (std::size_t i = 0; i < names.size(); ++i) chart.x_label += fmt::format("{}{} {}", i == 0 ? ": " : ", ", i + 1, names[i]);
  chart.y_label = y.name;
  for (const std::string& name : order) {
    chart.series.push_back({name, {}, x.axis >= 0, true});
    for (const auto& [at, p] : lines[name]) chart.series.back().points.push_back(p);
  }
  keep_best(chart, r.most_series, smaller, x.metric >= 0);
  chart.log_x = r.log_x || (!r.linear && spans_decades(chart, &ChartPoint::x));
  chart.log_y = r.log_y || (!r.linear && spans_decades(chart, &ChartPoint::y));
  return chart;
}

}  // namespace moe
