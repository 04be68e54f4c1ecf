#include "report/chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/text.hpp"
#include "report/svg.hpp"

namespace moe {
namespace {

struct Span {
  double low = 1e300, high = -1e300;
  void add(double v) { low = std::min(low, v), high = std::max(high, v); }
};

/// Maps values to positions.
struct Scale {
  double low, high, from, to;
  bool logarithmic;
  double operator()(double v) const {
    const double share = logarithmic ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
    return from + share * (to - from);
  }
};

Scale scale_of(Span s, bool logarithmic, double from, double to) {
  if (!(s.low <= s.high)) s = {1, 2};
  if (logarithmic) return {s.low / 1.1, s.high * 1.1, from, to, true};
  const double low = s.low > 0 && s.low < 0.6 * s.high ? 0 : s.low - 0.05 * (s.high - s.low);
  const double high = s.high + 0.06 * (s.high - low);
  return {low, high > low ? high : low + 1, from, to, false};
}

std::string tick_text(double v) {
  if (v == 0) return "0";  // never -0
  if (std::abs(v) >= 1e6) return fmt::format("{:g} M", v / 1e6);
  if (std::abs(v) >= 10000) return grouped(v);
  return fmt::format("{:.4g}", v);
}

class Drawing {
 public:
  Drawing(const Chart& c, double width, double height) : c_(c), w_(width), svg_(width, height) {
    bottom_ = height - 46;
    right_ = width - (c.series.size() > 1 ? 220 : 16);
    Span x, y;
    for (const ChartSeries& s : c.series)
      for (const ChartPoint& p : s.points) x.add(p.x), y.add(p.y);
    x_ = std::make_unique<Scale>(scale_of(x, c.log_x, kLeft, right_));
    y_ = std::make_unique<Scale>(scale_of(y, c.log_y, bottom_, kTop));
  }

  Svg draw() {
    svg_.text(kLeft, 18, c_.title, Anchor::start, "font-weight:600;font-size:14px");
    axes();
    for (std::size_t i = 0; i < c_.series.size(); ++i) series(i);
    return std::move(svg_);
  }

 private:
  void axes() {
    for (const double v : ticks(x_->low, x_->high, c_.log_x)) {
      const double x = (*x_)(v);
      svg_.line(x, kTop, x, bottom_, "stroke:var(--grid)");
      svg_.text(x, bottom_ + 16, tick_text(v), Anchor::middle);
    }
    for (const double v : ticks(y_->low, y_->high, c_.log_y)) {
      const double y = (*y_)(v);
      svg_.line(kLeft, y, right_, y, "stroke:var(--grid)");
      svg_.text(kLeft - 6, y + 4, tick_text(v), Anchor::end);
    }
    svg_.text((kLeft + right_) / 2, bottom_ + 36, c_.x_label, Anchor::middle);
    svg_.vertical_text(14, (kTop + bottom_) / 2, c_.y_label);
  }

  void series(std::size_t i) {
    const ChartSeries& s = c_.series[i];
    svg_.begin_group(s.name);
    std::vector<std::pair<double, double>> line;
    for (const ChartPoint& p : s.points) line.emplace_back((*x_)(p.x), (*y_)(p.y));
    if (s.joined) svg_.path(line, stroke_of(i));
    for (std::size_t k = 0; s.marked && k < line.size(); ++k)
      svg_.circle(line[k].first, line[k].second, s.joined ? 3.5 : 3, fill_of(i), s.name + (s.points[k].tip.empty() ? "" : "\n" + s.points[k].tip));
    svg_.end_group();
    if (c_.series.size() < 2) return;
    const double y = kTop + 8 + 17 * static_cast<double>(i);
    svg_.begin_group(s.name);
    svg_.rect(right_ + 14, y - 8, 11, 11, fill_of(i), "click to show or hide");
    const std::string shown = s.name.size() > 34 ? s.name.substr(0, 32) + "…" : s.name;
    svg_.text(right_ + 30, y + 2, shown, Anchor::start, "font-size:11px");
    svg_.end_group();
  }

