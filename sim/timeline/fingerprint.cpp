#include "timeline/fingerprint.hpp"

namespace moe {

namespace {

constexpr std::uint64_t kOffset = 0xcbf29ce484222325, kPrime = 0x100000001b3;

std::uint64_t add(std::uint64_t hash, std::uint64_t number) {
  for (int byte = 0; byte < 8; ++byte) {
    hash = (hash ^ (number & 0xff)) * kPrime;
    number >>= 8;
  }
  return hash;
}

}  // namespace

std::uint64_t fingerprint(const Timeline& timeline) {
  std::uint64_t hash = kOffset;
  for (std::size_t i = 0; i < timeline.end.size(); ++i) {
    const auto op = OpId(i);
    hash = add(hash, i);
    hash = add(hash, static_cast<std::uint64_t>(timeline.start[op].count()));
    hash = add(hash, static_cast<std::uint64_t>(timeline.end[op].count()));
  }
  return hash;
}

}  // namespace moe
