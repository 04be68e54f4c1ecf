// Which of two runs is faster, by how much, why, and is that more than we know?
//
//   step   26.08 ms   24.06 ms   −2.02 ms   −7.8 %
//   uplinks-x2 is 1.08 times as fast as base: −2.02 ms per step, 90 % interval −2.41 to −1.64 ms.
//
// Two runs share kernels, and a kernel that is fitted 5 % too fast is so in both runs. So the interval of the
// difference is not that of two independent steps. With t the time and s the spread of a path:
//   sigma(difference)^2 = sum over paths (t_other s_other - t_base s_base)^2 + ((host_other - host_base) kGapSpread)^2
// where a path that only one side uses (or that comes from another profile) has t = 0 on the other side, counted once
// for each. A path used equally by both cancels.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/side.hpp"

namespace moe {

/// A category or a kernel path on both sides.
struct Part {
  std::string name;
  double base_ms = 0, other_ms = 0;
  double change() const { return other_ms - base_ms; }
};

/// Times are those of a step; where acceptance length or batch differ, of what the base does in one step.
struct Comparison {
  std::size_t base = 0, other = 1;   ///< positions of the sides
  double ratio = 1;                  ///< tokens/s, other over base; above 1: faster
  double difference_ms = 0;          ///< other - base; negative: faster
  double low_ms = 0, high_ms = 0;    ///< 90 % interval of the difference
  bool by_path = true;               ///< interval from shared paths; false: from two independent intervals
  std::vector<Part> categories;      ///< largest change first; the changes add up to the difference of the steps
  std::vector<Part> paths;           ///< the same for kernel paths and collectives; only those that changed
  bool exceeds() const { return low_ms > 0 || high_ms < 0; }
};
Comparison compare(const std::vector<Side>& sides, std::size_t base, std::size_t other);

/// "tp4 is 1.08 times as fast as tp8: ..." One sentence with a full stop.
std::string verdict(const std::vector<Side>& sides, const Comparison& c);

/// An input that is not the same on all sides.
struct InputDifference {
  std::string key;                   ///< dotted experiment key, or "file: key" inside a file that both sides name
  std::vector<std::string> values;   ///< by side; "" where it is not set
};
/// From resolved inputs and file hashes. Where a file that differs is still there with the recorded hash, its keys.
std::vector<InputDifference> input_differences(const std::vector<Side>& sides);
/// Why these runs answer different questions: another model, another batch; empty: they do not.
std::string incomparable(const std::vector<Side>& sides);

/// Side by side, the difference by category and path, what differs in the inputs, the verdicts.
std::string comparison_text(const std::vector<Side>& sides);
/// {"sides": [...], "comparisons": [...], "differs": [...]}
nlohmann::ordered_json comparison_json(const std::vector<Side>& sides);

}  // namespace moe
