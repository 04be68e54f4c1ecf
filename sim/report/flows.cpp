#include "report/flows.hpp"

#include <fmt/core.h>

#include "base/text.hpp"

namespace moe {
namespace {

/// The capacity of a link and what the corrections leave of it: "53.8 → 35.7".
std::string capacity(const LinkResult& l) {
  if (l.capacity_GBps >= l.nominal_GBps * (1 - 1e-9)) return fmt::format("{:.1f}", l.nominal_GBps);
  return fmt::format("{:.1f} → {:.1f}", l.nominal_GBps, l.capacity_GBps);
}

std::string name_of(const FlowPair& p) {
  return fmt::format("gpu{} → gpu{}{}", p.from, p.to, p.weight > 1 ? fmt::format(" *{}", p.weight) : "");
}

}  // namespace

std::string flows_text(const Machine& machine, const FlowsResult& r, const FlowOptions& o, std::size_t most_links) {
  std::string out = fmt::format("{}   {} flow{}, {:.0f} MB each, {}\n\n", machine.name, r.flows.size(),
                                r.flows.size() == 1 ? "" : "s", o.bytes * 1e-6,
                                o.reads ? "read by the receiver" : "written by the sender");
  TextTable flows("lrrrl");
  flows.row({"flow", "rate GB/s", "alone GB/s", "ends at us", "held by"});
  for (const FlowResult& f : r.flows)
    flows.row({name_of(f.pair), fmt::format("{:.2f}", f.rate_GBps),
               fmt::format("{:.2f}", f.alone_GBps), fmt::format("{:.1f}", f.end_us),
               f.held_by.empty() ? "its own cap" : f.held_by});
  out += flows.render();
  TextTable links("llrrr");
  links.row({"link", "carries at most GB/s", "carried", "full", "flows"});
  std::size_t shown = 0;
  for (const LinkResult& l : r.links) {
    if (most_links > 0 && shown++ == most_links) break;
    links.row({l.name, capacity(l), fmt::format("{:.2f}", l.carried_GBps),
               fmt::format("{:.0f} %", 100 * l.carried_GBps / l.capacity_GBps), std::to_string(l.flows)});
  }
  out += "\nlinks while all flows are active (nominal → under this pattern)\n" + links.render();
  if (most_links > 0 && r.links.size() > most_links)
    out += fmt::format("  … {} more: --links all\n", r.links.size() - most_links);
  out += fmt::format("\n  all flows active   {:8.1f} GB/s together\n", r.sum_GBps);
  out += fmt::format("  to the last byte   {:8.1f} GB/s   ({:.1f} if links carried their nominal bandwidth)\n",
                     r.total_GBps, r.without_corrections_GBps);
  return out;
}

std::string flows_csv(const FlowsResult& r) {
  std::string out = "from,to,rate_GBps,alone_GBps,end_us,held_by,weight\n";
  for (const FlowResult& f : r.flows)
    out += fmt::format("{},{},{:.6g},{:.6g},{:.6g},{},{}\n", f.pair.from, f.pair.to, f.rate_GBps, f.alone_GBps, f.end_us,
                       f.held_by, f.pair.weight);
  return out;
}

nlohmann::ordered_json flows_json(const Machine& machine, const FlowsResult& r) {
  nlohmann::ordered_json flows = nlohmann::ordered_json::array(), links = nlohmann::ordered_json::array();
  for (const FlowResult& f : r.flows)
    flows.push_back({{"from", f.pair.from}, {"to", f.pair.to}, {"weight", f.pair.weight}, {"rate_GBps", f.rate_GBps},
                     {"alone_GBps", f.alone_GBps}, {"end_us", f.end_us}, {"held_by", f.held_by}});
  for (const LinkResult& l : r.links)
    links.push_back({{"link", l.name}, {"nominal_GBps", l.nominal_GBps}, {"capacity_GBps", l.capacity_GBps},
                     {"carried_GBps", l.carried_GBps}, {"flows", l.flows}});
  return {{"machine", machine.name}, {"flows", flows}, {"links", links}, {"sum_GBps", r.sum_GBps},
          {"total_GBps", r.total_GBps}, {"without_corrections_GBps", r.without_corrections_GBps},
          {"measured", machine.measured}, {"unvalidated", machine.unvalidated}};
}

}  // namespace moe
