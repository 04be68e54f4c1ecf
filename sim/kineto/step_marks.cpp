#include "kineto/step_marks.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace moe {
namespace {

constexpr std::size_t kSampling = static_cast<std::size_t>(Category::sampling);
constexpr double kMostKernels = 0.5;  // a graph with less than this is a piece of a step, not a step

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

}  // namespace

/// Spans that the first fitting pattern names; a span inside another is left out. `end`: first event behind
/// the last.
std::vector<StepMark> marks_by_annotation(const KinetoTrace& t, const KernelRules& rules,
                                          const std::vector<std::size_t>& categories, std::size_t& end) {
  std::vector<StepMark> marks;
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
    std::sort(marks.begin(), marks.end(),
              [](const StepMark& a, const StepMark& b) { return a.first < b.first; });
    // Behind the last span: sampling belongs to its step, the next forward pass does not.
    end = marks.back().first;
    while (end < t.events.size() && (launched[end] <= covered || !is_work(categories[end]))) ++end;
    return marks;
  }
  return marks;
}

std::vector<StepMark> marks_by_graph(const KinetoTrace& t) {
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
  std::vector<StepMark> marks;
  for (const auto& [id, count] : kernels)
    if (10 * count >= 9 * most) marks.push_back({first[id], {}}), covered += count;
  if (static_cast<double>(covered) < kMostKernels * static_cast<double>(t.events.size())) return {};
  std::sort(marks.begin(), marks.end(),
            [](const StepMark& a, const StepMark& b) { return a.first < b.first; });
  return marks;
}

std::vector<StepMark> marks_by_sampling(const std::vector<std::size_t>& categories, std::size_t& end) {
  std::vector<StepMark> marks;
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

std::vector<StepMark> marks_by_repetition(const KinetoTrace& t) {
  std::map<std::uint32_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < t.events.size(); ++i) places[t.events[i].name].push_back(i);
  const std::vector<std::size_t>* rarest = nullptr;
  for (const auto& [name, at] : places)
    if (at.size() >= 2 && (rarest == nullptr || at.size() < rarest->size() ||
                           (at.size() == rarest->size() && at[0] < (*rarest)[0])))
      rarest = &at;
  std::vector<StepMark> marks;
  if (rarest == nullptr) return marks;
  for (const std::size_t i : *rarest) marks.push_back({i, {}});
  return marks;
}

std::vector<StepMark> marks_by_kernel(const KinetoTrace& t, const std::string& pattern) {
  std::vector<StepMark> marks;
  std::unordered_map<std::uint32_t, bool> fits;
  for (std::size_t i = 0; i < t.events.size(); ++i) {
    const auto [at, fresh] = fits.try_emplace(t.events[i].name, false);
    if (fresh) at->second = pattern_fits(pattern, t.names[at->first]);
    if (at->second) marks.push_back({i, {}});
  }
  return marks;
}

}  // namespace moe
