#include "machine/machine.hpp"

#include <algorithm>

namespace moe {

std::string_view name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu: return "gpu";
    case DeviceKind::pcie_switch: return "pcie_switch";
    case DeviceKind::root_port: return "root_port";
    case DeviceKind::root_complex: return "root_complex";
    case DeviceKind::socket: return "socket";
    case DeviceKind::host_memory: return "host_memory";
    case DeviceKind::nvswitch: return "nvswitch";
    case DeviceKind::nic: return "nic";
    case DeviceKind::network: return "network";
  }
  return "";
}

std::string_view name_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::port: return "port";
    case LinkKind::uplink: return "uplink";
    case LinkKind::chip: return "chip";
    case LinkKind::fabric: return "fabric";
    case LinkKind::socket_link: return "socket_link";
    case LinkKind::nvlink: return "nvlink";
    case LinkKind::network: return "network";
  }
  return "";
}

std::string_view name_of(P2pLevel level) {
  switch (level) {
    case P2pLevel::off: return "off";
    case P2pLevel::nvlink: return "nvlink";
    case P2pLevel::same_switch: return "same_switch";
    case P2pLevel::cross_switch: return "cross_switch";
    case P2pLevel::host_bridge: return "host_bridge";
    case P2pLevel::system: return "system";
  }
  return "";
}

bool passes(const Machine& machine, const Route& route, LinkKind kind) {
  return std::any_of(route.links.begin(), route.links.end(),
                     [&](int l) { return machine.links[static_cast<std::size_t>(l)].kind == kind; });
}

P2pLevel path_level(const Machine& machine, const Route& route) {
  if (passes(machine, route, LinkKind::socket_link) || passes(machine, route, LinkKind::network))
    return P2pLevel::system;
  int switches = 0;
  bool all_nvlink = true, host = false;
  for (const int l : route.links) {
    const Link& link = machine.links[static_cast<std::size_t>(l)];
    const DeviceKind entered = machine.devices[static_cast<std::size_t>(link.to)].kind;
    all_nvlink = all_nvlink && link.kind == LinkKind::nvlink;
    switches += entered == DeviceKind::pcie_switch ? 1 : 0;
    host = host || entered == DeviceKind::root_port || entered == DeviceKind::root_complex ||
           entered == DeviceKind::socket;
  }
  if (all_nvlink) return P2pLevel::nvlink;
  if (host) return P2pLevel::host_bridge;
  return switches > 1 ? P2pLevel::cross_switch : P2pLevel::same_switch;
}

}  // namespace moe
