// Which cost function answers `moe-sim kernel OP`, and with which sizes?
#pragma once
#include <map>

#include "cli/fit_commands.hpp"
#include "cost/compute.hpp"

namespace moe {

struct KernelAnswer {
  std::string path;
  std::map<std::string, double> sizes;  ///< those that the op used
  std::string tiles;                    ///< how the work is cut, in words
  KernelCost cost;
};
/// One answer for every path that fits, in the order of their names. Throws InputError when a size is missing or no path
/// fits.
std::vector<KernelAnswer> answers(const Profile& profile, const KernelArguments& arguments);

/// `1..8` doubles: 1, 2, 4, 8; `1..64x4`; `1..9+2`; `1,3,5`. Throws InputError.
std::vector<double> sweep_values(const std::string& text);

}  // namespace moe
