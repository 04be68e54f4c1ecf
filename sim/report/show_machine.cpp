#include "report/show_machine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "network/fabric.hpp"

namespace moe {
namespace {

std::string rate(Bandwidth b) {
  return b >= kUnlimited ? "no limit" : fmt::format("{:.1f} GB/s", to_GBps(b));
}

std::string latency(Seconds s) { return fmt::format("{:.2f} us", s.count() * 1e6); }

/// How far a device is from the top of its server; the tree hangs devices under the nearest higher one.
int height(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::network: return 6;
    case DeviceKind::socket: return 5;
    case DeviceKind::root_complex: return 4;
    case DeviceKind::root_port: return 3;
    case DeviceKind::nvswitch: return 3;
    case DeviceKind::pcie_switch: return 2;
    case DeviceKind::nic: return 1;
    case DeviceKind::host_memory: return 1;
    case DeviceKind::gpu: return 0;
  }
  return 0;
}

struct Tree {
  std::map<int, std::vector<int>> below;  ///< devices under a device, in the order of the file
  std::map<int, int> hanging_link;        ///< device -> link from it to its parent
  std::vector<int> tops;
};

/// Each device hangs under the lowest device above it that it has a link to; switches that are linked to each other
/// stay side by side.
Tree tree_of(const Machine& m) {
  Tree t;
  std::vector<int> parent(m.devices.size(), -1);
  for (std::size_t i = 0; i < m.links.size(); ++i) {
    const Link& l = m.links[i];
    const auto from = static_cast<std::size_t>(l.from), to = static_cast<std::size_t>(l.to);
    const int up = height(m.devices[to].kind), here = height(m.devices[from].kind);
    if (up <= here) continue;
    const bool is_pcie = l.kind != LinkKind::nvlink;  // a GPU hangs on its PCIe slot, not on NVLink
    const bool better = parent[from] < 0 || (is_pcie && up < height(m.devices[static_cast<std::size_t>(parent[from])].kind));
    if (!is_pcie && parent[from] >= 0) continue;
    const bool replaces_nvlink =
        parent[from] >= 0 && m.links[static_cast<std::size_t>(t.hanging_link[l.from])].kind == LinkKind::nvlink;
    if (!better && !replaces_nvlink) continue;
    parent[from] = l.to;
    t.hanging_link[l.from] = static_cast<int>(i);
  }
  for (std::size_t d = 0; d < m.devices.size(); ++d) {
    if (parent[d] < 0) t.tops.push_back(static_cast<int>(d));
    else t.below[parent[d]].push_back(static_cast<int>(d));
  }
  return t;
}

void draw(const Machine& m, const Tree& t, int device, const std::string& indent, bool last, bool top, TextTable& out) {
  const Device& d = m.devices[static_cast<std::size_t>(device)];
  std::string what(name_of(d.kind));
  std::replace(what.begin(), what.end(), '_', ' ');
  const auto link = t.hanging_link.find(device);
  const bool hangs = link != t.hanging_link.end();
  const Link* l = hangs ? &m.links[static_cast<std::size_t>(link->second)] : nullptr;
  out.row({indent + (top ? "" : last ? "└─ " : "├─ ") + d.name, what, hangs ? rate(l->capacity) : "",
           hangs ? latency(l->latency) : ""});
  const auto below = t.below.find(device);
  if (below == t.below.end()) return;
  for (std::size_t i = 0; i < below->second.size(); ++i)
    draw(m, t, below->second[i], indent + (top ? "" : last ? "   " : "│  "), i + 1 == below->second.size(), false, out);
}

/// Links that the tree does not show: between switches, root complexes and sockets, and NVLink.
std::string cross_links(const Machine& m, const Tree& t) {
  std::set<std::pair<int, int>> shown;
  for (const auto& [device, link] : t.hanging_link) {
    const Link& l = m.links[static_cast<std::size_t>(link)];
    shown.insert(std::minmax(l.from, l.to));
  }
  TextTable table("llrr");
  for (const Link& l : m.links) {
    if (!shown.insert(std::minmax(l.from, l.to)).second) continue;
    std::string kind(name_of(l.kind));
    std::replace(kind.begin(), kind.end(), '_', ' ');
    table.row({m.devices[static_cast<std::size_t>(l.from)].name + " ↔ " + m.devices[static_cast<std::size_t>(l.to)].name,
               kind, rate(l.capacity), latency(l.latency)});
  }
  return table.empty() ? "" : "\nother links, per direction\n" + table.render();
}

/// What one flow from GPU to GPU gets when nothing else moves.
double alone_GBps(const Machine& m, const Routes& routes, int from, int to) {
  const Resources r = fabric(m);
  Bandwidth least = kUnlimited;
  for (const LinkId link : path_of(m, routes.between_gpus(from, to))) least = std::min(least, r.capacity[link]);
  return to_GBps(least);
}

template <class Cell>
std::string matrix(const Machine& m, const Routes& routes, const std::string& title, Cell cell) {
  const int n = static_cast<int>(m.gpus.size());
  TextTable table(std::string(static_cast<std::size_t>(n) + 1, 'r'));
  std::vector<std::string> head{"from\\to"};
  for (int to = 0; to < n; ++to) head.push_back(std::to_string(to));
  table.row(head);
  for (int from = 0; from < n; ++from) {
    std::vector<std::string> row{std::to_string(from)};
    for (int to = 0; to < n; ++to) row.push_back(from == to ? "-" : cell(routes, from, to));
    table.row(row);
  }
  return "\n" + title + "\n" + table.render();
}

}  // namespace

