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
};

struct SketchNvlink {
  int a = 0, b = 0, count = 0;  ///< between two GPUs
};

struct Sketch {
  std::string source;                   ///< file and format
  std::vector<SketchGpu> gpus;
  std::vector<SketchSwitch> switches;
  std::vector<SketchNvlink> nvlinks;
  std::vector<int> socket_of;           ///< by root complex
  bool amd_cpu = false;
  std::vector<std::string> inferred, assumed;
};

/// Payload of a PCIe link [GB/s]: GT/s x lanes x line code x 0.914 (256 B payload of 280) x 0.98 (link layer).
/// 32 GT/s x16: 56.4.
double pcie_GBps(double gigatransfers, int lanes);

Sketch read_topology_matrix(const std::string& text, const std::string& file, Diagnostics& out);
Sketch read_nccl_topology(const std::string& text, const std::string& file, Diagnostics& out);
/// Adds to the sketch what `lspci -tv` shows of each GPU; warns where it does not fit.
void add_lspci(const std::string& text, const std::string& file, Sketch& sketch, Diagnostics& out);

/// The machine file.
std::string machine_text(const Sketch& sketch, const std::string& gpu);

}  // namespace moe
