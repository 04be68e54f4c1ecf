// What is the box? Devices, directed links, and the route between any two devices.
// Files: topologies/*.yaml, read by machine/load.cpp; routes by machine/routes.cpp (Boost.Graph stays in there).
//
// Example: two GPUs behind one switch are devices gpu0, gpu1, sw0 and the links gpu0→sw0, sw0→gpu0, gpu1→sw0,
// sw0→gpu1, each with its own capacity. route(gpu0, gpu1) = {gpu0→sw0, sw0→gpu1}.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace moe {

enum class DeviceKind { gpu, pcie_switch, root_port, root_complex, socket, host_memory, nvswitch, nic, network };

struct Device {
  std::string name;
  DeviceKind kind = DeviceKind::gpu;
  int socket = -1;  ///< CPU socket it hangs on; -1: none
  int node = 0;     ///< server it belongs to
};

/// port: a GPU's PCIe x16. uplink: switch to root port. chip: inside a switch chip. fabric: inside a CPU package.
/// socket_link: between sockets (xGMI, UPI). nvlink. network: NIC to NIC.
enum class LinkKind { port, uplink, chip, fabric, socket_link, nvlink, network };

/// Capacity of a link that never limits (inside a switch chip or a CPU package), bytes per second.
constexpr Bandwidth kUnlimited{1e18};

/// One direction. Capacity is payload bytes per second, from a measured single pair where there is one.
struct Link {
  int from = 0;  ///< position in Machine::devices
  int to = 0;
  LinkKind kind = LinkKind::port;
  Bandwidth capacity;
  Seconds latency{0};
  std::string name;  ///< "gpu0 → sw0"
};

/// A limit on the sum over several links, e.g. both directions of a socket interconnect.
struct SharedLimit {
  std::string name;
  std::vector<int> links;
  Bandwidth capacity;
};

/// What NCCL does and believes on this machine, for communicators of a given size.
struct NcclBelief {
  int ranks = 0;          ///< applies to communicators up to this many ranks; entries ascend
  int channels = 2;       ///< ring channels of the graph search
  double graph_GBps = 0;  ///< bus bandwidth that its tuner believes; only used to choose a protocol
};

/// NCCL_P2P_LEVEL: up to which kind of path GPUs talk directly. off: everything bounces through host memory.
/// The same scale says what kind of path two GPUs have: nvlink (only NVLink), same_switch (PIX), cross_switch (PXB),
/// host_bridge (PHB: through the CPU of one socket), system (SYS: across sockets or servers).
enum class P2pLevel { off, nvlink, same_switch, cross_switch, host_bridge, system };

/// What PCIe links carry less than nominal under some patterns; network/pcie_rule.hpp says when each one applies.
/// Fitted on 86 flow patterns of 13 machines (docs/network.md); a machine file may set its own under `pcie:`.
struct PcieFactors {
  double duplex = 0.971;               ///< both directions busy; 109.3 of 112.6 GB/s measured
  double uplink_blocking = 0.3716;     ///< share of the head-of-line loss that an uplink shows
  double second_stage = 0.8162;        ///< a GPU port whose flows queue again at such an uplink
  double collapse_GBps = 3.851;        ///< an uplink under posted-write collapse
  double read_fan_out = 0.3077;        ///< a GPU port read by several GPUs
  double read_fan_out_uplink = 0.3876; ///< an uplink that carries reads of several GPUs from several GPUs
};

struct Machine {
  std::string name;
  std::string summary;
  std::string gpu;                   ///< calibration/gpus/<gpu>.yaml
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<SharedLimit> limits;
  std::vector<int> gpus;             ///< device of GPU 0, 1, ...
  P2pLevel p2p_level = P2pLevel::same_switch;
  bool pair_p2p_anywhere = false;    ///< NCCL on AMD hosts: a communicator of two GPUs talks directly on any path
  std::vector<NcclBelief> nccl;
  bool posted_write_collapse = false;  ///< writes of two GPUs through one uplink to two root ports collapse
  bool read_fan_out = false;           ///< reads by several GPUs from one port are slow
  PcieFactors pcie;
  std::vector<double> gpu_speed;       ///< per GPU, 1 = nominal (power caps, clocks); empty: all 1
  double price_per_hour = 0;           ///< USD, 0: unknown
  double power_watts = 0;              ///< of the whole box under decode, 0: unknown
  std::vector<std::string> measured;     ///< which numbers were measured, and where
  std::vector<std::string> unvalidated;  ///< which were not; reports repeat this
};

std::string_view name_of(DeviceKind kind);
std::string_view name_of(LinkKind kind);
std::string_view name_of(P2pLevel level);

/// Links from one device to another on the path of least latency, never through a third GPU.
struct Route {
  std::vector<int> links;
  Seconds latency{0};  ///< sum over the links, without the sender's own overhead
};

/// What NCCL calls the path: the worst thing that the route passes through.
P2pLevel path_level(const Machine& machine, const Route& route);
/// Whether a route uses a link of this kind.
bool passes(const Machine& machine, const Route& route, LinkKind kind);

/// All routes that start at a GPU, host memory or NIC, computed once; safe to read from several threads.
///
/// Least latency first (compared in whole picoseconds), then fewest links; what is still equal is decided by the order
/// of the file, the same way every time. A route never passes through a GPU.
class Routes {
 public:
  explicit Routes(const Machine& machine);
  /// Between devices (positions in Machine::devices). Throws Infeasible("route") when there is no way.
  const Route& between(int from, int to) const;
  /// Whether there is one.
  bool reaches(int from, int to) const;
  /// Between GPU numbers.
  const Route& between_gpus(int from, int to) const;

 private:
  struct Found {
    bool exists = false;
    Route route;
  };
  std::vector<std::string> names_;          ///< of the devices, for messages
  std::vector<int> gpus_;
  std::vector<std::vector<Found>> found_;   ///< [from][to]; empty row: no routes start there
};

/// Links that a message crosses which bounces through the sender's host memory, each once; the direct route's where there is
/// no such memory.
std::vector<int> bounce_links(const Machine& machine, const Routes& routes, int from_gpu, int to_gpu);

}  // namespace moe
