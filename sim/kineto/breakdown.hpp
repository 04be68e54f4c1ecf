// Where does the time of a traced step go? By category of docs/result.md, adding up to the step.
//
// Every instant of a step has one owner: the compute kernel that runs (the one that began first, when streams
// overlap), else the communication kernel that runs, else the gap, booked on `host`. What ran beside its
// owner is `hidden`.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "kineto/steps.hpp"

namespace moe {

/// Per step, mean over the used steps.
struct TracedCategory {
  double ms = 0;         ///< owned: adds up to the step
  double hidden_ms = 0;  ///< ran beside another kernel that owns the time
  double wait_ms = 0;    ///< of the kernels' time: waiting for other ranks (waiting.hpp)
  double calls = 0;
};

struct TracedKernel {
  std::uint32_t name = 0;
  std::size_t category = kUnclassified;
  double ms = 0, calls = 0;  ///< per step; time of the kernels themselves
};

struct TracedBreakdown {
  double step_ms = 0, median_ms = 0, busy_ms = 0;  ///< busy: at least one kernel runs
  std::array<TracedCategory, kKernelCategories> categories{};
  double short_gap_ms = 0, long_gap_ms = 0;  ///< idle in gaps up to kShortGap, and longer
  double gaps = 0;                           ///< per step
  int used = 0;
  std::vector<TracedKernel> kernels;  ///< longest first
};

/// A gap between nodes of a graph replay is 0.3 to 1.5 us, one that waits for a launch of the host 5 us and
/// more.
inline constexpr std::int64_t kShortGapNs = 2500;

/// Category of every event, after the rule of the lm_head.
std::vector<std::size_t> classify_events(const KinetoTrace& trace, const KernelRules& rules);
/// The vocabulary projection is a GEMM whose name does not tell: the last dense GEMM of a step, see
/// rules.hpp.
void mark_lm_head(const KinetoTrace& trace, const KernelRules& rules, const TraceSteps& steps,
                  std::vector<std::size_t>& categories);
/// `waits_ns`: per event, may be empty.
TracedBreakdown break_down(const KinetoTrace& trace, const TraceSteps& steps,
                           const std::vector<std::size_t>& categories,
                           const std::vector<std::int64_t>& waits_ns);

}  // namespace moe
