// On which machine were the rows of collective.csv measured? A file says it path by path.
//
//   schema: 1
//   setups:
//     - {path: nccl-2.28-nvlink, machine: h200x2-nvlink, bytes_at_most: 7340032}
//     - {path: nccl-2.28-shm_ll, machine: h200x2-host-bounced, protocol: LL}
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "config/fields.hpp"
#include "fit/comm.hpp"

namespace moe {

/// Finds a machine by its name; throws InputError.
using MachineByName = std::function<Machine(const std::string& name)>;

/// Declares and reads a file of setups.
void bind_setups(Fields& f, std::vector<CommSetup>& setups, const MachineByName& machine);

/// `text` is a machine, which all rows of NCCL (`nccl*`) were measured on, or a file of setups. Throws InputError with
/// everything that is wrong with it.
std::vector<CommSetup> load_setups(const std::string& text, const MachineByName& machine);

}  // namespace moe
