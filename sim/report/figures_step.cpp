// Breakdown bars, what-if bars, roofline.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "program/program.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"
#include "report/svg.hpp"

namespace moe {
namespace {

std::string plain(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// Legend entries in rows; returns the height that they take.
double legend(Svg& svg, double x, double y, double width, const std::vector<std::string>& names) {
  double at = x, row = y;
  for (const std::string& name : names) {
    const double w = 26 + 7.4 * static_cast<double>(name.size());
    if (at + w > x + width) at = x, row += 18;
    svg.rect(at, row - 9, 11, 11, fill_of(category_hue(name)));
    svg.text(at + 15, row, plain(name));
    at += w;
  }
  return row - y + 18;
}

}  // namespace

std::size_t category_hue(const std::string& category) {
  const auto found = std::find(kCategoryNames.begin(), kCategoryNames.end(), category);
  return static_cast<std::size_t>(found - kCategoryNames.begin());
}

std::string heat_of(double share) {
  const int percent = static_cast<int>(std::lround(100 * std::clamp(share, 0.0, 1.0)));
  return fmt::format("color-mix(in srgb, var(--c3) {}%, var(--grid))", percent);
}

std::string breakdown_figure(const std::vector<ResultJson>& results) {
  double longest = 0;
  std::vector<std::string> shown;
  for (const ResultJson& r : results) {
    longest = std::max(longest, r.value("step_ms", 0.0));
    for (const auto& [name, ms] : r.at("breakdown_ms").items())
      if (ms.get<double>() > 0 && std::find(shown.begin(), shown.end(), name) == shown.end()) shown.push_back(name);
  }
  if (longest <= 0) return {};
  const double left = results.size() > 1 ? 210 : 10, width = 900, room = width - left - 90;
  Svg svg(width, 46 * static_cast<double>(results.size()) + 70);
  double y = 10;
  for (const ResultJson& r : results) {
    if (results.size() > 1) svg.text(left - 8, y + 19, r.value("experiment", ""), Anchor::end);
    double x = left;
    for (const auto& [name, value] : r.at("breakdown_ms").items()) {
      const double ms = value.get<double>(), w = ms / longest * room;
      if (ms <= 0) continue;
      svg.rect(x, y, w, 30, fill_of(category_hue(name)) + ";stroke:var(--paper)",
               fmt::format("{} {} ms, {:.1f} %", plain(name), significant(ms), 100 * ms / r.value("step_ms", 1.0)));
      if (w > 40) svg.text(x + w / 2, y + 19, fmt::format("{:.1f}", ms), Anchor::middle, "fill:var(--paper);font-weight:600");
      x += w;
    }
    svg.text(x + 6, y + 19, significant(r.value("step_ms", 0.0)) + " ms");
    y += 46;
  }
  legend(svg, left, y + 8, room, shown);
  return svg.element();
}

std::string what_if_figure(const ResultJson& result) {
  std::vector<std::pair<std::string, double>> rows;
  for (const auto& w : result.value("what_if", ResultJson::array()))
    if (w.contains("change")) rows.emplace_back(w.at("name").get<std::string>(), w.at("change").get<double>());
  if (rows.empty()) return {};
  double most = 0.01;
  for (const auto& [name, change] : rows) most = std::max(most, std::abs(change));
  Svg svg(900, 24 * static_cast<double>(rows.size()) + 12);
  const double zero = 300, room = 500;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [name, change] = rows[i];
    const double y = 6 + 24 * static_cast<double>(i), w = std::abs(change) / most * room;
    svg.text(zero - 8, y + 13, name, Anchor::end);
    svg.rect(zero, y, std::max(w, 1.0), 17, fill_of(change <= 0 ? 7 : 3), fmt::format("step {:+.2f} %", 100 * change));
    svg.text(zero + w + 6, y + 13, fmt::format("{:+.1f} %{}", 100 * change, change > 0.0005 ? " (slower)" : ""));
  }
  return svg.element();
}

std::string roofline_figure(const ResultJson& detail) {
  Chart c;
  c.title = "every kernel of one GPU against its roofs";
  c.x_label = "FLOP per byte of DRAM traffic";
  c.y_label = "TFLOP/s";
  c.log_x = c.log_y = true;
  const double dram = detail.value("dram_GBps", 0.0) * 1e-3;  // TB/s
  double low = 1e300, high = 0, peak = 0;
  std::vector<ChartSeries> kernels;
  for (const auto& k : detail.value("kernels", ResultJson::array())) {
    const double flop = k.value("flop", 0.0), bytes = k.value("dram_bytes", 0.0), us = k.value("us", 0.0);
    if (flop <= 0 || bytes <= 0 || us <= 0) continue;
    const double x = flop / bytes, y = flop / us * 1e-6;
    low = std::min(low, x), high = std::max(high, x), peak = std::max(peak, k.value("peak_tflops", 0.0));
    const std::string name = k.value("name", "");
    kernels.push_back({name, {{x, y, fmt::format("{} calls, {} us in all\n{} TFLOP/s, {} GB/s: {:.0f} % of the roof", k.value("calls", 0),
                                                 significant(us), significant(y), significant(bytes / us * 1e-3),
                                                 100 * y / std::min(x * dram, k.value("peak_tflops", 1.0)))}}, false, true});
  }
  if (kernels.empty() || dram <= 0) return {};
  const double corner = peak / dram;
  low /= 2, high = std::max(high * 2, corner * 4);
  c.series.push_back({"roof: DRAM, then peak FLOP/s", {{low, low * dram, ""}, {corner, peak, ""}, {high, peak, ""}}, true, false});
  std::stable_sort(kernels.begin(), kernels.end(), [](auto& a, auto& b) { return a.name < b.name; });
  c.series.insert(c.series.end(), kernels.begin(), kernels.end());
  return chart_svg(c, false, 900, 400);
}

}  // namespace moe
