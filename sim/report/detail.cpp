#include "report/detail.hpp"

#include <algorithm>
#include <map>

#include "cost/collective.hpp"
#include "timeline/usage.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

/// A layer in the middle that has routed experts, else the middle one.
int representative_layer(const Lowered& l) {
  std::map<int, bool> layers;
  for (std::size_t i = index(l.first_op); i < l.program.size(); ++i) {
    const OpId op = static_cast<OpId>(i);
    if (l.program.label[op].layer < 0) continue;
    bool& experts = layers[l.program.label[op].layer];
    experts = experts || l.program.category[op] == Category::experts;
  }
  std::vector<int> with, all;
  for (const auto& [layer, experts] : layers) {
    all.push_back(layer);
    if (experts) with.push_back(layer);
  }
  const std::vector<int>& from = with.empty() ? all : with;
  return from.empty() ? -1 : from[from.size() / 2];
}

std::string lane_of(const Lowered& l, OpId op) {
  if (l.program.kind[op] == Kind::compute) return l.resources.server_names[l.program.server[op]];
  const Label& label = l.program.label[op];
  return "rank " + std::to_string(label.source) + " sends";
}

Json layer_json(const Lowered& l, const Timeline& t) {
  const int layer = representative_layer(l);
  Json ops = Json::array();
  Time first = Time::max();
  std::vector<OpId> chosen;
  for (std::size_t i = index(l.first_op); i < l.program.size(); ++i) {
    const OpId op = static_cast<OpId>(i);
    if (l.program.label[op].layer != layer || l.program.kind[op] == Kind::join) continue;
    first = std::min(first, t.start[op]);
    chosen.push_back(op);
  }
  for (const OpId op : chosen) {
    const OpId cause = t.cause[op];
    const char* wait = t.wait[op] == Wait::queue ? "queue" : t.wait[op] == Wait::dependency ? "dependency" : "start";
    Json row{{"name", l.program.names[l.program.label[op].name]}, {"server", lane_of(l, op)},
             {"category", std::string(name_of(l.program.category[op]))}, {"start_us", to_ms(t.start[op] - first) * 1e3},
             {"us", to_ms(t.end[op] - t.start[op]) * 1e3}, {"wait", wait}, {"alone_us", to_ms(t.alone[op]) * 1e3},
             {"queued_us", to_ms(t.start[op] - t.ready[op]) * 1e3}};
    if (cause != kNoOp) row["cause"] = describe(l.program, cause);
    ops.push_back(row);
  }
  return {{"number", layer}, {"ops", ops}};
}

/// Transfers by their ends; collectives in closed form are booked on the neighbours of the tensor-parallel ring.
Json traffic_json(const Case& c, const Lowered& l) {
  const std::size_t n = c.machine->gpus.size();
  std::vector<std::vector<double>> mb(n, std::vector<double>(n, 0.0));
  const auto& gpus = c.experiment.gpus;
  for (std::size_t i = index(l.first_op); i < l.program.size(); ++i) {
    const OpId op = static_cast<OpId>(i);
    const Label& label = l.program.label[op];
    const auto ranks = static_cast<int>(gpus.size());
    if (l.program.kind[op] != Kind::transfer || label.source < 0 || label.target < 0 || label.source >= ranks || label.target >= ranks) continue;
    mb[static_cast<std::size_t>(gpus[static_cast<std::size_t>(label.source)])][static_cast<std::size_t>(gpus[static_cast<std::size_t>(label.target)])] += l.program.bytes[op].count * 1e-6;
  }
  const auto tp = static_cast<std::size_t>(c.experiment.plan.tp);
  for (std::size_t from = 0; tp > 1 && from + tp <= gpus.size(); from += tp) {
    const Communicator ring = communicator(*c.machine, *c.routes, {gpus.begin() + static_cast<std::ptrdiff_t>(from), gpus.begin() + static_cast<std::ptrdiff_t>(from + tp)});
    for (std::size_t i = 0; i < tp; ++i) {
      const auto a = static_cast<std::size_t>(ring.gpus[i]), b = static_cast<std::size_t>(ring.gpus[(i + 1) % tp]);
      const Route& route = c.routes->between_gpus(static_cast<int>(a), static_cast<int>(b));
      if (!route.links.empty()) mb[a][b] += l.link_bytes[static_cast<std::size_t>(route.links[0])] * 1e-6;
    }
  }
  return {{"gpus", n}, {"MB", mb}};
}

Json machine_json(const Case& c, const Result& r) {
  Json devices = Json::array(), links = Json::array();
  for (const Device& d : c.machine->devices)
    devices.push_back({{"name", d.name}, {"kind", std::string(name_of(d.kind))}, {"socket", d.socket}, {"node", d.node}});
  std::map<std::string, const LinkUse*> used;
  for (const LinkUse& u : r.links) used[u.name] = &u;
  for (const Link& link : c.machine->links) {
    const auto found = used.find(link.name);
    const LinkUse none{};
    const LinkUse& u = found == used.end() ? none : *found->second;
    links.push_back({{"from", link.from}, {"to", link.to}, {"name", link.name}, {"GBps", to_GBps(link.capacity)},
                     {"busy", u.busy_share}, {"MB", u.carried_MB}, {"cost_ms", u.cost_ms}});
  }
  return {{"devices", devices}, {"links", links}};
}

/// Work of rank 0 in the measured round, by kernel name.
Json kernels_json(const Case& c, const Lowered& l, const Timeline& t) {
  struct Work {
    Category category{};
    int calls = 0;
    double flop = 0, bytes = 0, us = 0, peak = 0;
  };
  std::map<std::string, Work> kernels;
  for (std::size_t i = index(l.first_op); i < l.facts.size(); ++i) {
    const OpId op = static_cast<OpId>(i);
    const OpFacts& f = l.facts[op];
    if (l.program.kind[op] != Kind::compute || l.program.label[op].source != 0 || f.dram_bytes + f.flop <= 0) continue;
    Work& w = kernels[l.program.names[l.program.label[op].name]];
    w.category = l.program.category[op];
    ++w.calls;
    w.flop += f.flop, w.bytes += f.dram_bytes, w.us += to_ms(t.end[op] - t.start[op]) * 1e3;
    w.peak = peak_flops(c.profile->gpu, f.compute) * 1e-12;
  }
  Json out = Json::array();
  for (const auto& [name, w] : kernels)
    out.push_back({{"name", name}, {"category", std::string(name_of(w.category))}, {"calls", w.calls}, {"flop", w.flop},
                   {"dram_bytes", w.bytes}, {"us", w.us}, {"peak_tflops", w.peak}});
  return out;
}

}  // namespace

nlohmann::ordered_json detail_json(const Case& c, const Result& r) {
  Json out;
  out["layer"] = layer_json(r.lowered, r.timeline);
  out["traffic"] = traffic_json(c, r.lowered);
  out["machine"] = machine_json(c, r);
  out["kernels"] = kernels_json(c, r.lowered, r.timeline);
  out["dram_GBps"] = c.profile->gpu.dram_Bps * 1e-9;
  return out;
}

}  // namespace moe
