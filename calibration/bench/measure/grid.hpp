// Which points? Space-filling in logarithms, so that a fit sees every region of the range and a model's own shapes are
// as new to it as any other.
#pragma once
#include <cmath>
#include <cstdint>

namespace moe::bench {

/// Halton sequence: number i in base `base`, 0 to 1 (Halton 1960). Bases 2, 3, 5, 7 for up to four sizes.
inline double halton(int i, int base) {
  double value = 0, share = 1;
  for (int n = i + 1; n > 0; n /= base) {
    share /= base;
    value += share * (n % base);
  }
  return value;
}

/// Between low and high in logarithms, rounded to a multiple of `step`.
inline int log_between(double u, int low, int high, int step) {
  const double v = low * std::pow(static_cast<double>(high) / low, u);
  const int rounded = static_cast<int>(std::lround(v / step)) * step;
  return rounded < low ? low : rounded > high ? high : rounded;
}

}  // namespace moe::bench
