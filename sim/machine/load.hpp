// How does a topologies/*.yaml file become a Machine? With every mistake reported in one pass.
//
//   schema: 1
//   summary: two GPUs behind one switch
//   gpu: rtx-pro-6000
//   devices:
//     - {name: [gpu0, gpu1], kind: gpu, socket: 0}
//     - {name: sw0, kind: pcie_switch, socket: 0}
//   links:                                            # both directions, unless oneway: true
//     - {from: [gpu0, gpu1], to: sw0, kind: port, bandwidth: 56 GB/s, latency: 0.1 us}
//   nccl:
//     p2p_level: cross_switch
//     communicators: [{up_to_ranks: 2, channels: 4, graph_bandwidth: 48 GB/s}]
//
// gives devices gpu0, gpu1, sw0, four directed links, and gpus = {0, 1}. The machine is named after the file.
#pragma once
#include <string>
#include <vector>

#include "config/fields.hpp"
#include "machine/machine.hpp"

namespace moe {

/// Reads a machine. The result must not be used when `out` has errors. `record` (may be null) receives the fields
/// with their resolved values. Checked across fields: device names are unique and known, no link joins a device to
/// itself or repeats another, limits are used, every GPU reaches every other.
Machine load_machine(const std::string& file, Diagnostics& out, std::vector<FieldInfo>* record = nullptr);
/// The same for a text in memory; `file` names it in messages.
Machine parse_machine(const std::string& text, const std::string& file, Diagnostics& out,
                      std::vector<FieldInfo>* record = nullptr);
/// Every key that a machine file may have, for `moe-sim explain`.
std::vector<FieldInfo> describe_machine();

}  // namespace moe
