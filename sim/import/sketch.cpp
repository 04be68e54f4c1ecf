#include "import/sketch.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace moe {
namespace {

constexpr double kAssumedGBps = 56.4;    // Gen5 x16
constexpr double kNvlinkGBps = 25;       // one NVLink 2 to 4 link, one direction
constexpr double kSocketGBps = 50;       // as measured between two EPYC 9575F

/// A sentence as comment lines of at most 118 characters.
std::string comment(const std::string& head, const std::string& sentence) {
  constexpr std::size_t kWidth = 116;
  std::string out, line = "# " + head;
  for (std::size_t from = 0; from < sentence.size();) {
    const std::size_t to = std::min(sentence.find(' ', from), sentence.size());
    if (line.size() + to - from > kWidth) out += line + "\n", line = "#  ";
    line += " " + sentence.substr(from, to - from);
    from = to + 1;
  }
  return out + line + "\n";
}

double or_assumed(double GBps) { return GBps > 0 ? GBps : kAssumedGBps; }

/// Quotes for a YAML list item.
std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2) text.insert(at, "'");
  return "'" + text + "'";
}

std::string devices_of(const Sketch& s) {
  std::string out = "devices:\n";
  const auto socket = [&](int root_complex) { return s.socket_of[static_cast<std::size_t>(root_complex)]; };
  for (std::size_t g = 0; g < s.gpus.size(); ++g)
    out += fmt::format("  - {{name: gpu{}, kind: gpu, socket: {}}}{}\n", g, socket(s.gpus[g].root_complex),
                       s.gpus[g].name.empty() ? "" : "   # " + s.gpus[g].name);
  for (std::size_t i = 0; i < s.switches.size(); ++i) {
    out += fmt::format("  - {{name: sw{}, kind: pcie_switch, socket: {}}}\n", i, socket(s.switches[i].root_complex));
    if (s.switches[i].parent < 0)
      out += fmt::format("  - {{name: rp{}, kind: root_port, socket: {}}}\n", i, socket(s.switches[i].root_complex));
  }
  for (std::size_t r = 0; r < s.socket_of.size(); ++r)
    out += fmt::format("  - {{name: rc{}, kind: root_complex, socket: {}}}\n", r, s.socket_of[r]);
  std::vector<int> sockets = s.socket_of;
  std::sort(sockets.begin(), sockets.end());
  sockets.erase(std::unique(sockets.begin(), sockets.end()), sockets.end());
  for (const int k : sockets) out += fmt::format("  - {{name: mem{}, kind: host_memory, socket: {}}}\n", k, k);
  const bool nvswitch = std::any_of(s.gpus.begin(), s.gpus.end(), [](const SketchGpu& g) { return g.switch_links > 0; });
  return out + (nvswitch ? "  - {name: nvswitch, kind: nvswitch}\n" : "");
}

std::string link(const std::string& from, const std::string& to, const char* kind, double GBps, double us) {
  const std::string rate = GBps > 0 ? fmt::format("bandwidth: {:.4g} GB/s, ", GBps) : "";
  return fmt::format("  - {{from: {}, to: {}, kind: {}, {}latency: {:.2f} us}}\n", from, to, kind, rate, us);
}

std::string pcie_links(const Sketch& s) {
  std::string out;
  for (std::size_t g = 0; g < s.gpus.size(); ++g) {
    const SketchGpu& gpu = s.gpus[g];
    const bool direct = gpu.parent < 0;
    out += link(fmt::format("gpu{}", g),
                direct ? fmt::format("rc{}", gpu.root_complex) : fmt::format("sw{}", gpu.parent),
                "port", or_assumed(gpu.GBps), direct ? 0.13 : 0.10);
  }
  for (std::size_t i = 0; i < s.switches.size(); ++i) {
    const SketchSwitch& w = s.switches[i];
    const std::string name = fmt::format("sw{}", i), port = fmt::format("rp{}", i);
    if (w.parent >= 0) {
      out += link(name, fmt::format("sw{}", w.parent), "chip", or_assumed(w.GBps), 0.10);
      continue;
    }
    out += link(name, port, "uplink", or_assumed(w.GBps), 0.18);
    out += link(port, fmt::format("rc{}", w.root_complex), "fabric", 0, 0.01);
  }
  return out;
}

