// What was claimed, and what does the simulation say?
//
//   claim                            claimed   simulated   verdict
//   all-reduce, share of the step    0.515 ±5 %   0.156    refuted
#pragma once
#include <string>
#include <vector>

#include "report/result.hpp"

namespace moe {

/// Claims of one experiment.
struct NamedClaims {
  std::string experiment;
  std::vector<ClaimResult> claims;
};

/// The table of one report, with notes; "" without claims.
std::string claims_text(const std::vector<ClaimResult>& claims);
/// One table over several experiments, then how many claims got which verdict.
std::string claims_text(const std::vector<NamedClaims>& experiments);

}  // namespace moe
