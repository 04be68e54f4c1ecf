// Seeded random numbers with our own distributions: std::mt19937_64 is specified by the standard, the standard
// distributions are not, so a seed means the same thing on every compiler.
#pragma once
#include <cmath>
#include <cstdint>
#include <random>

namespace moe {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  /// Uniform integer in [0, n); n > 0. Multiply-shift; bias below 2^-32 for n < 2^32.
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((engine_() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
  }
  /// Standard normal by Box-Muller (one of the pair is dropped: simple beats fast here).
  double normal() {
    const double u = 1.0 - uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * uniform());
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace moe
