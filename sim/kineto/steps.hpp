// Where does a decode step begin? Found by what the trace has, best first:
//
//   annotations   spans that a rule names, by the launches inside them
//   graph         replays of a CUDA graph that holds most kernels
//   sampling      a step ends with the kernels that choose its tokens
//   repetition    the rarest kernel that comes more than once (may be a block of layers: a warning says so)
//   whole         nothing of that: the whole trace is one step
//
// A step lasts from its first kernel to the first kernel of the next one, so the gap before the next step
// belongs to it; the last one of a trace ends with its last kernel and is used only where there is no other.
// The first one is left out where another remains: the profiler starts in it.
#pragma once
#include <string>
#include <vector>

#include "kineto/rules.hpp"
#include "kineto/trace.hpp"

namespace moe {

enum class StepMethod { given, annotation, graph, sampling, repetition, whole };
/// "named spans", "graph replays", ...
std::string text_of(StepMethod method);

struct TraceStep {
  std::size_t first = 0, last = 0;  ///< events [first, last)
  std::int64_t start_ns = 0, end_ns = 0;
  bool closed = false;   ///< another step follows: the gap to it is inside
  bool prefill = false;  ///< its name says that it also computed prompts
  bool used = false;     ///< counts in the breakdown
  std::string name;      ///< of its annotation, or ""
};

struct TraceSteps {
  StepMethod method = StepMethod::whole;
  std::vector<TraceStep> steps;
};

struct StepOptions {
  std::string begin;  ///< pattern of the kernel that begins a step; "": find out
  int skip = -1;      ///< steps left out at the beginning; -1: one, if another remains
};

/// `categories`: of every event. Warnings say what a user should know about the choice.
TraceSteps find_steps(const KinetoTrace& trace, const KernelRules& rules,
                      const std::vector<std::size_t>& categories, const StepOptions& options,
                      Diagnostics& out);

}  // namespace moe
