#include "report/list_machines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

namespace moe {
namespace {

Bandwidth narrowest(const Machine& machine, const Route& route) {
  Bandwidth least = kUnlimited;
  for (const int l : route.links) least = std::min(least, machine.links[static_cast<std::size_t>(l)].capacity);
  for (const SharedLimit& limit : machine.limits)
    for (const int l : route.links)
      if (std::find(limit.links.begin(), limit.links.end(), l) != limit.links.end())
        least = std::min(least, limit.capacity);
  return least;
}

/// "50.5..52.7", or one number when both print alike.
std::string from_to(double low, double high, int digits) {
  const std::string a = fmt::format("{:.{}f}", low, digits), b = fmt::format("{:.{}f}", high, digits);
  return a == b ? a : a + ".." + b;
}

constexpr std::size_t kColumns = 8;
using Cells = std::array<std::string, kColumns>;
constexpr std::array<bool, kColumns> kRightAligned{false, false, true, true, true, true, true, false};

Cells cells_of(const MachineLine& m) {
  const bool pairs = m.gpus > 1;
  return {m.name,
          m.gpu,
          std::to_string(m.gpus),
          std::to_string(m.sockets),
          std::to_string(m.switches),
          pairs ? from_to(m.slowest_GBps, m.fastest_GBps, 1) : "-",
          pairs ? from_to(m.least_us, m.most_us, 2) : "-",
          m.summary};
}

/// Characters, not bytes: a summary may hold any UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string aligned(const std::vector<Cells>& rows) {
  std::array<std::size_t, kColumns> widest{};
  for (const Cells& row : rows)
    for (std::size_t c = 0; c < kColumns; ++c) widest[c] = std::max(widest[c], width(row[c]));
  std::string out;
  for (const Cells& row : rows) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      const std::string pad(widest[c] - width(row[c]), ' ');
      const bool last = c + 1 == kColumns;
      out += kRightAligned[c] ? pad + row[c] : row[c] + (last ? "" : pad);
      out += last ? "\n" : "  ";
    }
  }
  return out;
}

}  // namespace

MachineLine line_of(const Machine& machine) {
  MachineLine line;
  line.name = machine.name, line.gpu = machine.gpu, line.summary = machine.summary;
  line.gpus = static_cast<int>(machine.gpus.size());
  std::set<int> sockets, nodes;
  for (const Device& d : machine.devices) {
    if (d.socket >= 0) sockets.insert(d.socket);
    nodes.insert(d.node);
    line.switches += d.kind == DeviceKind::pcie_switch || d.kind == DeviceKind::nvswitch ? 1 : 0;
  }
  line.sockets = static_cast<int>(sockets.size()), line.nodes = static_cast<int>(nodes.size());
  const Routes routes(machine);
  bool first = true;
  for (int a = 0; a < line.gpus; ++a)
    for (int b = 0; b < line.gpus; ++b) {
      if (a == b) continue;
      const Route& route = routes.between_gpus(a, b);
      const double rate = to_GBps(narrowest(machine, route)), us = route.latency.count() * 1e6;
      line.slowest_GBps = first ? rate : std::min(line.slowest_GBps, rate);
      line.fastest_GBps = std::max(line.fastest_GBps, rate);
      line.least_us = first ? us : std::min(line.least_us, us);
      line.most_us = std::max(line.most_us, us);
      first = false;
    }
  return line;
}

std::string machine_table(const std::vector<Machine>& machines) {
  std::vector<Cells> rows{{"name", "gpu", "gpus", "sockets", "switches", "pair GB/s", "pair us", "summary"}};
  for (const Machine& m : machines) rows.push_back(cells_of(line_of(m)));
  return aligned(rows);
}

nlohmann::ordered_json machine_json(const std::vector<Machine>& machines) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Machine& m : machines) {
    const MachineLine line = line_of(m);
    all.push_back({{"name", line.name},
                   {"gpu", line.gpu},
                   {"gpus", line.gpus},
                   {"sockets", line.sockets},
                   {"nodes", line.nodes},
                   {"switches", line.switches},
                   {"pair_GBps", {line.slowest_GBps, line.fastest_GBps}},
                   {"pair_us", {line.least_us, line.most_us}},
                   {"summary", line.summary},
                   {"measured", m.measured},
                   {"unvalidated", m.unvalidated}});
  }
  return all;
}

}  // namespace moe
