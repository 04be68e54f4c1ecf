// lspci -tv: on which root bus, behind how many bridges, does each GPU hang? The drawing is read by columns: a device
// belongs to the last bracket [..] that stands left of it in its own line or above it.
#include <fmt/core.h>

#include <sstream>

#include "import/sketch.hpp"

namespace moe {
namespace {

struct Seen {
  std::string root;
  int bridges = 0;
};

/// Brackets that are still open above a line: column and text.
using Open = std::vector<std::pair<std::size_t, std::string>>;

/// "NVIDIA Corporation ..." except its audio, USB, bridge and switch functions.
bool names_gpu(const std::string& line) {
  if (line.find("NVIDIA Corporation") == std::string::npos) return false;
  for (const char* other : {"Audio", "USB", "NVSwitch", "Bridge", "UCSI"})
    if (line.find(other) != std::string::npos) return false;
  return true;
}

std::vector<Seen> gpus_of(const std::string& text) {
  std::vector<Seen> gpus;
  Open open;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find_first_not_of(" |");
    if (first == std::string::npos || line.find("...") == first) continue;
    while (!open.empty() && open.back().first >= first) open.pop_back();
    for (std::size_t at = line.find('['); at != std::string::npos; at = line.find('[', at + 1)) {
      const std::size_t end = line.find(']', at);
      if (end == std::string::npos) break;
      if (at > 0 && line[at - 1] == '-') open.emplace_back(at, line.substr(at + 1, end - at - 1));
    }
    if (names_gpu(line) && !open.empty()) gpus.push_back({open.front().second, static_cast<int>(open.size()) - 1});
  }
  return gpus;
}

}  // namespace

void add_lspci(const std::string& text, const std::string& file, Sketch& sketch, Diagnostics& out) {
  const std::vector<Seen> seen = gpus_of(text);
  if (seen.empty()) {
    out.error("no NVIDIA GPU is in this tree", {file, 0, 0, 1}, "", "expected the output of `lspci -tv`");
    return;
  }
  std::string where;
  for (const Seen& s : seen) where += fmt::format("{}{} ({} bridges)", where.empty() ? "" : ", ", s.root, s.bridges);
  sketch.inferred.push_back(fmt::format("{} shows {} GPUs, by root bus: {}", file, seen.size(), where));
  if (seen.size() == sketch.gpus.size()) return;
  out.warning(fmt::format("the tree shows {} GPUs, the dump {}", seen.size(), sketch.gpus.size()), {file, 0, 0, 1}, "",
              "is the tree cut, or from another machine?");
}

}  // namespace moe
