// The report for programs.
#pragma once
#include "box/report_data.hpp"

namespace moe::bench {

/// {schema, device, sections, files, skipped, links, communicators, one_shot}; keys in docs/calibration.md.
std::string report_json(const Seen& seen);

}  // namespace moe::bench
