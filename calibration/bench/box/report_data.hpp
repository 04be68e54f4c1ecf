// What the files of a folder say, gathered for the report.
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moe::bench {

struct SectionSeen {
  std::string name;
  double seconds = 0;           ///< wall time, all runs together
  unsigned sm_mhz_low = 0, sm_mhz_high = 0, watts_high = 0, celsius_high = 0;  ///< 0: not known
  std::set<std::string> throttle;  ///< reasons seen
  std::string outcome;          ///< of a part of `box`: done, skipped: why, error: what
};

struct LinkSeen {
  std::string method, from, to, direction;
  double bytes = 0, us = 0;
  double GBps() const { return bytes / (us * 1e3); }
};

/// T = t0 + (n - 1) S / R of our one-shot all-reduce, up to 1 MiB.
struct OneShotFit {
  int gpus = 0, rows = 0;
  double t0_us = 0, GBps = 0, worst_pct = 0;
};

struct Seen {
  std::vector<std::pair<std::string, std::string>> device;     ///< device.txt
  std::vector<SectionSeen> sections;
  std::vector<std::pair<std::string, int>> files;              ///< measurement files and their rows
  std::map<std::pair<std::string, std::string>, int> skipped;  ///< (file, reason) -> points
  std::vector<LinkSeen> links;                                 ///< p2p.csv
  std::vector<std::vector<std::string>> communicators;         ///< path, gpus, channels, graph_GBps
  std::vector<OneShotFit> one_shot;
};

Seen read_seen(const std::string& folder);

/// Cells of a CSV file without quotes, header left out; empty when it is not there.
std::vector<std::vector<std::string>> csv_rows(const std::string& file);

}  // namespace moe::bench
