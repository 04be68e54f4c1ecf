// How much less do PCIe links carry under this pattern of flows? Five corrections, each a function of a link and the
// flows that are active now; max-min sharing divides what is left.
//
//   duplex        a port or uplink whose other direction is busy too carries `duplex` of its capacity
//   head of line  a GPU port whose flows go to d >= 2 GPUs, where another GPU competes for one of their outputs
//                 (the destination's port or a shared uplink), carries h(d): its packets queue in order, and the first
//                 one waits for its output. The limits of FIFO input queues: no fitted constant
//   uplink        a switch uplink that reaches d >= 2 root ports, each fed by another uplink too, carries
//                 1 - (1 - h(d)) uplink_blocking; the GPU ports that feed it lose `second_stage` once more
//   collapse      (machine flag) writes of two GPUs through one uplink to two root ports: collapse_GBps
//   read fan-out  (machine flag) a port read by two GPUs carries read_fan_out, an uplink read_fan_out_uplink
//
// Example: four GPUs on one switch with 53.8 GB/s ports, each sends to the three others: d = 3 and every output has
// three inputs, so each port carries 53.8 x 0.971 x 0.683 = 35.7 GB/s, together 142.6 (measured: 148.9).
//
// Sources  Karol, Hluchyj, Morgan, IEEE Trans. Comm. 35(12), 1987: h(d); factors: docs/network.md
// Tested   tests/unit/pcie_rule.cpp, tests/validation/flow_patterns.cpp
#pragma once
#include <cstdint>
#include <vector>

#include "engine/capacity_rule.hpp"
#include "machine/machine.hpp"
#include "network/crossings.hpp"

namespace moe {

/// h(d): what a FIFO input port carries when its packets go to d contended outputs: 1, 0.75, 0.6825, ... 0.586.
double head_of_line(int outputs);

/// What a GPU's sending port faces.
struct PortLoad {
  int destinations = 0;         ///< GPUs that its flows go to
  bool contended = false;       ///< another GPU sends to one of their outputs
  bool queues_twice = false;    ///< a flow crosses an uplink with `blocked_outputs` >= 2
  int readers = 0;              ///< of the destinations, those that read
};
/// Share of a port's capacity; without duplex.
double port_share(const PortLoad& load, const PcieFactors& factors, bool read_fan_out);

/// What a switch's uplink faces.
struct UplinkLoad {
  int blocked_outputs = 0;      ///< root ports reached that another uplink feeds too
  int write_sources = 0;        ///< GPUs that write through it (two stands for more)
  int write_roots = 0;          ///< root ports that these writes go to
  int read_sources = 0, read_destinations = 0;  ///< GPUs read and reading through it (two stands for more)
};
/// Capacity of an uplink [B/s] from `capacity_Bps`; without duplex.
double uplink_Bps(double capacity_Bps, const UplinkLoad& load, const Machine& machine);

/// The rule for one machine. Links beyond those of the machine (shared limits) stay as they are. It counts what crosses
/// what as flows come and go, so that an answer costs O(ports and uplinks), not O(hops of all flows).
class PcieRule : public CapacityRule {
 public:
  /// `reads[op]`: the transfer is read by its target; all others are written. May be shorter than the program.
  explicit PcieRule(const Machine& machine, std::vector<bool> reads = {});

  void begins(const ActiveFlow& flow) override { count<&Crossings::add>(flow, 1); }
  void ends(const ActiveFlow& flow) override { count<&Crossings::remove>(flow, -1); }
  void correct(std::span<const ActiveFlow> flows, Table<LinkId, Bandwidth>& capacity) override;

 private:
  enum class Role : std::uint8_t { other, gpu_egress, gpu_ingress, up, down };
  static constexpr int kNobody = -1;
  /// Where a flow comes from and goes to.
  struct Ends {
    int source = kNobody, target = kNobody;  ///< devices
    int ingress = kNobody;                   ///< the port of a GPU that receives it: a link
    int up = kNobody, down = kNobody;        ///< uplinks: links
  };
  Ends ends_of(const ActiveFlow& flow) const;
  template <void (Crossings::*Change)(std::size_t, std::size_t)>
  void count(const ActiveFlow& flow, int by);
  PortLoad port_load(int gpu) const;
  UplinkLoad uplink_load(int up) const;

  struct LinkFacts {
    Role role = Role::other;
    int from = kNobody, to = kNobody;
    int opposite = kNobody;  ///< kNobody: none, or not a port or uplink
    int number = 0;          ///< position among the up or down links
  };
  int number_of(int link) const { return links_[static_cast<std::size_t>(link)].number; }

  const Machine& machine_;
  std::vector<bool> reads_;
  std::vector<LinkFacts> links_;
  std::vector<int> watched_;  ///< ports and uplinks: the others are never corrected
  std::vector<int> ups_;      ///< links from a switch to a root port
  std::vector<int> flows_;    ///< on each link
  Crossings outputs_;         ///< sending devices to what may be contended: ports into GPUs, and uplinks
  Crossings destinations_, readers_;  ///< sending devices to receiving devices: all, and reads
  Crossings roots_, write_roots_;     ///< uplinks to links down from a root port: all, and writes
  Crossings write_sources_, read_sources_, read_destinations_;  ///< uplinks to devices
};

}  // namespace moe
