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

PcieRule::PcieRule(const Machine& machine, std::vector<bool> reads) : machine_(machine), reads_(std::move(reads)) {
  const auto kind = [&](int device) { return machine.devices[static_cast<std::size_t>(device)].kind; };
  std::map<std::pair<int, int>, int> joined;
  std::size_t ups = 0;
  for (std::size_t i = 0; i < machine.links.size(); ++i) {
    const Link& l = machine.links[i];
    joined[{l.from, l.to}] = static_cast<int>(i);
    Role role = Role::other;
    if (l.kind == LinkKind::port && kind(l.from) == DeviceKind::gpu) role = Role::gpu_egress;
    if (l.kind == LinkKind::port && kind(l.to) == DeviceKind::gpu) role = Role::gpu_ingress;
    if (l.kind == LinkKind::uplink) role = kind(l.to) == DeviceKind::root_port ? Role::up : Role::down;
    role_.push_back(role);
    number_.push_back(static_cast<int>(role == Role::up ? ups++ : role == Role::down ? downs_++ : 0));
  }
  for (const Link& l : machine.links) {
    const auto back = joined.find({l.to, l.from});
    const bool shares = l.kind == LinkKind::port || l.kind == LinkKind::uplink;
    opposite_.push_back(shares && back != joined.end() ? back->second : kNobody);
  }
  state_.resize(machine.links.size());
  pair_seen_.resize(machine.devices.size() * machine.devices.size());
  blocked_seen_.resize(ups * downs_);
  root_seen_.resize(ups * downs_);
}

void PcieRule::correct(std::span<const ActiveFlow> flows, Table<LinkId, Bandwidth>& capacity) {
  forget();
  for (const ActiveFlow& flow : flows) {
    ends_.push_back(ends_of(flow));
    note_flow(flow, ends_.back());
  }
  for (const Ends& ends : ends_) note_uplink(ends);
  for (const Ends& ends : ends_) note_port(ends);
  for (const int link : used_) {
    const auto l = static_cast<std::size_t>(link);
    LinkState& s = state_[l];
    double& Bps = capacity[static_cast<LinkId>(link)].bytes_per_second;
    if (role_[l] == Role::gpu_egress) Bps *= port_share(s.port, machine_.pcie, machine_.read_fan_out);
    if (role_[l] == Role::up) {
      s.uplink.write_sources = s.write_sources.count();
      s.uplink.read_sources = s.read_sources.count();
      s.uplink.read_destinations = s.read_destinations.count();
      Bps = uplink_Bps(Bps, s.uplink, machine_);
    }
    const int back = opposite_[l];
    if (back != kNobody && state_[static_cast<std::size_t>(back)].sources.count() > 0) Bps *= machine_.pcie.duplex;
  }
}

void PcieRule::forget() {
  for (const int link : used_) state_[static_cast<std::size_t>(link)] = {};
  used_.clear();
  ends_.clear();
  if (++epoch_ > 0) return;
  for (auto* seen : {&pair_seen_, &blocked_seen_, &root_seen_}) std::fill(seen->begin(), seen->end(), 0U);
  epoch_ = 1;
}

PcieRule::Ends PcieRule::ends_of(const ActiveFlow& flow) const {
  Ends e;
  e.read = index(flow.op) < reads_.size() && reads_[index(flow.op)];
  for (const LinkId id : flow.path) {
    if (index(id) >= machine_.links.size()) continue;
    const int link = static_cast<int>(index(id));
    if (e.source == kNobody) e.source = machine_.links[index(id)].from;
    e.target = machine_.links[index(id)].to;
    switch (role_[index(id)]) {
      case Role::gpu_egress: e.egress = link; break;
      case Role::gpu_ingress: e.ingress = link; break;
      case Role::up: e.up = e.up == kNobody ? link : e.up; break;
      case Role::down: e.down = e.down == kNobody ? link : e.down; break;
      case Role::other: break;
    }
  }
  return e;
}

void PcieRule::note_flow(const ActiveFlow& flow, const Ends& e) {
  for (const LinkId id : flow.path) {
    if (index(id) >= machine_.links.size()) continue;
    LinkState& s = state_[index(id)];
    if (s.sources.count() == 0) used_.push_back(static_cast<int>(index(id)));
    s.sources.see(e.source);
    if (role_[index(id)] == Role::down) s.feeders.see(e.up == kNobody ? static_cast<int>(state_.size()) : e.up);
    if (role_[index(id)] != Role::up) continue;
    (e.read ? s.read_sources : s.write_sources).see(e.source);
    if (e.read) s.read_destinations.see(e.target);
  }
}

/// Which root ports does the flow's uplink reach, and which of them are contended? Needs every flow's feeders.
void PcieRule::note_uplink(const Ends& e) {
  if (e.up == kNobody || e.down == kNobody) return;
  UplinkLoad& load = state_[static_cast<std::size_t>(e.up)].uplink;
  const int row = number_[static_cast<std::size_t>(e.up)], column = number_[static_cast<std::size_t>(e.down)];
  if (!e.read && first_time(root_seen_, row * static_cast<int>(downs_) + column, 0)) ++load.write_roots;
  const bool contended = state_[static_cast<std::size_t>(e.down)].feeders.several;
  if (contended && first_time(blocked_seen_, row * static_cast<int>(downs_) + column, 0)) ++load.blocked_outputs;
}

/// What does the flow add to its GPU's port? Needs every link's sources and every uplink's outputs.
void PcieRule::note_port(const Ends& e) {
  if (e.egress == kNobody) return;
  PortLoad& load = state_[static_cast<std::size_t>(e.egress)].port;
  const auto several = [&](int link) {
    return link != kNobody && state_[static_cast<std::size_t>(link)].sources.several;
  };
  load.contended = load.contended || several(e.ingress) || several(e.up);
  if (e.up != kNobody)
    load.queues_twice = load.queues_twice || state_[static_cast<std::size_t>(e.up)].uplink.blocked_outputs >= 2;
  if (!first_time(pair_seen_, e.source * static_cast<int>(machine_.devices.size()), e.target)) return;
  ++load.destinations;
  load.readers += e.read ? 1 : 0;
}

bool PcieRule::first_time(std::vector<std::uint32_t>& seen, int row, int column) const {
  std::uint32_t& at = seen[static_cast<std::size_t>(row + column)];
  if (at == epoch_) return false;
  at = epoch_;
  return true;
}

}  // namespace moe
