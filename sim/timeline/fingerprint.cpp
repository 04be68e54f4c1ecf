#include "timeline/fingerprint.hpp"

#include "base/hash.hpp"

namespace moe {

std::uint64_t fingerprint(const Timeline& timeline) {
  std::uint64_t hash = kFnvOffset;
  for (std::size_t i = 0; i < timeline.end.size(); ++i) {
    const auto op = OpId(i);
    hash = fnv1a(i, hash);
    hash = fnv1a(static_cast<std::uint64_t>(timeline.start[op].count()), hash);
    hash = fnv1a(static_cast<std::uint64_t>(timeline.end[op].count()), hash);
  }
  return hash;
}

}  // namespace moe
