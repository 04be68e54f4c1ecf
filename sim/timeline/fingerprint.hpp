// Did anything change? One number for a whole timeline: two runs with the same start and end of every op have
// the same fingerprint, on every platform; a single picosecond elsewhere gives another one.
//
// Example: fingerprint(run(p, r, Sharing::max_min)) is one column of experiments/fingerprints.csv.
#pragma once
#include <cstdint>

#include "timeline/timeline.hpp"

namespace moe {

/// FNV-1a, 64 bits, over (op, start, end) of every op in id order; each number as 8 bytes, lowest byte first.
std::uint64_t fingerprint(const Timeline& timeline);

}  // namespace moe
