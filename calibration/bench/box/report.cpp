#include "box/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "box/report_data.hpp"
#include "box/report_json.hpp"
#include "harness/check.hpp"

namespace moe::bench {
namespace {

std::string joined(const std::set<std::string>& words) {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : " ") + w;
  return all;
}

std::string sections_text(const Seen& seen) {
  std::string out = "## Sections\n\n| section | seconds | SM clock MHz | most W | most C | throttled by | outcome |\n|---|---|---|---|---|---|---|\n";
  double sum = 0;
  for (const SectionSeen& s : seen.sections) {
    const std::string clocks = s.sm_mhz_high == 0 ? "-" : fmt::format("{} to {}", s.sm_mhz_low, s.sm_mhz_high);
    const auto known = [](unsigned value) { return value == 0 ? std::string("-") : std::to_string(value); };
    out += fmt::format("| {} | {:.1f} | {} | {} | {} | {} | {} |\n", s.name, s.seconds, clocks, known(s.watts_high), known(s.celsius_high),
                       s.throttle.empty() ? "-" : joined(s.throttle), s.outcome.empty() ? "done" : s.outcome);
    sum += s.seconds;
  }
  return out + fmt::format("| all | {:.1f} | | | | | |\n\n", sum);
}

/// GPUs and host in both directions; empty cells were not measured.
std::string matrix(const Seen& seen, const std::string& title, const std::function<bool(const LinkSeen&)>& wanted,
                   const std::function<std::string(const LinkSeen&)>& cell) {
  std::set<std::string> ends;
  for (const LinkSeen& l : seen.links)
    if (wanted(l)) ends.insert(l.from), ends.insert(l.to);
  if (ends.empty()) return {};
  std::string out = title + "\n\n| from \\ to |", rule = "|---|";
  for (const std::string& to : ends) out += " " + to + " |", rule += "---|";
  out += "\n" + rule + "\n";
  for (const std::string& from : ends) {
    out += "| " + from + " |";
    for (const std::string& to : ends) {
      const auto found = std::find_if(seen.links.begin(), seen.links.end(), [&](const LinkSeen& l) {
        return wanted(l) && l.from == from && l.to == to;
      });
      out += found == seen.links.end() ? " |" : " " + cell(*found) + " |";
    }
    out += "\n";
  }
  return out + "\n";
}

std::string links_text(const Seen& seen) {
  constexpr double kLarge = 1 << 25;
  const auto large = [](const char* method, const char* direction) {
    return [=](const LinkSeen& l) { return l.method == method && l.direction == direction && l.bytes >= kLarge; };
  };
  const auto GBps = [](const LinkSeen& l) { return fmt::format("{:.1f}", l.GBps()); };
  const auto us = [](const LinkSeen& l) { return fmt::format("{:.2f}", l.us); };
  std::string out = matrix(seen, "Copy engine, one transfer at a time, GB/s:", large("copy", "one"), GBps);
  out += matrix(seen, "Copy engine, both directions at once, GB/s of each:", large("copy", "both"), GBps);
  out += matrix(seen, "Copy engine, all GPUs with the host at once, GB/s of each:", large("copy", "all"), GBps);
  out += matrix(seen, "Bounced by the driver (no peer access), GB/s:", large("staged", "one"), GBps);
  out += matrix(seen, "Stores by all multiprocessors, GB/s:", large("store", "one"), GBps);
  out += matrix(seen, "Loads by all multiprocessors, GB/s:", large("load", "one"), GBps);
  out += matrix(seen, "A flag, one way, us:", [](const LinkSeen& l) { return l.method == "flag"; }, us);
  out += matrix(seen, "A dependent load from the other GPU, us:", [](const LinkSeen& l) { return l.method == "chain"; }, us);
  out += matrix(seen, "A copy of 16 bytes, us:", [](const LinkSeen& l) { return l.bytes == 16; }, us);
  return out.empty() ? out : "## Links\n\n" + out;
}

std::string collectives_text(const Seen& seen) {
  std::string out;
  if (!seen.communicators.empty()) out += "## NCCL's choices\n\n| path | GPUs | channels | bandwidth it expects, GB/s |\n|---|---|---|---|\n";
  for (const auto& c : seen.communicators)
    if (c.size() == 4) out += fmt::format("| {} | {} | {} | {} |\n", c[0], c[1], c[2], c[3]);
  if (!seen.one_shot.empty())
    out += "\n## Our one-shot all-reduce, T = t0 + (n-1) S / R, up to 1 MiB\n\n| GPUs | rows | t0 us | R GB/s | worst row |\n|---|---|---|---|---|\n";
  for (const OneShotFit& f : seen.one_shot)
    out += fmt::format("| {} | {} | {:.2f} | {:.1f} | {:.1f} % |\n", f.gpus, f.rows, f.t0_us, f.GBps, f.worst_pct);
  return out.empty() ? out : out + "\n";
}

std::string text_of(const Seen& seen) {
  std::string out = "# What moe-calibrate saw\n\n";
  for (const auto& [name, value] : seen.device) out += fmt::format("- {}: {}\n", name, value);
  out += "\n" + sections_text(seen) + links_text(seen) + collectives_text(seen);
  out += "## Files\n\n| file | rows |\n|---|---|\n";
  for (const auto& [name, rows] : seen.files) out += fmt::format("| {} | {} |\n", name, rows);
  out += "\n## Skipped points\n\n";
  for (const auto& [what, points] : seen.skipped) out += fmt::format("- {}: {} points: {}\n", what.first, points, what.second);
  if (seen.skipped.empty()) out += "None.\n";
  return out;
}

}  // namespace

void write_report(const std::string& folder) {
  const Seen seen = read_seen(folder);
  for (const auto& [name, text] : {std::pair{"report.md", text_of(seen)}, std::pair{"report.json", report_json(seen)}}) {
    std::ofstream file(std::filesystem::path(folder) / name);
    file << text;
    file.close();
    if (!file) throw BenchError(fmt::format("cannot write `{}` in `{}`", name, folder));
  }
}

}  // namespace moe::bench
