// Which machines are there, and how do they differ? For `moe-sim list topologies`.
//
//   name             gpu           gpus  sockets  switches  pair GB/s   pair us    summary
//   turin-2s-direct  rtx-pro-6000     8        2         0  50.5..52.7  0.26..0.52 8x RTX PRO 6000, two EPYC ...
//
// A pair's bandwidth is the smallest capacity on its route, alone; its latency is that of the links, without the ends.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "machine/machine.hpp"

namespace moe {

/// One line of the list.
struct MachineLine {
  std::string name, gpu, summary;
  int gpus = 0, sockets = 0, nodes = 0, switches = 0;
  double slowest_GBps = 0, fastest_GBps = 0;  ///< over all GPU pairs; 0: a single GPU
  double least_us = 0, most_us = 0;
};

MachineLine line_of(const Machine& machine);
/// Aligned table, one line per machine in the order given, with a header; ends with a line break.
std::string machine_table(const std::vector<Machine>& machines);
/// [{"name", "gpu", "gpus", "sockets", "nodes", "switches", "pair_GBps": [slowest, fastest], "pair_us": [least, most],
/// "summary", "measured": [...], "unvalidated": [...]}, ...]
nlohmann::ordered_json machine_json(const std::vector<Machine>& machines);

}  // namespace moe
