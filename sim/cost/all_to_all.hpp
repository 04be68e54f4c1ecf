// How long does NCCL's grouped send/receive take?
//
// Example: 8 ranks, 128 KB per rank = 16 KB per peer is the last size that NCCL sends with LL and takes 44 us; 256 KB
// goes with Simple and takes 28 us.
#pragma once
#include "cost/collective.hpp"

namespace moe {

/// NCCL sends up to this much per peer with LL, above with Simple.
constexpr double kAllToAllLlBytes = 16 * 1024;

/// All-to-all, m = S/n bytes per peer.
///
///   T = a0 + a1 (n-1) + { m <= 16 KB:  f min(m,q)/q + g tau max(0, m/q - 1)        LL, q = 8 threads
///                       { else:        c + (n-1) m / R                             Simple
///
///   tau             LL pass of the communicator's most expensive transport
///   threads, R      by ranks; between the fitted counts, those of the next larger
///
/// Errors        Infeasible("not-calibrated") when no parameters hold for the communicator's transport
/// Constants     calibration/profiles/<gpu>.yaml: comm.all_to_all
/// Tested        tests/analytic/collective_policy.cpp, tests/validation/collectives.cpp
struct AllToAllParts {
  double before_us = 0;   ///< a0 + a1 (n-1), and c
  double message_us = 0;  ///< the rest: from the first to the last byte of each message
  double wire_bytes = 0;  ///< per message, protocol overhead included
};
/// The constants for a transport. Throws Infeasible("not-calibrated").
const AllToAllCost& all_to_all_cost(const CommCost& cost, Transport t);
AllToAllParts all_to_all_parts(const CommCost& cost, const Communicator& comm, double bytes);
double all_to_all_us(const CommCost& cost, const Communicator& comm, double bytes);
bool all_to_all_uses_ll(double bytes, int ranks);

}  // namespace moe
