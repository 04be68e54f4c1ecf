// The machine as a tree with the load of its links: GPUs at the bottom, sockets at the top.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "report/figures.hpp"
#include "report/svg.hpp"

namespace moe {
namespace {

struct Spot {
  double x = 0, y = 0;
};

bool is_gpu(const ResultJson& device) { return device.value("kind", "").find("gpu") != std::string::npos; }

/// Steps from the nearest GPU: the row of a device.
std::vector<int> heights(const ResultJson& machine) {
  const auto& devices = machine.at("devices");
  std::vector<int> h(devices.size(), 99);
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (is_gpu(devices[i])) h[i] = 0;
  for (std::size_t round = 0; round < devices.size(); ++round)
    for (const auto& link : machine.at("links")) {
      const auto a = link.at("from").get<std::size_t>(), b = link.at("to").get<std::size_t>();
      if (!is_gpu(devices[b])) h[b] = std::min(h[b], h[a] + 1);
    }
  return h;
}

/// GPUs side by side; every other device above the middle of what hangs on it, pushed apart where two would meet.
std::vector<Spot> layout(const ResultJson& machine, double width, double& height) {
  const auto& devices = machine.at("devices");
  const std::vector<int> h = heights(machine);
  int top = 0;
  std::size_t gpus = 0;
  for (std::size_t i = 0; i < h.size(); ++i) top = std::max(top, h[i] == 99 ? 0 : h[i]), gpus += is_gpu(devices[i]) ? 1 : 0;
  height = 90.0 * top + 80;
  std::vector<Spot> spots(h.size());
  double next = width / static_cast<double>(gpus) / 2;
  for (std::size_t i = 0; i < h.size(); ++i)
    if (h[i] == 0) spots[i] = {next, height - 34}, next += width / static_cast<double>(gpus);
  for (int level = 1; level <= top; ++level) {
    std::vector<std::size_t> row;
    for (std::size_t i = 0; i < h.size(); ++i) {
      if (h[i] != level) continue;
      double sum = 0, n = 0;
      for (const auto& link : machine.at("links"))
        if (link.at("to").get<std::size_t>() == i && h[link.at("from").get<std::size_t>()] < level)
          sum += spots[link.at("from").get<std::size_t>()].x, ++n;
      spots[i] = {n > 0 ? sum / n : width / 2, height - 34 - 90.0 * level};
      row.push_back(i);
    }
    std::stable_sort(row.begin(), row.end(), [&](auto a, auto b) { return spots[a].x < spots[b].x; });
    const double gap = std::min(90.0, width / static_cast<double>(row.size() + 1));
    for (std::size_t k = 1; k < row.size(); ++k) spots[row[k]].x = std::max(spots[row[k]].x, spots[row[k - 1]].x + gap);
    const double over = row.empty() ? 0 : spots[row.back()].x - (width - 40);
    for (const std::size_t i : row) spots[i].x -= std::max(0.0, over);
  }
  return spots;
}

}  // namespace

std::string links_figure(const ResultJson& detail) {
  if (!detail.contains("machine") || detail.at("machine").at("links").empty()) return {};
  const auto& machine = detail.at("machine");
  double height = 0;
  const std::vector<Spot> spots = layout(machine, 900, height);
  Svg svg(900, height + 26);
  double busiest = 0.01;
  for (const auto& link : machine.at("links")) busiest = std::max(busiest, link.value("busy", 0.0));
  for (const auto& link : machine.at("links")) {
    const Spot a = spots[link.at("from").get<std::size_t>()], b = spots[link.at("to").get<std::size_t>()];
    const double dx = b.x - a.x, dy = b.y - a.y, length = std::max(1.0, std::hypot(dx, dy)), off = 4;
    const double ox = -dy / length * off, oy = dx / length * off;  // the two directions lie beside each other
    const double GBps = link.value("GBps", 0.0), busy = link.value("busy", 0.0);
    const double w = GBps > 1e6 ? 1 : std::clamp(1.2 * std::log2(GBps / 8 + 1), 1.0, 9.0);
    svg.line(a.x + ox, a.y + oy, b.x + ox, b.y + oy, fmt::format("stroke:{};stroke-width:{:.1f}", heat_of(busy / busiest), w),
             fmt::format("{}\n{} GB/s, carries {} MB per step\nbusy {:.1f} %, costs {} ms of the step", link.value("name", ""),
                         GBps > 1e6 ? "unlimited" : significant(GBps), significant(link.value("MB", 0.0)), 100 * busy, significant(link.value("cost_ms", 0.0))));
  }
  const auto& devices = machine.at("devices");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (spots[i].y == 0) continue;
    const std::string name = devices[i].value("name", "");
    const double w = 12 + 7.0 * static_cast<double>(name.size());
    svg.rect(spots[i].x - w / 2, spots[i].y - 11, w, 22, "fill:var(--soft);stroke:var(--ink)", devices[i].value("kind", ""));
    svg.text(spots[i].x, spots[i].y + 4, name, Anchor::middle);
  }
  svg.text(10, height + 16, fmt::format("width: capacity   colour: busy, up to {:.1f} % of the step", 100 * busiest));
  return svg.element();
}

}  // namespace moe
