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

/// The rule for one machine. Links beyond those of the machine (shared limits) stay as they are.
class PcieRule : public CapacityRule {
 public:
  /// `reads[op]`: the transfer is read by its target; all others are written. May be shorter than the program.
  explicit PcieRule(const Machine& machine, std::vector<bool> reads = {});

  void correct(std::span<const ActiveFlow> flows, Table<LinkId, Bandwidth>& capacity) override;

 private:
  enum class Role : std::uint8_t { other, gpu_egress, gpu_ingress, up, down };
  static constexpr int kNobody = -1;
  /// Counts different values by remembering the first: none, one, or several.
  struct Different {
    int first = kNobody;
    bool several = false;
    void see(int value) {
      if (first == kNobody) first = value;
      else several = several || first != value;
    }
    int count() const { return first == kNobody ? 0 : several ? 2 : 1; }
  };
  struct LinkState {
    Different sources, feeders;  ///< GPUs that send over it; uplinks that feed it (root port to switch)
    Different write_sources, read_sources, read_destinations;
    PortLoad port;
    UplinkLoad uplink;
  };
  struct Ends {
    int source = kNobody, target = kNobody;  ///< devices
    int egress = kNobody, ingress = kNobody, up = kNobody, down = kNobody;  ///< links
    bool read = false;
  };
  void forget();
  Ends ends_of(const ActiveFlow& flow) const;
  void note_flow(const ActiveFlow& flow, const Ends& ends);
  void note_uplink(const Ends& ends);
  void note_port(const Ends& ends);
  bool first_time(std::vector<std::uint32_t>& seen, int row, int column) const;

  /// What the rule needs of a link, close together in memory.
  struct LinkFacts {
    Role role = Role::other;
    int from = kNobody, to = kNobody;
    int opposite = kNobody;  ///< kNobody: none, or not a port or uplink
    int number = 0;          ///< position among the up or down links; by that the pair tables are small
    bool watched = false;    ///< a port or uplink: the others are never corrected
  };
  void add_link(const Machine& machine, const Link& link, std::size_t& ups);

  const Machine& machine_;
  std::vector<bool> reads_;
  std::vector<LinkFacts> links_;
  std::size_t downs_ = 0;
  // Scratch memory, filled anew by every call.
  std::vector<LinkState> state_;
  std::vector<int> used_;
  std::vector<Ends> ends_;
  std::vector<std::uint32_t> pair_seen_, blocked_seen_, root_seen_;  ///< epoch at which a pair was last seen
  std::uint32_t epoch_ = 0;
};

}  // namespace moe
