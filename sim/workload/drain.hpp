// How long until a batch that is not refilled is done? Sequences differ in what they still have to write and in how many
// drafts are accepted, so they finish one after the other and the batch shrinks.
//
//   while n sequences run, each of them gains L_i(n) tokens per step of T(n) ms; the one with the least R_i / L_i is next
//   L_i(n) = length(n) + spread z_i, cut to [1, k + 1]      z_i normal: how easy the text of sequence i is to draft
//   R_i is blurred by sqrt(R_i var / length) y_i            y_i normal: rejections along the way; renewal theory, the
//                                                           number of steps for R tokens has variance R var / length^3
//
// Example: two sequences, 100 and 200 tokens, no drafts: 100 T(2) + 100 T(1).
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace moe {

struct DrainInput {
  std::vector<double> remaining;                  ///< tokens, by sequence
  std::function<double(int)> step_ms;             ///< of a batch of n
  std::function<double(int)> length;              ///< tokens per step and sequence of a batch of n; 1 without drafts
  std::function<double(int)> most;                ///< largest length of a batch of n: k + 1
  double spread = 0;                              ///< standard deviation of the length between sequences
  double variance = 0;                            ///< of the tokens of one step of one sequence
  std::uint64_t seed = 1;
};

/// One course of the draining, or a summary of many.
struct Drain {
  double seconds = 0, low = 0, high = 0;          ///< until the last sequence is done; 5 % and 95 % of the draws
  double half_seconds = 0;                        ///< until half of the sequences are done
  double mean_batch = 0;                          ///< sequences running, mean over time
};

/// Median of seeded draws; a single draw where nothing is random.
Drain drain(const DrainInput& input);

}  // namespace moe
