#include "fit/comm_constants.hpp"

#include <algorithm>
#include <string>

#include "cost/ring.hpp"

namespace moe {
namespace {

constexpr double kPcieWire = 53;     ///< Gen5 x16, 128 B payload of 152 B per store
constexpr double kNvlinkWire = 450;  ///< 18 NVLink 4 links
constexpr double kLl128Share = 0.72; ///< of the wire; three points on dual EPYC 9575F

TransportCost generic(Transport t) {
  TransportCost c;
  const bool bounced = t == Transport::shm || t == Transport::shm_x, nvlink = is_nvlink(t);
  c.adds_route_latency = !bounced && !nvlink;
  c.alpha_ll_us = bounced ? 1.5 : 0.5;
  c.tau_ll_us = bounced ? 1.0 : 0.5;
  c.tau1_ll_us = 0.4;
  c.alpha_simple_us = bounced ? 4 : 2.5;
  c.rate_simple_GBps = nvlink ? 300 : bounced ? 28 : 45;
  c.start_us = 0;
  return c;
}

std::function<double&(CommCost&)> place(const std::string& name, double TransportCost::*value) {
  return [name, value](CommCost& c) -> double& { return c.transport.at(name).*value; };
}

/// The transport whose constants per pass and per step this one shares; empty: its own. In a ring of mixed transports only
/// hop latency and rate tell them apart; two GPUs and more send in the same way.
std::string like(const CommCost& cost, const std::string& name) {
  const std::string pair = name + "_pair";
  if (name.ends_with("_x") && cost.transport.count(name.substr(0, name.size() - 2)) != 0)
    return name.substr(0, name.size() - 2);
  return cost.transport.count(pair) != 0 ? pair : std::string();
}

/// Beside another family of transports, bouncing has a start of its own.
bool has_start(const CommCost& cost, const std::string& name) {
  const auto other = [](const auto& entry) { return !entry.first.starts_with("shm"); };
  return name == "shm" && std::any_of(cost.transport.begin(), cost.transport.end(), other);
}

void add_transports(const CommCost& cost, std::vector<Constant>& all) {
  std::map<std::pair<std::string, int>, std::size_t> shared;
  const std::vector<double TransportCost::*> per_pass{&TransportCost::tau_ll_us, &TransportCost::tau1_ll_us,
                                                      &TransportCost::alpha_simple_us};
  for (const auto& [name, t] : cost.transport) {
    // A direct PCIe hop is measured by itself (GPU-resident ping-pong: 0.48 us of both ends, 0.02 us of software).
    if (!t.adds_route_latency) all.push_back({t.alpha_ll_us, {place(name, &TransportCost::alpha_ll_us)}});
    all.push_back({t.rate_simple_GBps, {place(name, &TransportCost::rate_simple_GBps)}});
    const std::string leader = like(cost, name).empty() ? name : like(cost, name);
    for (std::size_t v = 0; v < per_pass.size(); ++v) {
      const auto [at, is_new] = shared.emplace(std::pair{leader, static_cast<int>(v)}, all.size());
      if (is_new) all.push_back({t.*per_pass[v], {}});
      all[at->second].places.push_back(place(name, per_pass[v]));
    }
  }
}

/// The start of bouncing is a start of shm_x too.
void add_starts(CommCost& cost, std::vector<Constant>& all) {
  constexpr double kStart = 0.5;
  if (cost.transport.count("shm") == 0 || !has_start(cost, "shm")) return;
  Constant c{kStart, {place("shm", &TransportCost::start_us)}};
  if (cost.transport.count("shm_x") != 0) c.places.push_back(place("shm_x", &TransportCost::start_us));
  all.push_back(c);
}

void add_all_to_all(const CommCost& cost, std::vector<Constant>& all) {
  for (std::size_t i = 0; i < cost.all_to_all.size(); ++i) {
    for (const auto value : {&AllToAllCost::base_us, &AllToAllCost::peer_us, &AllToAllCost::first, &AllToAllCost::tau,
                             &AllToAllCost::simple_us})
      all.push_back({cost.all_to_all[i].*value,
                     {[i, value](CommCost& c) -> double& { return c.all_to_all[i].*value; }}});
    for (const auto& [ranks, rate] : cost.all_to_all[i].rate_GBps)
      all.push_back({rate, {[i, r = ranks](CommCost& c) -> double& { return c.all_to_all[i].rate_GBps.at(r); }}});
  }
}

}  // namespace

CommCost generic_cost(const std::set<Transport>& transports, const AllToAllRows& rows) {
  const bool nvlink = std::any_of(transports.begin(), transports.end(), is_nvlink);
  CommCost c;
  c.t_base_us = 5, c.tail_ll = 1, c.tail_simple = 0.4, c.b_simple_us = 7;
  c.wire_GBps = nvlink ? kNvlinkWire : kPcieWire;
  c.ll128_rate_GBps = kLl128Share * c.wire_GBps;
  for (const Transport t : transports) c.transport.emplace(std::string(name_of(t)), generic(t));
  for (const bool over_nvlink : {true, false}) {
    AllToAllCost a{{"p2p", "p2p_pair", "p2p_x", "shm", "shm_x"}, 5, 0.5, 0.6, 1, 2, {}, {}};
    if (over_nvlink) a.transports = {"nvlink", "nvlink_pair"};
    for (const auto& [t, counts] : rows) {
      if (is_nvlink(t) != over_nvlink) continue;
      for (const int n : counts) a.rate_GBps.emplace(n, over_nvlink ? 150 : 20), a.threads.emplace(n, 256);
    }
    if (!a.rate_GBps.empty()) c.all_to_all.push_back(a);
  }
  return c;
}

std::vector<Constant> constants_of(const CommCost& cost) {
  std::vector<Constant> all;
  for (const auto value : {&CommCost::t_base_us, &CommCost::tail_ll, &CommCost::tail_simple, &CommCost::b_simple_us})
    all.push_back({cost.*value, {[value](CommCost& c) -> double& { return c.*value; }}});
  CommCost copy = cost;
  add_transports(cost, all);
  add_starts(copy, all);
  add_all_to_all(cost, all);
  return all;
}

CommCost widened(const CommCost& known, const CommCost& wider, std::vector<Constant>& added) {
  CommCost c = known;
  for (const auto& [name, t] : wider.transport) {
    if (!c.transport.emplace(name, t).second) continue;
    const std::string pair = like(wider, name);
    if (!pair.empty()) c.transport[name] = c.transport.at(pair);
    if (!t.adds_route_latency) added.push_back({c.transport[name].alpha_ll_us, {place(name, &TransportCost::alpha_ll_us)}});
    added.push_back({c.transport[name].rate_simple_GBps, {place(name, &TransportCost::rate_simple_GBps)}});
  }
  for (const AllToAllCost& a : wider.all_to_all) {
    const auto mine = std::find_if(c.all_to_all.begin(), c.all_to_all.end(),
                                   [&](const AllToAllCost& m) { return m.transports == a.transports; });
    if (mine == c.all_to_all.end()) continue;
    const auto set = static_cast<std::size_t>(mine - c.all_to_all.begin());
    for (const auto& [ranks, rate] : a.rate_GBps) {
      if (!mine->rate_GBps.emplace(ranks, rate).second) continue;
      mine->threads.emplace(ranks, mine->threads.begin()->second);
      added.push_back({rate, {[set, r = ranks](CommCost& k) -> double& { return k.all_to_all[set].rate_GBps.at(r); }}});
    }
  }
  return c;
}

std::vector<CommCost> pass_forms(const CommCost& start) {
  std::vector<CommCost> forms;
  for (const bool whole : {false, true})
    for (const int threads : {64, 96}) {
      forms.push_back(start);
      forms.back().ll_whole_pass = whole, forms.back().ll_min_threads = threads;
    }
  return forms;
}

std::vector<CommCost> thread_forms(const CommCost& start, std::size_t set) {
  std::vector<CommCost> forms{start};
  for (const auto& entry : start.all_to_all[set].threads) {
    std::vector<CommCost> more;
    for (const CommCost& form : forms)
      for (const double threads : {64, 128, 256, 512}) {
        more.push_back(form);
        more.back().all_to_all[set].threads[entry.first] = threads;
      }
    forms = more;
  }
  return forms;
}

}  // namespace moe
