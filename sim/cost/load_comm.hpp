// How are the communication constants of a profile written? The `comm:` section of calibration/profiles/<gpu>.yaml;
// names and units are those of CommCost (cost/profile.hpp).
//
//   comm:
//     t_base_us: 4.68
//     transports:
//       shm: {alpha_ll_us: 1.36, tau_ll_us: 1.10, tau1_ll_us: 0.46, alpha_simple_us: 3.69, rate_simple_GBps: 31.7}
//     all_to_all:
//       - transports: [shm, shm_x]
//         base_us: 5.85
//         by_ranks: [{ranks: 8, rate_GBps: 14.3, threads: 64}]
#pragma once
#include <string>

#include "config/fields.hpp"
#include "cost/profile.hpp"

namespace moe {

/// Declares and reads the body of a `comm:` section.
void bind_comm(Fields& f, CommCost& cost);

}  // namespace moe
