// One layer as a Gantt chart, and traffic between GPUs as a matrix.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"
#include "report/svg.hpp"

namespace moe {
namespace {

struct Lanes {
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> free_at;  ///< rows of a lane: transfers of one sender overlap
};

/// First row of the lane where the op fits.
std::size_t place(Lanes& lanes, const std::string& lane, double start, double end) {
  if (lanes.free_at.find(lane) == lanes.free_at.end()) lanes.names.push_back(lane);
  std::vector<double>& rows = lanes.free_at[lane];
  std::size_t row = 0;
  while (row < rows.size() && rows[row] > start + 1e-6) ++row;
  if (row == rows.size()) rows.push_back(0);
  rows[row] = end;
  return row;
}

std::string tip_of(const ResultJson& op) {
  std::string tip = fmt::format("{}\n{} us, starts at {} us", op.value("name", ""), significant(op.value("us", 0.0)), significant(op.value("start_us", 0.0)));
  const double lost = op.value("us", 0.0) - op.value("alone_us", 0.0);
  if (lost > 1e-3) tip += fmt::format("\n{} us of it lost to sharing links", significant(lost));
  if (op.value("queued_us", 0.0) > 1e-3) tip += fmt::format("\nwaited {} us for its stream", significant(op.value("queued_us", 0.0)));
  if (op.contains("cause")) tip += fmt::format("\nstarted when {} ended ({})", op.at("cause").get<std::string>(), op.value("wait", ""));
  return tip;
}

}  // namespace

std::string layer_figure(const ResultJson& detail) {
  if (!detail.contains("layer") || detail.at("layer").at("ops").empty()) return {};
  const auto& ops = detail.at("layer").at("ops");
  constexpr std::size_t kMostLanes = 24;
  Lanes lanes;
  double end = 0;
  std::vector<std::size_t> row;
  for (const auto& op : ops) {
    const double start = op.value("start_us", 0.0), stop = start + op.value("us", 0.0);
    end = std::max(end, stop);
    row.push_back(place(lanes, op.value("server", ""), start, stop));
  }
  if (lanes.names.size() > kMostLanes) lanes.names.resize(kMostLanes);
  std::map<std::string, double> top;
  double y = 24;
  for (const std::string& lane : lanes.names) {
    top[lane] = y;
    y += 20 * static_cast<double>(lanes.free_at[lane].size()) + 6;
  }
  const double left = 120, width = 940, room = width - left - 20;
  Svg svg(width, y + 24);
  for (const double t : ticks(0, end, false, 8)) {
    svg.line(left + t / end * room, 20, left + t / end * room, y, "stroke:var(--grid)");
    svg.text(left + t / end * room, y + 16, fmt::format("{:g} us", t + 0.0), Anchor::middle);
  }
  for (const std::string& lane : lanes.names) svg.text(left - 8, top[lane] + 14, lane, Anchor::end);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto found = top.find(ops[i].value("server", ""));
    if (found == top.end()) continue;
    const double x = left + ops[i].value("start_us", 0.0) / end * room, w = ops[i].value("us", 0.0) / end * room;
    const double alone = std::min(ops[i].value("alone_us", 0.0) / end * room, w), at = found->second + 20 * static_cast<double>(row[i]);
    const std::string fill = fill_of(category_hue(ops[i].value("category", "")));
    svg.rect(x, at, std::max(w, 0.6), 18, fill + ";stroke:var(--paper);stroke-width:.5", tip_of(ops[i]));
    if (w - alone > 1)  // same hue, hatched: time lost to others on the link
      svg.rect(x + alone, at, w - alone, 18, "fill:url(#hatch)", tip_of(ops[i]));
    const std::string name = ops[i].value("name", "");
    if (w > 7.0 * static_cast<double>(name.size())) svg.text(x + 4, at + 13, name, Anchor::start, "fill:var(--paper);font-size:11px;pointer-events:none");
  }
  return svg.element();
}

std::string traffic_figure(const ResultJson& detail) {
  if (!detail.contains("traffic")) return {};
  const auto& mb = detail.at("traffic").at("MB");
  double most = 0;
  for (const auto& from : mb)
    for (const auto& v : from) most = std::max(most, v.get<double>());
  if (most <= 0) return {};
  const double cell = mb.size() > 8 ? 34 : 52, left = 70, top = 40;
  const double n = static_cast<double>(mb.size());
  Svg svg(left + n * cell + 20, top + n * cell + 14);
  svg.text(left, 16, "MB from row to column in one step");
  for (std::size_t i = 0; i < mb.size(); ++i) {
    const double at = static_cast<double>(i) * cell;
    svg.text(left - 6, top + at + cell / 2 + 4, fmt::format("gpu{}", i), Anchor::end);
    svg.text(left + at + cell / 2, top - 6, fmt::format("gpu{}", i), Anchor::middle);
    for (std::size_t j = 0; j < mb.size(); ++j) {
      const double v = mb[i][j].get<double>();
      svg.rect(left + static_cast<double>(j) * cell, top + at, cell - 2, cell - 2, "fill:" + heat_of(0.85 * v / most),
               fmt::format("gpu{} to gpu{}: {} MB", i, j, significant(v)));
      if (v > 0) svg.text(left + (static_cast<double>(j) + 0.5) * cell, top + at + cell / 2 + 4, significant(v), Anchor::middle, cell < 40 ? "font-size:9px" : "");
    }
  }
  return svg.element();
}

}  // namespace moe
