// What time is it? Two kinds of time and one rounding point between them.
//
//   Seconds   double, for cost formulas:      Seconds t = bytes / bandwidth;
//   Time      integer picoseconds, for the engine's clock: sums are exact, identities are ==
//
// Example: to_time(Seconds{1.5e-6}) == Time{1'500'000}.
#pragma once
#include <chrono>
#include <cstdint>

namespace moe {

using Seconds = std::chrono::duration<double>;
/// Integer picoseconds; covers 106 days.
using Time = std::chrono::duration<std::int64_t, std::pico>;

/// Later than everything that happens.
inline constexpr Time kNever = Time::max();

/// The only place where a formula's time becomes clock time. Rounds to the nearest picosecond.
inline Time to_time(Seconds s) { return std::chrono::round<Time>(s); }
/// Microseconds (the unit of every cost formula in calibration files) to clock time.
inline Time from_us(double us) { return to_time(Seconds{us * 1e-6}); }
constexpr double to_us(Time t) { return static_cast<double>(t.count()) * 1e-6; }
constexpr double to_ms(Time t) { return static_cast<double>(t.count()) * 1e-9; }

}  // namespace moe
