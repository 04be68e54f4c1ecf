#include "kineto/steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/check.hpp"
#include "kineto/step_marks.hpp"

namespace moe {
namespace {

void build(const KinetoTrace& t, const std::vector<StepMark>& marks, std::size_t end,
           const KernelRules& rules, TraceSteps& steps) {
  const bool cut_off = steps.method == StepMethod::sampling && end < t.events.size();
  for (std::size_t m = 0; m < marks.size(); ++m) {
    TraceStep s;
    s.first = marks[m].first;
    s.closed = m + 1 < marks.size() || cut_off;
    s.last = m + 1 < marks.size() ? marks[m + 1].first : end;
    if (s.last <= s.first) continue;
    s.start_ns = t.events[s.first].start_ns;
    s.end_ns = s.closed ? t.events[s.last].start_ns : s.start_ns;
    for (std::size_t i = s.first; i < s.last && !s.closed; ++i)
      s.end_ns = std::max(s.end_ns, t.events[i].end_ns);
    s.name = marks[m].name;
    s.prefill = any_fits(rules.prefill, s.name);
    steps.steps.push_back(s);
  }
}

void choose(const KinetoTrace& t, int skip, TraceSteps& steps, Diagnostics& out) {
  const Place place{t.file, 0, 0, 1};
  const auto decode = static_cast<int>(
      std::count_if(steps.steps.begin(), steps.steps.end(), [](const TraceStep& s) { return !s.prefill; }));
  if (decode == 0)
    out.warning(fmt::format("no decode step: `{}` computes prompts; the figures are of prefill",
                            steps.steps[0].name.substr(0, 80)),
                place);
  else if (decode < static_cast<int>(steps.steps.size()))
    out.warning(fmt::format("{} of {} steps also compute prompts and are left out",
                            static_cast<int>(steps.steps.size()) - decode, steps.steps.size()),
                place);
  const int candidates = decode == 0 ? static_cast<int>(steps.steps.size()) : decode;
  int left_out = skip >= 0 ? skip : candidates > 1 ? 1 : 0;
  if (left_out >= candidates)
    throw InputError(fmt::format("`--skip {}` leaves no step: the trace has {}", skip, candidates));
  bool any_closed = false;
  for (TraceStep& s : steps.steps) {
    if (s.prefill && decode > 0) continue;
    s.used = left_out-- <= 0;
    any_closed = any_closed || (s.used && s.closed);
  }
  // A step without the gap behind it counts only where there is no better one.
  for (TraceStep& s : steps.steps) s.used = s.used && (s.closed || !any_closed);
}

/// Operators, spans and kernels that decode does not have.
void warn_of_training(const KinetoTrace& t, const KernelRules& rules, Diagnostics& out) {
  std::set<std::uint32_t> names;
  for (const auto& [id, op] : t.ops) names.insert(op.name);
  for (const Annotation& a : t.annotations) names.insert(a.name);
  for (const GpuEvent& e : t.events) names.insert(e.name);
  for (const std::uint32_t name : names)
    if (any_fits(rules.training, t.names[name])) {
      out.warning(
          fmt::format("`{}` belongs to training: this is not a trace of decode", t.names[name].substr(0, 80)),
          {t.file, 0, 0, 1});
      return;
    }
}

}  // namespace

std::string text_of(StepMethod method) {
  switch (method) {
    case StepMethod::given: return "the kernel given with --step-begin";
    case StepMethod::annotation: return "named spans";
    case StepMethod::graph: return "graph replays";
    case StepMethod::sampling: return "sampling kernels";
    case StepMethod::repetition: return "a repeated kernel";
    case StepMethod::whole: return "nothing: the whole trace is taken for one";
  }
  return {};
}

TraceSteps find_steps(const KinetoTrace& t, const KernelRules& rules,
                      const std::vector<std::size_t>& categories, const StepOptions& options,
                      Diagnostics& out) {
  TraceSteps steps;
  std::size_t end = t.events.size();
  std::vector<StepMark> marks;
  const Place place{t.file, 0, 0, 1};
  const auto attempt = [&](StepMethod method, std::vector<StepMark> found) {
    if (marks.empty() && !found.empty()) marks = std::move(found), steps.method = method;
  };
  if (!options.begin.empty()) {
    attempt(StepMethod::given, marks_by_kernel(t, options.begin));
    if (marks.empty())
      throw InputError(fmt::format("no kernel of {} fits `--step-begin {}`", t.file, options.begin));
  }
  if (marks.empty()) attempt(StepMethod::annotation, marks_by_annotation(t, rules, categories, end));
  if (marks.empty()) attempt(StepMethod::graph, marks_by_graph(t));
  if (marks.empty()) attempt(StepMethod::sampling, marks_by_sampling(categories, end));
  if (marks.empty()) attempt(StepMethod::repetition, marks_by_repetition(t));
  if (marks.empty()) marks.push_back({0, {}});
  if (steps.method == StepMethod::repetition)
    out.warning(fmt::format("no span, graph or sampling kernel tells the steps: they are cut at `{}`, which "
                            "may be a block of layers",
                            t.names[t.events[marks[0].first].name].substr(0, 60)),
                place, "", "name the first kernel with --step-begin");
  warn_of_training(t, rules, out);
  build(t, marks, end, rules, steps);
  MOE_CHECK(!steps.steps.empty(), "a trace with events has a step");
  choose(t, options.skip, steps, out);
  return steps;
}

}  // namespace moe
