#include "machine/file.hpp"

#include <fmt/core.h>

namespace moe {
namespace {

/// A name or a list of names, each with its place.
std::vector<PlacedName> names(Fields& f, const std::string& key, const std::string& help) {
  const Node* node = f.raw(key, "name or list of names", Need::required, help);
  std::vector<PlacedName> found;
  if (node == nullptr) return found;
  const std::vector<Node> single{*node};
  for (const Node& item : node->is_list() ? node->items : single) {
    if (!item.is_scalar() || item.text.empty()) {
      f.error(key, fmt::format("`{}` must be a name or a list of names", key));
      return {};
    }
    found.push_back({item.text, item.place, f.path_of(key)});
  }
  if (found.empty()) f.error(key, fmt::format("`{}` is an empty list", key));
  return found;
}

void bind_device(Fields& f, DeviceEntry& d) {
  d.names = names(f, "name", "one device, or a list of devices of this kind; GPUs are numbered in this order");
  f.choice("kind", d.kind,
           {"gpu", "pcie_switch", "root_port", "root_complex", "socket", "host_memory", "nvswitch", "nic", "network"},
           Need::required, "what it is");
  f.integer("socket", d.socket, Need::optional, Range::at_least(-1), "CPU socket it hangs on; -1: none");
  f.integer("node", d.node, Need::optional, Range::not_negative(), "server it belongs to");
}

void bind_link(Fields& f, LinkEntry& l) {
  l.from = names(f, "from", "a device, or a list: one link from each");
  l.to = names(f, "to", "a device, or a list: one link to each");
  f.choice("kind", l.kind, {"port", "uplink", "chip", "fabric", "socket_link", "nvlink", "network"}, Need::required,
           "port: a GPU's slot; uplink: switch to root port; chip: inside a switch; fabric: inside a CPU");
  f.quantity("bandwidth", l.bandwidth_Bps, Unit::bandwidth, Need::optional, Range::positive(),
             "payload per direction of each link, best from a measured single pair; chip and fabric links may leave "
             "it out: they then never limit");
  f.quantity("latency", l.latency_s, Unit::time, Need::required, Range::not_negative(),
             "one way, without the sender's own overhead");
  f.flag("oneway", l.oneway, Need::optional, "only from -> to exists");
  f.text("limit", l.limit.text, Need::optional, "name of the limit under `limits` that all these links share");
  l.limit.place = f.place("limit");
  l.limit.path = f.path_of("limit");
  const bool inside = l.kind == LinkKind::chip || l.kind == LinkKind::fabric;
  if (!inside && !f.has("bandwidth") && !f.describing())
    f.error("bandwidth", fmt::format("a link of kind `{}` needs a bandwidth", name_of(l.kind)),
            "payload per direction, e.g. `56 GB/s`");
}

void bind_nccl(Fields& f, Machine& m) {
  f.choice("p2p_level", m.p2p_level, {"off", "nvlink", "same_switch", "cross_switch", "host_bridge", "system"},
           Need::required, "up to which path GPUs talk directly (NCCL_P2P_LEVEL; NCCL's default is cross_switch)");
  f.flag("pair_p2p_anywhere", m.pair_p2p_anywhere, Need::optional,
         "a communicator of two GPUs talks directly on any path (NCCL on AMD hosts)");
  f.list("communicators", Need::required, "what NCCL's graph search finds, by size; sizes ascend",
         [&](Fields& c, std::size_t) {
           NcclBelief b;
           double believed = 0;
           c.integer("up_to_ranks", b.ranks, Need::required, Range::at_least(2), "applies up to this many ranks");
           c.integer("channels", b.channels, Need::required, Range::at_least(1), "ring channels");
           c.quantity("graph_bandwidth", believed, Unit::bandwidth, Need::required, Range::positive(),
                      "bus bandwidth that NCCL's tuner believes; only used to choose a protocol");
           b.graph_GBps = believed * 1e-9;
           if (!c.describing()) m.nccl.push_back(b);
         });
}

void bind_facts(Fields& f, Machine& m) {
  f.text("summary", m.summary, Need::required, "one line for `moe-sim list topologies`");
  f.text("gpu", m.gpu, Need::required, "name of a file in calibration/gpus, without .yaml");
  f.flag("posted_write_collapse", m.posted_write_collapse, Need::optional,
         "writes of two GPUs through one uplink to two root ports collapse (Broadcom PEX890xx on dual Turin)");
  f.flag("read_fan_out", m.read_fan_out, Need::optional,
         "reads by several GPUs from one port are slow (Microchip Switchtec)");
  f.numbers("gpu_speed", m.gpu_speed, Unit::number, Need::optional, Range::positive(),
            "speed of each GPU, 1 = nominal (power caps, clocks)");
  f.quantity("price", m.price_per_hour, Unit::money, Need::optional, Range::not_negative(), "of the whole box");
  f.quantity("power", m.power_watts, Unit::power, Need::optional, Range::not_negative(),
             "of the whole box while decoding");
  f.texts("measured", m.measured, Need::optional, "which numbers were measured, and where");
  f.texts("unvalidated", m.unvalidated, Need::optional, "which were not; reports repeat this");
}

}  // namespace

void bind_machine(Fields& f, MachineFile& file) {
  int schema = 1;
  f.integer("schema", schema, Need::required, Range::between(1, 1), "version of this format");
  bind_facts(f, file.facts);
  f.list("devices", Need::required, "GPUs, switches, root ports, sockets, host memory", [&](Fields& d, std::size_t) {
    DeviceEntry entry;
    bind_device(d, entry);
    if (!d.describing()) file.devices.push_back(std::move(entry));
  });
  f.list("links", Need::required, "both directions each, unless oneway", [&](Fields& l, std::size_t) {
    LinkEntry entry;
    bind_link(l, entry);
    if (!l.describing()) file.links.push_back(std::move(entry));
  });
  f.named("limits", Need::optional, "limits on the sum over several links", [&](Fields& l, const std::string& name) {
    LimitEntry entry;
    l.quantity("bandwidth", entry.bandwidth_Bps, Unit::bandwidth, Need::required, Range::positive(),
               "sum over all links and directions that name this limit");
    entry.place = l.place("bandwidth");
    if (!l.describing()) file.limits[name] = entry;
  });
  file.nccl_place = f.place("nccl");
  f.section("nccl", Need::optional, "what NCCL does and believes here; required with two GPUs or more", [&](Fields& n) {
    bind_nccl(n, file.facts);
    file.says_communicators = n.has("communicators");
    file.nccl_place = n.place("communicators");
  });
  file.says_nccl = f.has("nccl");
  file.devices_place = f.place("devices");
  file.speed_place = f.place("gpu_speed");
}

}  // namespace moe
