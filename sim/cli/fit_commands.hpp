// The verbs about kernel costs: fit, evaluate, kernel. Arguments as plain values, exit codes as in
// commands.hpp.
#pragma once
#include <map>

#include "cli/commands.hpp"
#include "cost/profile.hpp"

namespace moe {

struct FitArguments {
  std::vector<std::string> folders;  ///< of measurements; the profile holds the paths of all
  std::string gpu, out, base, protocol;
  std::vector<std::string> only, leave_out;
  std::size_t points = 0;
  int threads = 0;  ///< 0: as many as the machine has
  bool no_tables = false;
};
/// Fits every kernel path of the folders of measurements, each with its own protocol, and writes a profile. `base`: a profile file whose
/// other paths (assumed ones) and whose `comm` section are taken over.
int fit_command(const FitArguments& arguments, const Streams& streams);

struct EvaluateArguments {
  std::string profile, folder, protocol, rows = "all", csv, summary_csv;
  std::vector<std::string> only, leave_out, where;
  bool cold = false, json = false;
};
int evaluate_command(const EvaluateArguments& arguments, const Streams& streams);

struct KernelArguments {
  std::string profile, op, path, dtype, routing = "uniform", sweep;
  std::map<std::string, double> sizes;  ///< by option name without dashes; the given ones
  double reuse_bytes = -1;              ///< -1: cold
  bool ungated = false, json = false;
};
/// Option names of sizes, with their meaning, for main.cpp.
const std::vector<std::pair<std::string, std::string>>& kernel_sizes();
/// Ops that `kernel` answers.
const std::vector<std::string>& kernel_ops();
int kernel_command(const KernelArguments& arguments, const Streams& streams);

/// A profile by name or file; throws InputError with every mistake.
Profile named_profile(const std::string& name);

}  // namespace moe
