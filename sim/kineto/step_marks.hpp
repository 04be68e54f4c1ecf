// Which events begin a step? One way to find them each; steps.hpp says in which order they are tried.
#pragma once
#include <string>
#include <vector>

#include "kineto/rules.hpp"
#include "kineto/trace.hpp"

namespace moe {

struct StepMark {
  std::size_t first = 0;  ///< event that begins a step
  std::string name;       ///< of its span, or ""
};

/// Spans that the first fitting pattern names; a span inside another is left out. `end`: first event behind
/// the last.
std::vector<StepMark> marks_by_annotation(const KinetoTrace& trace, const KernelRules& rules,
                                          const std::vector<std::size_t>& categories, std::size_t& end);
/// Replays of a CUDA graph that holds most kernels.
std::vector<StepMark> marks_by_graph(const KinetoTrace& trace);
/// Behind the kernels that choose tokens. `end`: first event of a step that the trace cut off.
std::vector<StepMark> marks_by_sampling(const std::vector<std::size_t>& categories, std::size_t& end);
/// The rarest kernel that comes more than once.
std::vector<StepMark> marks_by_repetition(const KinetoTrace& trace);
/// Kernels whose name fits.
std::vector<StepMark> marks_by_kernel(const KinetoTrace& trace, const std::string& pattern);

}  // namespace moe