/// Root complexes of one socket are joined inside the package; the first ones of two sockets by the socket link.
std::string host_links(const Sketch& s) {
  std::string out;
  for (std::size_t a = 0; a < s.socket_of.size(); ++a) {
    const bool first_a = std::find(s.socket_of.begin(), s.socket_of.end(), s.socket_of[a]) ==
                         s.socket_of.begin() + std::ptrdiff_t(a);
    out += link(fmt::format("rc{}", a), fmt::format("mem{}", s.socket_of[a]), "fabric", 0, 0.01);
    for (std::size_t b = a + 1; b < s.socket_of.size(); ++b) {
      const std::string from = fmt::format("rc{}", a), to = fmt::format("rc{}", b);
      const bool first_b = std::find(s.socket_of.begin(), s.socket_of.end(), s.socket_of[b]) ==
                           s.socket_of.begin() + std::ptrdiff_t(b);
      if (s.socket_of[a] == s.socket_of[b]) out += link(from, to, "fabric", 0, 0.01);
      else if (first_a && first_b)
        out += link(from, to, "socket_link", s.socket_GBps > 0 ? s.socket_GBps : kSocketGBps, 0.26);
    }
  }
  return out;
}

std::string nvlinks_of(const Sketch& s) {
  std::string out;
  for (std::size_t g = 0; g < s.gpus.size(); ++g)
    if (const SketchGpu& gpu = s.gpus[g]; gpu.switch_links > 0)
      out += link(fmt::format("gpu{}", g), "nvswitch", "nvlink",
                  gpu.nvlink_GBps > 0 ? gpu.nvlink_GBps : kNvlinkGBps * gpu.switch_links, 0);
  for (const SketchNvlink& n : s.nvlinks)
    out += link(fmt::format("gpu{}", n.a), fmt::format("gpu{}", n.b), "nvlink",
                n.GBps > 0 ? n.GBps : kNvlinkGBps * n.count, 0);
  return out;
}

/// Most NVLinks of any GPU.
int most_nvlinks(const Sketch& s) {
  int most = 0;
  for (std::size_t g = 0; g < s.gpus.size(); ++g) {
    int own = s.gpus[g].switch_links;
    for (const SketchNvlink& n : s.nvlinks)
      own += n.a == static_cast<int>(g) || n.b == static_cast<int>(g) ? n.count : 0;
    most = std::max(most, own);
  }
  return most;
}

std::string nccl_of(const Sketch& s) {
  const auto line = [](std::size_t ranks, int channels, double GBps) {
    return fmt::format("    - {{up_to_ranks: {}, channels: {}, graph_bandwidth: {:.4g} GB/s}}\n", ranks, channels, GBps);
  };
  std::string out = s.p2p_off ? "nccl:\n  p2p_level: \"off\"\n" : "nccl:\n  p2p_level: cross_switch    # NCCL's default\n";
  if (s.amd_cpu && !s.p2p_off) out += "  pair_p2p_anywhere: true    # AMD host\n";
  if (!s.communicators.empty()) {
    out += "  communicators:             # as NCCL's own graph dump says\n";
    for (const SketchCommunicator& c : s.communicators)
      out += line(static_cast<std::size_t>(c.ranks), c.channels, c.graph_GBps);
    return out;
  }
  const int links = most_nvlinks(s);
  return out + "  communicators:             # assumed: read NCCL's log (NCCL_DEBUG=INFO) for the channels\n" +
         line(std::max<std::size_t>(2, s.gpus.size()), links > 0 ? 2 * std::min(links, 12) : 2,
              links > 0 ? 20.0 * links : 24);
}

}  // namespace

double pcie_GBps(double gigatransfers, int lanes) {
  const double code = gigatransfers < 8 ? 0.8 : 128.0 / 130.0;
  constexpr double kPayload = 256.0 / 280.0, kLinkLayer = 0.98;
  return gigatransfers * lanes / 8 * code * kPayload * kLinkLayer;
}

std::string machine_text(const Sketch& s, const std::string& gpu) {
  std::string out = comment("Imported from", s.source + ".");
  for (const std::string& i : s.inferred) out += comment("Inferred:", i + ".");
  std::vector<std::string> assumed = s.assumed_rates;
  assumed.insert(assumed.end(), s.assumed.begin(), s.assumed.end());
  for (const std::string& a : assumed) out += comment("Assumed:", a + ".");
  out += fmt::format("schema: 1\nsummary: {} GPU{}, imported\ngpu: {}\n", s.gpus.size(), s.gpus.size() == 1 ? "" : "s",
                     gpu);
  out += devices_of(s) + "links:\n" + pcie_links(s) + host_links(s) + nvlinks_of(s) + nccl_of(s);
  if (!s.measured.empty()) out += "measured:\n";
  for (const std::string& m : s.measured) out += "  - " + quoted(m) + "\n";
  out += s.measured.empty()
             ? "unvalidated:\n  - nothing of this machine was measured; it was read from a dump of its topology\n"
             : "unvalidated:\n  - links between the same two devices are taken to be equally fast in both directions\n";
  for (const std::string& a : assumed) out += "  - " + quoted("assumed: " + a) + "\n";
  return out;
}

}  // namespace moe
