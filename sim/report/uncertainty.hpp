// How sure are we? The constants behind every interval; the rule is in uncertainty.cpp (one run) and compare.cpp (two).
#pragma once

namespace moe {

/// The host gap between graph replays was seen between 0.2 and 0.6 ms around a middle of 0.35 (engine traces of two
/// builds): taken as 90 % of a log-normal, ln(0.6/0.2) / (2 * 1.645).
inline constexpr double kGapSpread = 0.33;
/// Host time to launch a layer: 1.03 and 1.13 ms in eager logs of two models, taken the same way. One host only.
inline constexpr double kLaunchSpread = 0.028;
/// 90 % of a normal distribution lies within this many standard deviations.
inline constexpr double kNormal90 = 1.645;

}  // namespace moe
