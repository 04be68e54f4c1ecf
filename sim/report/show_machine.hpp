// What does a machine look like? For `moe-sim show MACHINE`: the tree with capacities, then what one GPU can send to
// each other one, alone: bandwidth and latency (row sends, column receives).
//
//   socket 0
//   └─ rp0
//      └─ sw0           53.8 GB/s  0.18 us
//         ├─ gpu0       53.8 GB/s  0.10 us
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "machine/machine.hpp"

namespace moe {

std::string show_machine(const Machine& machine, const Routes& routes);
nlohmann::ordered_json show_machine_json(const Machine& machine, const Routes& routes);

}  // namespace moe
