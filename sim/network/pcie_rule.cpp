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
  std::size_t ups = 0;
  for (const Link& l : machine.links) add_link(machine, l, ups);
  std::map<std::pair<int, int>, int> joined;
  for (std::size_t i = 0; i < links_.size(); ++i) joined[{links_[i].from, links_[i].to}] = static_cast<int>(i);
  for (LinkFacts& l : links_) {
    const auto back = joined.find({l.to, l.from});
    if (l.watched && back != joined.end()) l.opposite = back->second;
  }
  state_.resize(links_.size());
  pair_seen_.resize(machine.devices.size() * machine.devices.size());
  blocked_seen_.resize(ups * downs_);
  root_seen_.resize(ups * downs_);
}

void PcieRule::add_link(const Machine& machine, const Link& l, std::size_t& ups) {
  const auto kind = [&](int device) { return machine.devices[static_cast<std::size_t>(device)].kind; };
  LinkFacts f;
  f.from = l.from, f.to = l.to;
  f.watched = l.kind == LinkKind::port || l.kind == LinkKind::uplink;
  if (l.kind == LinkKind::port && kind(l.from) == DeviceKind::gpu) f.role = Role::gpu_egress;
  if (l.kind == LinkKind::port && kind(l.to) == DeviceKind::gpu) f.role = Role::gpu_ingress;
  if (l.kind == LinkKind::uplink) f.role = kind(l.to) == DeviceKind::root_port ? Role::up : Role::down;
  f.number = static_cast<int>(f.role == Role::up ? ups++ : f.role == Role::down ? downs_++ : 0);
  links_.push_back(f);
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
    if (links_[l].role == Role::gpu_egress) Bps *= port_share(s.port, machine_.pcie, machine_.read_fan_out);
    if (links_[l].role == Role::up) {
      s.uplink.write_sources = s.write_sources.count();
      s.uplink.read_sources = s.read_sources.count();
      s.uplink.read_destinations = s.read_destinations.count();
      Bps = uplink_Bps(Bps, s.uplink, machine_);
    }
    const int back = links_[l].opposite;
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
    if (index(id) >= links_.size()) continue;
    const int link = static_cast<int>(index(id));
    const LinkFacts& facts = links_[index(id)];
    if (e.source == kNobody) e.source = facts.from;
    e.target = facts.to;
    switch (facts.role) {
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
    if (index(id) >= links_.size() || !links_[index(id)].watched) continue;
    const Role role = links_[index(id)].role;
    LinkState& s = state_[index(id)];
    if (s.sources.count() == 0) used_.push_back(static_cast<int>(index(id)));
    s.sources.see(e.source);
    if (role == Role::down) s.feeders.see(e.up == kNobody ? static_cast<int>(state_.size()) : e.up);
    if (role != Role::up) continue;
    (e.read ? s.read_sources : s.write_sources).see(e.source);
    if (e.read) s.read_destinations.see(e.target);
  }
}

/// Which root ports does the flow's uplink reach, and which of them are contended? Needs every flow's feeders.
void PcieRule::note_uplink(const Ends& e) {
  if (e.up == kNobody || e.down == kNobody) return;
  UplinkLoad& load = state_[static_cast<std::size_t>(e.up)].uplink;
  const int row = links_[static_cast<std::size_t>(e.up)].number,
            column = links_[static_cast<std::size_t>(e.down)].number;
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
