// Sizes and rates that must not be mixed up at the borders between layers. Inside a formula use plain doubles
// with the unit in the name (left_bytes, rate_Bps).
#pragma once
#include "base/time.hpp"

namespace moe {

struct Bytes {
  double count = 0;
  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
};

struct Bandwidth {
  double bytes_per_second = 0;
  friend constexpr auto operator<=>(Bandwidth, Bandwidth) = default;
};

constexpr Seconds operator/(Bytes b, Bandwidth w) { return Seconds{b.count / w.bytes_per_second}; }
constexpr Bandwidth operator*(Bandwidth w, double factor) { return {w.bytes_per_second * factor}; }
/// GB/s = 1e9 bytes per second, the unit of reports.
constexpr double to_GBps(Bandwidth w) { return w.bytes_per_second * 1e-9; }
constexpr Bandwidth from_GBps(double g) { return {g * 1e9}; }

}  // namespace moe
