#include "network/pcie_rule.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace moe {

double head_of_line(int outputs) {
  constexpr std::array<double, 9> kShare{1, 1, 0.75, 0.6825, 0.655, 0.640, 0.630, 0.623, 0.618};
  constexpr double kManyOutputs = 0.586;  // 2 - sqrt(2)
  const auto d = static_cast<std::size_t>(std::max(outputs, 0));
  return d < kShare.size() ? kShare[d] : kManyOutputs;
}

double port_share(const PortLoad& load, const PcieFactors& factors, bool read_fan_out) {
  const int outputs = load.contended ? load.destinations : 1;
  double share = head_of_line(outputs);
  if (outputs < 2) return share;
  if (load.queues_twice) share *= factors.second_stage;
  if (read_fan_out && load.readers >= 2) share = std::min(share, factors.read_fan_out);
  return share;
}

double uplink_Bps(double capacity_Bps, const UplinkLoad& load, const Machine& machine) {
  double share = 1 - (1 - head_of_line(load.blocked_outputs)) * machine.pcie.uplink_blocking;
  if (machine.read_fan_out && load.read_sources >= 2 && load.read_destinations >= 2)
    share *= machine.pcie.read_fan_out_uplink;
  const bool collapses = machine.posted_write_collapse && load.write_sources >= 2 && load.write_roots >= 2;
  const double left_Bps = capacity_Bps * share;
  return collapses ? std::min(left_Bps, machine.pcie.collapse_GBps * 1e9) : left_Bps;
}

namespace {

/// Of the machine's links, those between a switch and a root port, upwards or downwards.
std::size_t uplinks(const Machine& machine, bool upwards) {
  return static_cast<std::size_t>(std::count_if(machine.links.begin(), machine.links.end(), [&](const Link& l) {
    const bool up = machine.devices[static_cast<std::size_t>(l.to)].kind == DeviceKind::root_port;
    return l.kind == LinkKind::uplink && up == upwards;
  }));
}

}  // namespace

PcieRule::PcieRule(const Machine& machine, std::vector<bool> reads)
    : machine_(machine),
      reads_(std::move(reads)),
      flows_(machine.links.size()),
      outputs_(machine.devices.size(), machine.links.size()),
      destinations_(machine.devices.size(), machine.devices.size()),
      readers_(machine.devices.size(), machine.devices.size()),
      roots_(uplinks(machine, true) + 1, uplinks(machine, false)),
      write_roots_(uplinks(machine, true), uplinks(machine, false)),
      write_sources_(uplinks(machine, true), machine.devices.size()),
      read_sources_(uplinks(machine, true), machine.devices.size()),
      read_destinations_(uplinks(machine, true), machine.devices.size()) {
  const auto kind = [&](int device) { return machine.devices[static_cast<std::size_t>(device)].kind; };
  std::map<std::pair<int, int>, int> joined;
  int downs = 0;
  for (const Link& l : machine.links) {
    const int link = static_cast<int>(links_.size());
    LinkFacts f{Role::other, l.from, l.to, kNobody, 0};
    if (l.kind == LinkKind::port && kind(l.from) == DeviceKind::gpu) f.role = Role::gpu_egress;
    if (l.kind == LinkKind::port && kind(l.to) == DeviceKind::gpu) f.role = Role::gpu_ingress;
    if (l.kind == LinkKind::uplink) f.role = kind(l.to) == DeviceKind::root_port ? Role::up : Role::down;
    f.number = f.role == Role::up ? static_cast<int>(ups_.size()) : f.role == Role::down ? downs++ : 0;
    if (f.role == Role::up) ups_.push_back(link);
    if (l.kind == LinkKind::port || l.kind == LinkKind::uplink) watched_.push_back(link);
    links_.push_back(f);
    joined[{l.from, l.to}] = link;
  }
  for (const int link : watched_) {
    LinkFacts& l = links_[static_cast<std::size_t>(link)];
    if (const auto back = joined.find({l.to, l.from}); back != joined.end()) l.opposite = back->second;
  }
}

PcieRule::Ends PcieRule::ends_of(const ActiveFlow& flow) const {
  Ends e;
  for (const LinkId id : flow.path) {
    if (index(id) >= links_.size()) continue;
    const int link = static_cast<int>(index(id));
    const LinkFacts& facts = links_[index(id)];
    if (e.source == kNobody) e.source = facts.from;
    e.target = facts.to;
    if (facts.role == Role::gpu_ingress) e.ingress = link;
    if (facts.role == Role::up && e.up == kNobody) e.up = link;
    if (facts.role == Role::down && e.down == kNobody) e.down = link;
  }
  return e;
}

/// A flow comes (Change adds, by = 1) or goes.
template <void (Crossings::*Change)(std::size_t, std::size_t)>
void PcieRule::count(const ActiveFlow& flow, int by) {
  const auto change = [](Crossings& crossings, int input, int output) {
    (crossings.*Change)(static_cast<std::size_t>(input), static_cast<std::size_t>(output));
  };
  const bool read = index(flow.op) < reads_.size() && reads_[index(flow.op)];
  const Ends e = ends_of(flow);
  for (const LinkId id : flow.path)
    if (index(id) < flows_.size()) flows_[index(id)] += by;
  if (e.source == kNobody) return;
  change(destinations_, e.source, e.target);
  if (read) change(readers_, e.source, e.target);
  if (e.ingress != kNobody) change(outputs_, e.source, e.ingress);
  const int up = e.up == kNobody ? static_cast<int>(ups_.size()) : number_of(e.up);
  if (e.down != kNobody) change(roots_, up, number_of(e.down));
  if (e.up == kNobody) return;
  change(outputs_, e.source, e.up);
  change(read ? read_sources_ : write_sources_, up, e.source);
  if (read) change(read_destinations_, up, e.target);
  else if (e.down != kNobody) change(write_roots_, up, number_of(e.down));
}

void PcieRule::correct(std::span<const ActiveFlow>, Table<LinkId, Bandwidth>& capacity) {
  for (const int link : watched_) {
    const auto l = static_cast<std::size_t>(link);
    if (flows_[l] == 0) continue;
    const LinkFacts& facts = links_[l];
    double& Bps = capacity[static_cast<LinkId>(link)].bytes_per_second;
    if (facts.role == Role::gpu_egress) Bps *= port_share(port_load(facts.from), machine_.pcie, machine_.read_fan_out);
    if (facts.role == Role::up) Bps = uplink_Bps(Bps, uplink_load(facts.number), machine_);
    if (facts.opposite != kNobody && flows_[static_cast<std::size_t>(facts.opposite)] > 0) Bps *= machine_.pcie.duplex;
  }
}

PortLoad PcieRule::port_load(int gpu) const {
  const auto g = static_cast<std::size_t>(gpu);
  PortLoad load;
  load.destinations = destinations_.outputs_of(g);
  load.readers = readers_.outputs_of(g);
  load.contended = outputs_.contended_of(g) > 0;
  load.queues_twice = std::any_of(ups_.begin(), ups_.end(), [&](int up) {
    return outputs_.joined(g, static_cast<std::size_t>(up)) &&
           roots_.contended_of(static_cast<std::size_t>(number_of(up))) >= 2;
  });
  return load;
}

UplinkLoad PcieRule::uplink_load(int up) const {
  const auto u = static_cast<std::size_t>(up);
  return {roots_.contended_of(u), write_sources_.outputs_of(u), write_roots_.outputs_of(u), read_sources_.outputs_of(u),
          read_destinations_.outputs_of(u)};
}

}  // namespace moe
