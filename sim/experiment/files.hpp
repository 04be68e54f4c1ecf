// Where is the file that a name stands for?
//
// `model: kimi-k2.5` in experiments/a.yaml is looked for as models/kimi-k2.5.yaml beside the file that names it and
// in the folders above it, then in $MOE_SIM_DATA, then beside the installed program (share/moe-sim), then above the
// program (a build folder inside a checkout). `model: ./mine.yaml` is a path, relative to the naming file.
#pragma once
#include <string>
#include <vector>

namespace moe {

/// Data folders by what they hold.
inline constexpr const char* kModels = "models";
inline constexpr const char* kDrafts = "models/drafts";
inline constexpr const char* kAcceptance = "calibration/acceptance";
inline constexpr const char* kTopologies = "topologies";
inline constexpr const char* kGpus = "calibration/gpus";
inline constexpr const char* kProfiles = "calibration/profiles";
inline constexpr const char* kStacks = "calibration/stacks";
inline constexpr const char* kExperiments = "experiments";

/// Roots that are searched for a file named in `naming_file` ("" : the working folder), best first.
std::vector<std::string> data_roots(const std::string& naming_file);
/// Path of the file, or "" when no root has it.
std::string find_data(const std::string& folder, const std::string& name, const std::string& naming_file);
/// Names (without .yaml) that exist in a data folder, sorted; of the best root that has the folder.
std::vector<std::string> data_names(const std::string& folder, const std::string& naming_file);

}  // namespace moe
