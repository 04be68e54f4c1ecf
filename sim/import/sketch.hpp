// What can be told of a machine from its dumps? A tree of switches with GPUs, written as a topologies/*.yaml file whose
// comments say what was read, what was inferred and what was assumed.
//
//   Sketch s = read_topology_matrix(text, "topo.txt", diagnostics);   // nvidia-smi topo -m
//   Sketch s = read_nccl_topology(text, "dump.xml", diagnostics);     // NCCL_TOPO_DUMP_FILE
//   std::string yaml = machine_text(s, "rtx-pro-6000");
//
// Both readers return nothing useful when `diagnostics` has errors.
#pragma once
#include <string>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {

struct SketchSwitch {
  int parent = -1;           ///< the switch above; -1: a root port
  int root_complex = 0;
  double GBps = 0;           ///< payload per direction of its upstream link; 0: not known
};

struct SketchGpu {
  int parent = -1;           ///< its switch; -1: a root port of its own
  int root_complex = 0;
  double GBps = 0;           ///< payload per direction of its slot; 0: not known
  int switch_links = 0;      ///< NVLinks into NVSwitches
  std::string name;          ///< how the dump calls it
  double nvlink_GBps = 0;    ///< measured, one direction, all its NVLinks; 0: 25 GB/s per link are assumed
};

struct SketchNvlink {
  int a = 0, b = 0, count = 0;  ///< between two GPUs
  double GBps = 0;              ///< measured, one direction; 0: assumed
};

struct SketchCommunicator {
  int ranks = 0, channels = 0;  ///< what NCCL chose for so many GPUs
  double graph_GBps = 0;        ///< and the bus bandwidth that it expects of them
};

struct Sketch {
  std::string source;                   ///< file and format
  std::vector<SketchGpu> gpus;
  std::vector<SketchSwitch> switches;
  std::vector<SketchNvlink> nvlinks;
  std::vector<int> socket_of;           ///< by root complex
  bool amd_cpu = false;
  bool p2p_off = false;                 ///< NCCL bounces every hop through host memory
  std::vector<std::string> inferred, assumed, measured;
  std::vector<std::string> assumed_rates;         ///< what was assumed of bandwidths
  double socket_GBps = 0;               ///< between two sockets; 0: assumed
  std::vector<SketchCommunicator> communicators;  ///< by ranks; empty: assumed
};

/// Payload of a PCIe link [GB/s]: GT/s x lanes x line code x 0.914 (256 B payload of 280) x 0.98 (link layer).
/// 32 GT/s x16: 56.4.
double pcie_GBps(double gigatransfers, int lanes);

Sketch read_topology_matrix(const std::string& text, const std::string& file, Diagnostics& out);
Sketch read_nccl_topology(const std::string& text, const std::string& file, Diagnostics& out);
/// Adds to the sketch what `lspci -tv` shows of each GPU; warns where it does not fit.
void add_lspci(const std::string& text, const std::string& file, Sketch& sketch, Diagnostics& out);

/// One measured transfer alone on the machine: payload of one direction [GB/s]. -1 is the host's memory.
struct MeasuredPair {
  int from = 0, to = 0;
  double GBps = 0;
};
/// Puts measured bandwidths and what NCCL chose in the place of assumptions. A link carries what the best transfer over
/// it carried: a GPU's slot its transfers with the host and, without NVLink, with other GPUs; a switch's upstream link
/// those that leave the switch; the socket link those between sockets. Errors: GPUs that the dump does not have.
void apply_measured(const std::vector<MeasuredPair>& pairs, const std::vector<SketchCommunicator>& communicators,
                    const std::string& file, Sketch& sketch, Diagnostics& out);

/// The same machine with NCCL_P2P_DISABLE=1: NVLinks go, every hop bounces through host memory.
void bounce_through_host(Sketch& sketch);

/// The machine file.
std::string machine_text(const Sketch& sketch, const std::string& gpu);

}  // namespace moe
