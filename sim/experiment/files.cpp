#include "experiment/files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace moe {
namespace fs = std::filesystem;

std::vector<std::string> data_roots(const std::string& naming_file) {
  std::vector<std::string> roots;
  std::error_code ignored;
  for (fs::path dir = naming_file.empty() ? fs::current_path(ignored) : fs::absolute(naming_file, ignored).parent_path();;
       dir = dir.parent_path()) {
    roots.push_back(dir.lexically_normal().string());
    if (dir == dir.parent_path() || roots.size() > 8) break;
  }
  if (const char* env = std::getenv("MOE_SIM_DATA"); env != nullptr && *env != 0) roots.emplace_back(env);
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) {
    roots.push_back((program.parent_path().parent_path() / "share" / "moe-sim").string());
    roots.push_back(program.parent_path().parent_path().string());
  }
  return roots;
}

std::string find_data(const std::string& folder, const std::string& name, const std::string& naming_file) {
  std::error_code ignored;
  if (name.find('/') != std::string::npos || name.ends_with(".yaml")) {
    const fs::path beside = fs::path(naming_file).parent_path() / name;
    for (const fs::path& p : {beside, fs::path(name)})
      if (fs::is_regular_file(p, ignored)) return p.lexically_normal().string();
    return {};
  }
  for (const std::string& root : data_roots(naming_file)) {
    const fs::path p = fs::path(root) / folder / (name + ".yaml");
    if (!fs::is_regular_file(p, ignored)) continue;
    const fs::path shown = fs::proximate(p, ignored);  // shorter in messages
    return shown.string().size() < p.string().size() ? shown.string() : p.string();
  }
  return {};
}

std::vector<std::string> data_names(const std::string& folder, const std::string& naming_file) {
  std::error_code ignored;
  for (const std::string& root : data_roots(naming_file)) {
    const fs::path dir = fs::path(root) / folder;
    if (!fs::is_directory(dir, ignored)) continue;
    std::vector<std::string> names;
    for (const auto& e : fs::directory_iterator(dir, ignored))
      if (e.path().extension() == ".yaml") names.push_back(e.path().stem().string());
    std::sort(names.begin(), names.end());
    if (!names.empty()) return names;
  }
  return {};
}

}  // namespace moe
