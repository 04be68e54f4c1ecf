// A 64-bit fingerprint of bytes: FNV-1a (Fowler, Noll, Vo). For provenance and regression, not for security.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace moe {

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325ULL;
constexpr std::uint64_t kFnvPrime = 0x100000001b3ULL;

constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t seed = kFnvOffset) {
  for (const char c : bytes) seed = (seed ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return seed;
}

/// Folds one integer in, low byte first, so that the result does not depend on the machine's byte order.
constexpr std::uint64_t fnv1a(std::uint64_t value, std::uint64_t seed) {
  for (int i = 0; i < 8; ++i) seed = (seed ^ ((value >> (8 * i)) & 0xff)) * kFnvPrime;
  return seed;
}

inline std::string hex64(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace moe
