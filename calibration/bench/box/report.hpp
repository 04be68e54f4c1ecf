// What was seen on this machine: card, versions, clocks, links, how long each section took, what was skipped and why.
#pragma once
#include <string>

namespace moe::bench {

/// Writes report.md and report.json from the files of `run` and `box` in the folder; files that are missing are left
/// out. May be called again at any time.
void write_report(const std::string& folder);

}  // namespace moe::bench
