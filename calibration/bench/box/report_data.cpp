#include "box/report_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace moe::bench {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::vector<std::string>>;

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

SectionSeen& section(Seen& seen, const std::string& name) {
  const auto found = std::find_if(seen.sections.begin(), seen.sections.end(), [&](const SectionSeen& s) { return s.name == name; });
  if (found != seen.sections.end()) return *found;
  seen.sections.push_back({});
  seen.sections.back().name = name;
  return seen.sections.back();
}

/// section,second,sm_mhz,memory_mhz,watts,celsius,throttle: twice a second; the clock of a section starts again with
/// every run, so that what was seen before it started again is added up.
void add_conditions(const Rows& rows, Seen& seen) {
  std::map<std::string, double> before;
  for (const auto& r : rows) {
    if (r.size() != 7) continue;
    SectionSeen& s = section(seen, r[0]);
    const double second = number(r[1]);
    double& last = before[r[0]];
    s.seconds += second >= last ? second - last : second;
    last = second;
    const auto mhz = static_cast<unsigned>(number(r[2]));
    s.sm_mhz_low = s.sm_mhz_low == 0 ? mhz : std::min(s.sm_mhz_low, mhz);
    s.sm_mhz_high = std::max(s.sm_mhz_high, mhz);
    s.watts_high = std::max(s.watts_high, static_cast<unsigned>(number(r[4])));
    s.celsius_high = std::max(s.celsius_high, static_cast<unsigned>(number(r[5])));
    if (r[6] != "none") s.throttle.insert(r[6]);
  }
}

/// part,seconds,outcome: exact, where there is one.
void add_parts(const Rows& rows, Seen& seen) {
  std::map<std::string, double> seconds;
  for (const auto& r : rows) {
    if (r.size() != 3) continue;
    SectionSeen& s = section(seen, r[0]);
    s.seconds = seconds[r[0]] += number(r[1]);
    s.outcome = r[2];
  }
}

/// Weighted line through (bytes, us): relative errors count.
OneShotFit one_shot_fit(int gpus, const std::vector<std::pair<double, double>>& points) {
  double a11 = 0, a12 = 0, a22 = 0, b1 = 0, b2 = 0;
  for (const auto& [bytes, us] : points) {
    const double u = 1 / us, v = bytes / us;
    a11 += u * u, a12 += u * v, a22 += v * v, b1 += u, b2 += v;
  }
  const double determinant = a11 * a22 - a12 * a12;
  OneShotFit f{gpus, static_cast<int>(points.size())};
  f.t0_us = (b1 * a22 - b2 * a12) / determinant;
  const double per_byte = (a11 * b2 - a12 * b1) / determinant;
  f.GBps = (gpus - 1) / (per_byte * 1e3);
  for (const auto& [bytes, us] : points)
    f.worst_pct = std::max(f.worst_pct, 100 * std::abs((f.t0_us + per_byte * bytes) / us - 1));
  return f;
}

void add_one_shot(const Rows& rows, Seen& seen) {
  std::map<int, std::vector<std::pair<double, double>>> points;
  constexpr double kMost = 1 << 20;
  for (const auto& r : rows)
    if (r.size() == 6 && r[0] == "suite-1/one_shot" && number(r[4]) <= kMost)
      points[static_cast<int>(number(r[3]))].emplace_back(number(r[4]), number(r[5]));
  for (const auto& [gpus, p] : points)
    if (p.size() > 2) seen.one_shot.push_back(one_shot_fit(gpus, p));
}

}  // namespace

Rows csv_rows(const std::string& file) {
  std::ifstream in(file);
  Rows rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    rows.emplace_back();
    for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
      to = line.find(',', from);
      rows.back().push_back(line.substr(from, to - from));
    }
  }
  return rows;
}

Seen read_seen(const std::string& folder) {
  const auto rows = [&](const char* name) { return csv_rows((fs::path(folder) / name).string()); };
  Seen seen;
  for (const char* name : {"device.txt", "box.txt"}) {
    std::ifstream device(fs::path(folder) / name);
    for (std::string line; std::getline(device, line);)
      if (const auto colon = line.find(": "); colon != std::string::npos)
        seen.device.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  add_conditions(rows("conditions.csv"), seen);
  add_parts(rows("parts.csv"), seen);
  const std::set<std::string> about{"conditions.csv", "parts.csv", "skipped.csv", "details.csv"};
  for (const auto& entry : fs::directory_iterator(folder))
    if (const std::string name = entry.path().filename().string(); name.ends_with(".csv") && !about.contains(name))
      seen.files.emplace_back(name, static_cast<int>(csv_rows(entry.path().string()).size()));
  std::sort(seen.files.begin(), seen.files.end());
  for (const auto& r : rows("skipped.csv"))
    if (r.size() == 3) ++seen.skipped[{r[0], r[2]}];
  for (const auto& r : rows("p2p.csv"))
    if (r.size() == 6) seen.links.push_back({r[0], r[1], r[2], r[3], number(r[4]), number(r[5])});
  seen.communicators = rows("communicators.csv");
  add_one_shot(rows("collective.csv"), seen);
  return seen;
}

}  // namespace moe::bench
