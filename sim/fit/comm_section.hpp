// What does a profile say about communication after a fit, and how good is it?
//
//   CommFit f = fit_comm_section(rows, setups, base.comm);
//   f.report          errors by op, GPU count and size: this fit on rows that it has not seen, then the other way round
//   comm_yaml(f)      the `comm:` section
#pragma once
#include <set>
#include <string>
#include <vector>

#include "fit/comm.hpp"

namespace moe {

struct CommFit {
  CommCost cost;                    ///< fitted, with what the base adds
  std::set<std::string> fitted;     ///< transports that rows decided; all others are those of the base
  std::string report;
  ErrorSummary held_out;            ///< of `cost` on the test rows
};

/// Fits on the first half of split_rows() and tests on the second; the report also has the halves swapped. Transports and
/// all-to-all sets that no row has are taken over from `base` (may be empty), LL128 too. Throws InputError when no row
/// belongs to a setup.
CommFit fit_comm_section(const std::vector<CommRow>& rows, const std::vector<CommSetup>& setups, const CommCost& base);

/// The `comm:` section of a profile.
std::string comm_yaml(const CommFit& fit);

}  // namespace moe