std::string show_machine(const Machine& m, const Routes& routes) {
  std::string out = fmt::format("{}   {}\n\ntree, per direction towards the top\n", m.name, m.summary);
  const Tree t = tree_of(m);
  TextTable tree("llrr");
  for (const int top : t.tops) draw(m, t, top, "", true, true, tree);
  out += tree.render() + cross_links(m, t);
  for (const SharedLimit& l : m.limits)
    out += fmt::format("  limit `{}`: {} over {} links together\n", l.name, rate(l.capacity), l.links.size());
  if (m.gpus.size() > 1) {
    out += matrix(m, routes, "GPU → GPU bandwidth, row sends to column, alone, GB/s",
                  [&](const Routes& r, int a, int b) { return fmt::format("{:.1f}", alone_GBps(m, r, a, b)); });
    out += matrix(m, routes, "GPU → GPU latency of the links, row sends to column, without the ends, us",
                  [&](const Routes& r, int a, int b) {
                    return fmt::format("{:.2f}", r.between_gpus(a, b).latency.count() * 1e6);
                  });
    out += matrix(m, routes, "GPU → GPU path as NCCL grades it", [&](const Routes& r, int a, int b) {
      return std::string(name_of(path_level(m, r.between_gpus(a, b))));
    });
  }
  for (const std::string& s : m.measured) out += "\nmeasured      " + s;
  for (const std::string& s : m.unvalidated) out += "\nunvalidated   " + s;
  return out + "\n";
}

nlohmann::ordered_json show_machine_json(const Machine& m, const Routes& routes) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array(), links = nlohmann::ordered_json::array();
  for (const Device& d : m.devices)
    devices.push_back({{"name", d.name}, {"kind", name_of(d.kind)}, {"socket", d.socket}, {"node", d.node}});
  for (const Link& l : m.links) {
    nlohmann::ordered_json one{{"name", l.name}, {"kind", name_of(l.kind)}};
    one["GBps"] = l.capacity >= kUnlimited ? nlohmann::ordered_json() : nlohmann::ordered_json(to_GBps(l.capacity));
    one["latency_us"] = l.latency.count() * 1e6;
    links.push_back(one);
  }
  const int n = static_cast<int>(m.gpus.size());
  nlohmann::ordered_json bandwidth = nlohmann::ordered_json::array(), us = bandwidth;
  for (int a = 0; a < n; ++a) {
    nlohmann::ordered_json rates = nlohmann::ordered_json::array(), times = rates;
    for (int b = 0; b < n; ++b) {
      rates.push_back(a == b ? nlohmann::ordered_json() : nlohmann::ordered_json(alone_GBps(m, routes, a, b)));
      times.push_back(routes.between_gpus(a, b).latency.count() * 1e6);
    }
    bandwidth.push_back(rates);
    us.push_back(times);
  }
  return {{"machine", m.name}, {"summary", m.summary}, {"gpu", m.gpu}, {"devices", devices}, {"links", links},
          {"from_to_GBps", bandwidth}, {"from_to_us", us}, {"measured", m.measured}, {"unvalidated", m.unvalidated}};
}

}  // namespace moe
