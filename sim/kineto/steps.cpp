#include "kineto/steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace moe {
namespace {

constexpr std::size_t kSampling = static_cast<std::size_t>(Category::sampling);
constexpr double kMostKernels = 0.5;  // a graph with less than this is a piece of a step, not a step

struct Mark {
  std::size_t first = 0;  ///< event that begins a step
  std::string name;
};

bool is_work(std::size_t category) {
  return category == static_cast<std::size_t>(Category::attention) ||
         category == static_cast<std::size_t>(Category::experts) ||
         category == static_cast<std::size_t>(Category::dense_gemm);
}

/// When each event was launched on the host; events without a known launch take that of the event before.
std::vector<std::int64_t> launch_times(const KinetoTrace& t) {
  std::vector<std::int64_t> times(t.events.size(), -1);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto at = t.launches.find(t.events[i].correlation);
    times[i] = at != t.launches.end() ? at->second.time_ns : i > 0 ? times[i - 1] : -1;
  }
  return times;
}

/// Spans that the first fitting pattern names; a span inside another is left out. `end`: first event behind
/// the last.
std::vector<Mark> by_annotation(const KinetoTrace& t, const KernelRules& rules,
                                const std::vector<std::size_t>& categories, std::size_t& end) {
  std::vector<Mark> marks;
  const std::vector<std::int64_t> launched = launch_times(t);
  for (const std::string& pattern : rules.step_annotations) {
    std::int64_t covered = -1;
    for (const Annotation& a : t.annotations) {
      if (a.start_ns < covered || !pattern_fits(pattern, t.names[a.name])) continue;
      const auto inside = [&](std::int64_t time) { return time >= a.start_ns && time <= a.end_ns; };
      const auto at = std::find_if(launched.begin(), launched.end(), inside);
      if (at == launched.end()) continue;
      covered = a.end_ns;
      marks.push_back({static_cast<std::size_t>(at - launched.begin()), t.names[a.name]});
    }
    if (marks.empty()) continue;
    std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.first < b.first; });
    // Behind the last span: sampling belongs to its step, the next forward pass does not.
    end = marks.back().first;
    while (end < t.events.size() && (launched[end] <= covered || !is_work(categories[end]))) ++end;
    return marks;
  }
  return marks;
}

std::vector<Mark> by_graph(const KinetoTrace& t) {
  std::unordered_map<std::int64_t, std::size_t> kernels, first;
  for (std::size_t i = 0; i < t.events.size(); ++i) {
    const std::int64_t id = t.events[i].correlation;
    const auto at = t.launches.find(id);
    if (at == t.launches.end() || !at->second.graph) continue;
    ++kernels[id];
    first.try_emplace(id, i);
  }
  std::size_t most = 0, covered = 0;
  for (const auto& [id, count] : kernels) most = std::max(most, count);
  std::vector<Mark> marks;
  for (const auto& [id, count] : kernels)
    if (10 * count >= 9 * most) marks.push_back({first[id], {}}), covered += count;
  if (static_cast<double>(covered) < kMostKernels * static_cast<double>(t.events.size())) return {};
  std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.first < b.first; });
  return marks;
}

/// `end`: first event of a step that the trace cut off.
std::vector<Mark> by_sampling(const std::vector<std::size_t>& categories, std::size_t& end) {
  std::vector<Mark> marks;
  bool sampled = true;  // the trace begins like the time behind a sampling kernel
  std::size_t behind = 0;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    if (categories[i] == kSampling)
      sampled = true, behind = i + 1;
    else if (sampled && is_work(categories[i]))
      marks.push_back({behind, {}}), sampled = false;
  }
  if (!sampled && !marks.empty()) end = marks.back().first, marks.pop_back();
  if (marks.empty()) end = categories.size();
  return marks;
}

std::vector<Mark> by_repetition(const KinetoTrace& t) {
  std::map<std::uint32_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < t.events.size(); ++i) places[t.events[i].name].push_back(i);
  const std::vector<std::size_t>* rarest = nullptr;
  for (const auto& [name, at] : places)
    if (at.size() >= 2 && (rarest == nullptr || at.size() < rarest->size() ||
                           (at.size() == rarest->size() && at[0] < (*rarest)[0])))
      rarest = &at;
  std::vector<Mark> marks;
  if (rarest == nullptr) return marks;
  for (const std::size_t i : *rarest) marks.push_back({i, {}});
  return marks;
}

std::vector<Mark> by_kernel(const KinetoTrace& t, const std::string& pattern) {
  std::vector<Mark> marks;
  std::unordered_map<std::uint32_t, bool> fits;
  for (std::size_t i = 0; i < t.events.size(); ++i) {
    const auto [at, fresh] = fits.try_emplace(t.events[i].name, false);
    if (fresh) at->second = pattern_fits(pattern, t.names[at->first]);
    if (at->second) marks.push_back({i, {}});
  }
  return marks;
}

void build(const KinetoTrace& t, const std::vector<Mark>& marks, std::size_t end, const KernelRules& rules,
           TraceSteps& steps) {
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
  std::vector<Mark> marks;
  const Place place{t.file, 0, 0, 1};
  const auto attempt = [&](StepMethod method, std::vector<Mark> found) {
    if (marks.empty() && !found.empty()) marks = std::move(found), steps.method = method;
  };
  if (!options.begin.empty()) {
    attempt(StepMethod::given, by_kernel(t, options.begin));
    if (marks.empty())
      throw InputError(fmt::format("no kernel of {} fits `--step-begin {}`", t.file, options.begin));
  }
  if (marks.empty()) attempt(StepMethod::annotation, by_annotation(t, rules, categories, end));
  if (marks.empty()) attempt(StepMethod::graph, by_graph(t));
  if (marks.empty()) attempt(StepMethod::sampling, by_sampling(categories, end));
  if (marks.empty()) attempt(StepMethod::repetition, by_repetition(t));
  if (marks.empty()) marks.push_back({0, {}});
  if (steps.method == StepMethod::repetition)
    out.warning(fmt::format("no span, graph or sampling kernel tells the steps: they are cut at `{}`, which "
                            "may be a block of layers",
                            t.names[t.events[marks[0].first].name].substr(0, 60)),
                place, "", "name the first kernel with --step-begin");
  warn_of_training(t, rules, out);
  build(t, marks, end, rules, steps);
  choose(t, options.skip, steps, out);
  return steps;
}

}  // namespace moe
