#include "timeline/unfinished.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace moe {

namespace {

constexpr std::size_t kMostNamed = 5;

bool is_left(const Timeline& timeline, OpId op) { return timeline.end[op] == kNever; }

/// "a, b" : the ops before `op` that have not ended.
std::string missing(const Program& program, const Timeline& timeline, OpId op) {
  std::string names;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const auto before = OpId(i);
    const auto after = program.successors[before];
    if (!is_left(timeline, before) || std::find(after.begin(), after.end(), op) == after.end()) continue;
    names += (names.empty() ? "" : ", ") + describe(program, before);
  }
  return names.empty() ? "a predecessor that is not in the program" : names;
}

}  // namespace

std::string describe_unfinished(const Program& program, const Timeline& timeline) {
  std::vector<OpId> left;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (is_left(timeline, OpId(i))) left.push_back(OpId(i));
  }
  std::string text =
      fmt::format("the program came to rest with {} of {} ops left", left.size(), program.size());
  for (std::size_t i = 0; i < std::min(left.size(), kMostNamed); ++i) {
    text +=
        fmt::format("\n  {} waits for {}", describe(program, left[i]), missing(program, timeline, left[i]));
  }
  if (left.size() > kMostNamed) text += fmt::format("\n  and {} more", left.size() - kMostNamed);
  return text;
}

}  // namespace moe
