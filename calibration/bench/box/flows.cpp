// Several transfers at the same time: the patterns that show what a fabric shares.
//
// flows.csv: name,flows,access,bytes,latency_us; latency is that of the last flow, bytes are of each flow. `flows` is what
// `moe-sim flows` takes. flow_patterns.csv says the same as GB/s in the columns of tests/validation/flow_patterns.csv.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "box/flow_run.hpp"
#include "box/parts.hpp"
#include "harness/check.hpp"

namespace moe::bench {
namespace {

struct Pattern {
  std::string name, text;
  std::vector<Flow> flows;
};

std::string range(int first, int last) { return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last); }

/// Each of one range to each of another, none to itself.
Pattern each_to_each(const std::string& name, int a, int b, int c, int d) {
  Pattern p{name, range(a, b) + ">" + range(c, d), {}};
  for (int from = a; from <= b; ++from)
    for (int to = c; to <= d; ++to)
      if (from != to) p.flows.push_back({from, to});
  return p;
}

Pattern pairs(const std::string& name, const std::vector<Flow>& flows) {
  Pattern p{name, {}, flows};
  for (const Flow& f : flows) p.text += fmt::format("{}{}>{}", p.text.empty() ? "" : " ", f.from, f.to);
  return p;
}

/// Every GPU to the one `step` further.
Pattern ring(int n, int step) {
  std::vector<Flow> flows;
  for (int g = 0; g < n; ++g) flows.push_back({g, (g + step) % n});
  return pairs(fmt::format("{} ring +{}", n, step), flows);
}

/// Patterns of the first n GPUs.
std::vector<Pattern> patterns_of(int n) {
  std::vector<Pattern> all{each_to_each(fmt::format("{} all to all", n), 0, n - 1, 0, n - 1)};
  if (n == 2) return all.push_back(pairs("one pair", {{0, 1}})), all;
  for (int step = 1; step < n; ++step) all.push_back(ring(n, step));
  all.push_back(each_to_each(fmt::format("{} one to all", n), 0, 0, 1, n - 1));
  all.push_back(each_to_each(fmt::format("{} all to one", n), 1, n - 1, 0, 0));
  const int half = n / 2;
  all.push_back(each_to_each(fmt::format("{} half to half", n), 0, half - 1, half, n - 1));
  std::vector<Flow> across;
  for (int g = 0; g < half; ++g) across.push_back({g, g + half});
  all.push_back(pairs(fmt::format("{} one to one across", n), across));
  all.push_back(pairs(fmt::format("{} two neighbours to two neighbours", n), {{0, half}, {1, half + 1}}));
  all.push_back(pairs(fmt::format("{} one sender two targets", n), {{0, half}, {0, 1}}));
  all.push_back(pairs(fmt::format("{} two senders one target", n), {{0, half}, {1, half}}));
  return all;
}

/// Patterns that say the same, written differently, are measured once.
std::vector<Pattern> all_patterns() {
  std::vector<Pattern> all;
  std::set<std::set<std::pair<int, int>>> seen;
  for (const int n : group_sizes())
    for (const Pattern& p : patterns_of(n)) {
      std::set<std::pair<int, int>> flows;
      for (const Flow& f : p.flows) flows.emplace(f.from, f.to);
      if (seen.insert(flows).second) all.push_back(p);
    }
  return all;
}

/// From what flows.csv holds now: all rows, measured in this run or before.
void write_patterns(const std::string& folder) {
  namespace fs = std::filesystem;
  std::ifstream in(fs::path(folder) / "flows.csv");
  std::ofstream out(fs::path(folder) / "flow_patterns.csv");
  out << "machine,name,flows,access,harness,measured_GBps,source\n";
  std::map<std::string, std::size_t> count;
  for (const Pattern& p : all_patterns()) count[p.text] = p.flows.size();
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
      to = line.find(',', from);
      cells.push_back(line.substr(from, to - from));
    }
    if (cells.size() != 5 || !count.contains(cells[1])) continue;
    const double GBps = static_cast<double>(count[cells[1]]) * std::stod(cells[3]) / (std::stod(cells[4]) * 1e3);
    out << fmt::format("this-box,{},{},{},copy,{:.2f},moe-calibrate\n", cells[0], cells[1], cells[2], GBps);
  }
  if (!out) throw BenchError("cannot write flow_patterns.csv");
}

}  // namespace

void measure_flows(Session& session) {
  const GpuGroup gpus(device_count());
  if (!gpus.all_peers()) throw Unsupported("not all GPUs are peers: the driver would bounce transfers through the host");
  Results rows = continued(session, "flows.csv", {"name", "flows", "access", "bytes"});
  const std::vector<Pattern> patterns = all_patterns();
  session.begin("flows", 2 * patterns.size());
  for (const Pattern& p : patterns)
    for (const bool reads : {false, true}) {
      const Key key{p.name, p.text, reads ? "read" : "write", std::to_string(kFlowBytes)};
      if (!rows.has(key)) rows.add(key, time_flows(gpus, p.flows, reads));
      session.tick();
    }
  session.end();
  write_patterns(session.options().out);
}

}  // namespace moe::bench
