// Measured transfers in the place of assumed bandwidths.
#include <fmt/core.h>

#include <algorithm>

#include "import/sketch.hpp"

namespace moe {
namespace {

const SketchGpu& gpu_at(const Sketch& s, int g) { return s.gpus[static_cast<std::size_t>(g)]; }

bool below(const Sketch& s, int gpu, int wanted) {
  if (gpu < 0) return false;
  for (int w = gpu_at(s, gpu).parent; w >= 0; w = s.switches[static_cast<std::size_t>(w)].parent)
    if (w == wanted) return true;
  return false;
}

bool by_nvlink(const Sketch& s, const MeasuredPair& p) {
  if (p.from < 0 || p.to < 0) return false;
  if (gpu_at(s, p.from).switch_links > 0 && gpu_at(s, p.to).switch_links > 0) return true;
  return std::any_of(s.nvlinks.begin(), s.nvlinks.end(), [&](const SketchNvlink& n) {
    return std::minmax(n.a, n.b) == std::minmax(p.from, p.to);
  });
}

/// Socket of a GPU.
int socket(const Sketch& s, int gpu) { return s.socket_of[static_cast<std::size_t>(gpu_at(s, gpu).root_complex)]; }

/// The most that a transfer carried which crosses the link.
template <class Crosses>
double best(const std::vector<MeasuredPair>& pairs, const Crosses& crosses) {
  double most = 0;
  for (const MeasuredPair& p : pairs)
    if (crosses(p)) most = std::max(most, p.GBps);
  return most;
}

void set_pcie(const std::vector<MeasuredPair>& pairs, Sketch& s) {
  const auto pcie = [&](const MeasuredPair& p) { return !by_nvlink(s, p); };
  bool all = true;
  for (std::size_t g = 0; g < s.gpus.size(); ++g) {
    const int me = static_cast<int>(g);
    const double rate = best(pairs, [&](const MeasuredPair& p) { return pcie(p) && (p.from == me || p.to == me); });
    if (rate > 0) s.gpus[g].GBps = rate;
    else all = false;
  }
  for (std::size_t w = 0; w < s.switches.size(); ++w) {
    const int me = static_cast<int>(w);
    const double rate =
        best(pairs, [&](const MeasuredPair& p) { return pcie(p) && below(s, p.from, me) != below(s, p.to, me); });
    if (rate > 0) s.switches[w].GBps = rate;
    else all = false;
  }
  const double across = best(pairs, [&](const MeasuredPair& p) {
    return pcie(p) && p.from >= 0 && p.to >= 0 && socket(s, p.from) != socket(s, p.to);
  });
  if (across > 0) s.socket_GBps = across;
  s.assumed_rates.clear();
  if (!all) s.assumed_rates.push_back("56.4 GB/s (Gen5 x16) where neither the dump nor a measurement tells a PCIe link's");
  if (s.socket_of.size() > 1 && across == 0) s.assumed_rates.push_back("50 GB/s between sockets");
}

void set_nvlink(const std::vector<MeasuredPair>& pairs, Sketch& s) {
  for (std::size_t g = 0; g < s.gpus.size(); ++g) {
    const int me = static_cast<int>(g);
    if (s.gpus[g].switch_links == 0) continue;
    s.gpus[g].nvlink_GBps =
        best(pairs, [&](const MeasuredPair& p) { return by_nvlink(s, p) && (p.from == me || p.to == me); });
    if (s.gpus[g].nvlink_GBps == 0) s.assumed_rates.push_back(fmt::format("25 GB/s per NVLink of GPU {}", g));
  }
  for (SketchNvlink& n : s.nvlinks)
    n.GBps = best(pairs, [&](const MeasuredPair& p) { return std::minmax(p.from, p.to) == std::minmax(n.a, n.b); });
}

void describe(const std::vector<MeasuredPair>& pairs, const std::string& file, Sketch& s) {
  const auto range = [&](const char* what, const auto& counts) {
    double low = 0, high = 0;
    for (const MeasuredPair& p : pairs)
      if (counts(p)) low = low == 0 ? p.GBps : std::min(low, p.GBps), high = std::max(high, p.GBps);
    if (high > 0) s.measured.push_back(fmt::format("{}: {:.1f} to {:.1f} GB/s, one transfer at a time", what, low, high));
  };
  range("GPU to GPU", [](const MeasuredPair& p) { return p.from >= 0 && p.to >= 0; });
  range("GPU to host", [](const MeasuredPair& p) { return p.to < 0; });
  range("host to GPU", [](const MeasuredPair& p) { return p.from < 0; });
  s.measured.push_back("bandwidths are those of " + file);
}

}  // namespace

void apply_measured(const std::vector<MeasuredPair>& pairs, const std::vector<SketchCommunicator>& communicators,
                    const std::string& file, Sketch& s, Diagnostics& out) {
  const int gpus = static_cast<int>(s.gpus.size());
  for (const MeasuredPair& p : pairs)
    if (p.from >= gpus || p.to >= gpus) {
      out.error(fmt::format("the measurements name GPU {}, but {} has GPUs 0 to {}", std::max(p.from, p.to), s.source, gpus - 1),
                {file, 0, 0, 1}, "", "dump and measurements must come from the same machine");
      return;
    }
  if (!pairs.empty()) {
    set_pcie(pairs, s);
    set_nvlink(pairs, s);
    describe(pairs, file, s);
  }
  s.communicators = communicators;
  std::sort(s.communicators.begin(), s.communicators.end(), [](const auto& a, const auto& b) { return a.ranks < b.ranks; });
  if (!communicators.empty()) s.measured.push_back("channels and graph_bandwidth are those of NCCL's graph dump");
}

void bounce_through_host(Sketch& s) {
  for (SketchGpu& g : s.gpus) g.switch_links = 0;
  s.nvlinks.clear();
  s.p2p_off = true;
  s.inferred.push_back("NCCL_P2P_DISABLE=1: NVLinks are left out, every hop bounces through host memory");
}

}  // namespace moe
