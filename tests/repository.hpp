// Paths of the repository's own files, for tests.
#pragma once
#include <filesystem>
#include <string>

namespace moe::test {

inline std::string root() { return MOE_SIM_SOURCE_DIR; }
inline std::string experiment(const std::string& name) { return root() + "/experiments/" + name + ".yaml"; }
/// The measurements and references beside a checkout, or "" where there are none (a user's machine).
inline std::string shared() {
  const std::string path = root() + "/../shared";
  return std::filesystem::is_directory(path) ? path : "";
}

}  // namespace moe::test
