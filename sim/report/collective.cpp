#include "report/collective.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"

namespace moe {

double bus_GBps(CollectiveOp op, int ranks, double bytes, double us) {
  if (us <= 0) return 0;
  const double factor = (op == CollectiveOp::all_reduce ? 2.0 : 1.0) * (ranks - 1) / ranks;
  return bytes * factor / us * 1e-3;
}

std::string collective_text(CollectiveOp op, int ranks, const std::vector<CollectiveLine>& lines) {
  const auto any = [&](double CollectiveLine::*value) {
    return std::any_of(lines.begin(), lines.end(), [&](const CollectiveLine& l) { return l.*value > 0; });
  };
  const bool flows = any(&CollectiveLine::flows_us), together = any(&CollectiveLine::together_us);
  std::string align = "rrr";
  std::vector<std::string> head{"bytes", "time us", "bus GB/s"};
  if (flows) head.push_back("as flows us"), align += "r";
  if (together) head.push_back("beside the others us"), head.push_back("contention us"), head.push_back("most on"), align += "rrl";
  head.insert(head.end(), {"implementation", "why"});
  TextTable table(align + "ll");
  table.row(head);
  for (const CollectiveLine& l : lines) {
    std::vector<std::string> row{grouped(l.bytes), fmt::format("{:.2f}", l.cost.time_us),
                                 fmt::format("{:.2f}", bus_GBps(op, ranks, l.bytes, l.cost.time_us))};
    if (flows) row.push_back(fmt::format("{:.2f}", l.flows_us));
    if (together) {
      row.push_back(fmt::format("{:.2f}", l.together_us));
      row.push_back(fmt::format("{:.2f}", l.together_us - (l.flows_us > 0 ? l.flows_us : l.cost.time_us)));
      row.push_back(l.lost_on.empty() ? "-" : l.lost_on);
    }
    row.push_back(l.cost.implementation);
    row.push_back(l.cost.reason + (l.cost.in_range ? "" : "; outside the fitted range"));
    table.row(row);
  }
  return table.render();
}

std::string collective_csv(const std::string& name, CollectiveOp op, int ranks,
                           const std::vector<CollectiveLine>& lines) {
  std::string out = "op,gpus,bytes,latency_us,bus_GBps,flows_us,together_us,implementation,in_range,lost_on\n";
  for (const CollectiveLine& l : lines)
    out += fmt::format("{},{},{:.0f},{:.6g},{:.6g},{:.6g},{:.6g},{},{},{}\n", name, ranks, l.bytes, l.cost.time_us,
                       bus_GBps(op, ranks, l.bytes, l.cost.time_us), l.flows_us, l.together_us, l.cost.implementation,
                       l.cost.in_range ? 1 : 0, l.lost_on);
  return out;
}

nlohmann::ordered_json collective_json(CollectiveOp op, int ranks, const std::vector<CollectiveLine>& lines) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const CollectiveLine& l : lines) {
    nlohmann::ordered_json one{{"bytes", l.bytes}, {"time_us", l.cost.time_us},
                               {"bus_GBps", bus_GBps(op, ranks, l.bytes, l.cost.time_us)}};
    if (l.flows_us > 0) one["flows_us"] = l.flows_us;
    if (l.together_us > 0) one["together_us"] = l.together_us, one["lost_on"] = l.lost_on;
    one["implementation"] = l.cost.implementation;
    one["reason"] = l.cost.reason;
    one["spread"] = l.cost.spread;
    one["in_range"] = l.cost.in_range;
    all.push_back(one);
  }
  return all;
}

}  // namespace moe
