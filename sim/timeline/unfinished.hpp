// Which ops have not ended, and what does each still wait for? For the message of a run that came to rest too
// early:
//
//   the program came to rest with 2 of 7 ops left
//     L0 experts gpu0 waits for L0 dispatch gpu1→gpu0
//     L0 combine gpu0→gpu1 waits for L0 experts gpu0
#pragma once
#include <string>

#include "program/program.hpp"
#include "timeline/timeline.hpp"

namespace moe {

/// The first five of them. In `timeline`, an op that has not ended has end == kNever.
std::string describe_unfinished(const Program& program, const Timeline& timeline);

}  // namespace moe
