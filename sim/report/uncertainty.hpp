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
/// Nobody recorded the routing of these models under load. Of the picks that fall on experts that are already active, the
/// share may be off: between uniform routing and a similarity of 0.6, 64 tokens of Kimi-K2.5 (top-8 of 384) touch 284
/// and 165 experts (docs/routing.md), ln(284/165) / (2 * 1.645) = 0.165, at a share of such picks of 1 - 284/512 = 0.445.
inline constexpr double kRoutingSpread = 0.165 / 0.445;
/// Where no step of a build was published: measured / simulated of builds that were, 5th and 95th percentile of the rows
/// without drafts (258 and 290) in the half that sets widths; scripts/calibrate-intervals prints them.
inline constexpr double kDocumentedLow = 0.907, kDocumentedHigh = 1.151;
inline constexpr double kUndocumentedLow = 0.824, kUndocumentedHigh = 1.446;

}  // namespace moe