  static constexpr double kLeft = 74, kTop = 30;
  const Chart& c_;
  double w_, bottom_ = 0, right_ = 0;
  Svg svg_;
  std::unique_ptr<Scale> x_, y_;
};

}  // namespace

std::vector<double> ticks(double low, double high, bool logarithmic, int wanted) {
  std::vector<double> out;
  if (!(high > low)) return {low};
  if (logarithmic) {
    const bool decades = std::log10(high / low) >= 3.2;
    if (decades)
      for (double v = std::pow(10, std::ceil(std::log10(low) - 1e-9)); v <= high * (1 + 1e-9); v *= 10) out.push_back(v);
    else
      for (double v = std::pow(2, std::ceil(std::log2(low) - 1e-9)); v <= high * (1 + 1e-9); v *= 2) out.push_back(v);
    return out;
  }
  const double raw = (high - low) / wanted, base = std::pow(10, std::floor(std::log10(raw)));
  const double step = base * (raw / base > 5 ? 10 : raw / base > 2 ? 5 : raw / base > 1 ? 2 : 1);
  for (double k = std::ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12); ++k) out.push_back(k * step);
  return out;
}

std::string chart_svg(const Chart& chart, bool document, double width, double height) {
  const double needed = 60 + 17 * static_cast<double>(chart.series.size());
  const Svg svg = Drawing(chart, width, std::max(height, needed)).draw();
  return document ? svg.document() : svg.element();
}

std::string chart_text(const Chart& c, std::size_t columns, std::size_t rows) {
  Span xs, ys;
  for (const ChartSeries& s : c.series)
    for (const ChartPoint& p : s.points) xs.add(p.x), ys.add(p.y);
  const Scale x = scale_of(xs, c.log_x, 0, static_cast<double>(columns - 1));
  const Scale y = scale_of(ys, c.log_y, static_cast<double>(rows - 1), 0);
  std::vector<std::string> canvas(rows, std::string(columns, ' '));
  for (std::size_t i = c.series.size(); i-- > 0;)
    for (const ChartPoint& p : c.series[i].points)
      canvas[static_cast<std::size_t>(std::lround(y(p.y)))][static_cast<std::size_t>(std::lround(x(p.x)))] =
          c.series.size() == 1 ? '*' : static_cast<char>('a' + i % 26);
  std::string out = c.title + "\n  " + c.y_label + "\n";
  std::vector<std::string> left(rows);
  for (const double v : ticks(y.low, y.high, c.log_y, 4)) left[static_cast<std::size_t>(std::lround(y(v)))] = tick_text(v);
  for (std::size_t r = 0; r < rows; ++r) {
    out += pad_left(left[r], 10) + (left[r].empty() ? " │" : " ┤") + canvas[r];
    if (c.series.size() > 1 && r < c.series.size()) out += fmt::format("  {}  {}", static_cast<char>('a' + r % 26), c.series[r].name);
    while (out.back() == ' ') out.pop_back();
    out += "\n";
  }
  for (std::size_t i = rows; c.series.size() > 1 && i < c.series.size(); ++i)
    out += std::string(12 + columns, ' ') + fmt::format("  {}  {}\n", static_cast<char>('a' + i % 26), c.series[i].name);
  std::string rule, marks(columns + 12, ' ');
  for (std::size_t i = 0; i < columns; ++i) rule += "─";
  for (const double v : ticks(x.low, x.high, c.log_x, 5)) {
    const std::string text = tick_text(v);
    const auto at = static_cast<std::size_t>(std::lround(x(v))) + 12;
    if (at + text.size() < marks.size() && marks[at - 1] == ' ' && marks[at] == ' ') marks.replace(at, text.size(), text);
  }
  while (!marks.empty() && marks.back() == ' ') marks.pop_back();
  return out + std::string(11, ' ') + "└" + rule + "\n" + marks + "   " + c.x_label + "\n";
}

}  // namespace moe
