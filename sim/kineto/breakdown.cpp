#include "kineto/breakdown.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace moe {
namespace {

constexpr std::size_t kHost = static_cast<std::size_t>(Category::host);
constexpr double kMsPerNs = 1e-6;

constexpr std::int64_t kClockNs = 100;  // shorter gaps are the rounding of the profiler's clock, not counted

struct Edge {
  std::int64_t time_ns = 0;
  bool begins = false;
  std::size_t event = 0;
};

/// Time of one step, in nanoseconds by category.
struct Booked {
  std::array<std::int64_t, kKernelCategories> owned{}, hidden{}, wait{};
  std::array<std::size_t, kKernelCategories> calls{};
  std::int64_t busy = 0, short_gap = 0, long_gap = 0;
  std::size_t gaps = 0;
};

/// Compute before communication, then whoever began first.
std::size_t owner_of(const std::set<std::size_t>& active, const std::vector<std::size_t>& categories) {
  for (const std::size_t i : active)
    if (!is_communication(categories[i])) return i;
  return *active.begin();
}

void gap(Booked& b, std::int64_t ns) {
  if (ns <= 0) return;
  b.owned[kHost] += ns;
  if (ns >= kClockNs) ++b.gaps;
  (ns <= kShortGapNs ? b.short_gap : b.long_gap) += ns;
}

Booked book(const KinetoTrace& t, const TraceStep& s, const std::vector<std::size_t>& categories,
            const std::vector<std::int64_t>& waits) {
  Booked b;
  std::vector<Edge> edges;
  for (std::size_t i = s.first; i < s.last; ++i) {
    ++b.calls[categories[i]];
    if (!waits.empty()) b.wait[categories[i]] += waits[i];
    const std::int64_t end = std::min(t.events[i].end_ns, s.end_ns);
    if (end <= t.events[i].start_ns) continue;
    edges.push_back({t.events[i].start_ns, true, i});
    edges.push_back({end, false, i});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& c) {
    return std::tie(a.time_ns, a.begins, a.event) < std::tie(c.time_ns, c.begins, c.event);
  });
  std::set<std::size_t> active;  // by start, as events are sorted
  std::int64_t now = s.start_ns;
  for (const Edge& e : edges) {
    const std::int64_t passed = e.time_ns - now;
    if (active.empty()) {
      gap(b, passed);
    } else if (passed > 0) {
      const std::size_t owner = owner_of(active, categories);
      b.owned[categories[owner]] += passed;
      b.busy += passed;
      for (const std::size_t i : active)
        if (i != owner) b.hidden[categories[i]] += passed;
    }
    now = e.time_ns;
    if (e.begins)
      active.insert(e.event);
    else
      active.erase(e.event);
  }
  gap(b, s.end_ns - now);
  return b;
}

}  // namespace

std::vector<std::size_t> classify_events(const KinetoTrace& t, const KernelRules& rules) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
  std::vector<std::size_t> categories;
  categories.reserve(t.events.size());
  for (const GpuEvent& e : t.events) {
    const auto op = t.ops.find(e.op);
    const std::uint32_t op_name = op == t.ops.end() ? 0 : op->second.name;
    const auto [at, fresh] = known.try_emplace({e.name, op_name}, kUnclassified);
    if (fresh) at->second = classify(rules, t.names[e.name], t.names[op_name]);
    categories.push_back(at->second);
  }
  return categories;
}

void mark_lm_head(const KinetoTrace& t, const KernelRules& rules, const TraceSteps& steps,
                  std::vector<std::size_t>& categories) {
  constexpr auto kGemm = static_cast<std::size_t>(Category::dense_gemm),
                 kSampling = static_cast<std::size_t>(Category::sampling);
  for (const TraceStep& s : steps.steps) {
    std::size_t last = s.last;
    std::int64_t longest_other = 0;
    bool sampled = false;
    for (std::size_t i = s.first; i < s.last; ++i) {
      if (categories[i] == kSampling && last < s.last) sampled = true;
      if (categories[i] != kGemm) continue;
      if (last < s.last) longest_other = std::max(longest_other, t.events[last].duration_ns());
      last = i, sampled = false;
    }
    if (last == s.last) continue;
    // A second part of the same GEMM (split-K reduction) goes with it.
    const std::size_t part = t.names[t.events[last].name].find("splitK") != std::string::npos &&
                                     last > s.first && categories[last - 1] == kGemm &&
                                     t.events[last - 1].op == t.events[last].op
                                 ? last - 1
                                 : last;
    const double ratio = static_cast<double>(t.events[part].duration_ns()) /
                         static_cast<double>(std::max<std::int64_t>(longest_other, 1));
    if (!sampled && ratio < rules.lm_head_longer) continue;
    for (std::size_t i = part; i <= last; ++i) categories[i] = static_cast<std::size_t>(Category::lm_head);
  }
}

TracedBreakdown break_down(const KinetoTrace& t, const TraceSteps& steps,
                           const std::vector<std::size_t>& categories,
                           const std::vector<std::int64_t>& waits) {
  TracedBreakdown out;
  std::vector<double> times;
  std::unordered_map<std::uint32_t, std::map<std::size_t, TracedKernel>> kernels;
  for (const TraceStep& s : steps.steps) {
    if (!s.used) continue;
    ++out.used;
    times.push_back(static_cast<double>(s.end_ns - s.start_ns) * kMsPerNs);
    const Booked b = book(t, s, categories, waits);
    for (std::size_t c = 0; c < kKernelCategories; ++c) {
      TracedCategory& k = out.categories[c];
      k.ms += static_cast<double>(b.owned[c]) * kMsPerNs,
          k.hidden_ms += static_cast<double>(b.hidden[c]) * kMsPerNs;
      k.wait_ms += static_cast<double>(b.wait[c]) * kMsPerNs, k.calls += static_cast<double>(b.calls[c]);
    }
    out.busy_ms += static_cast<double>(b.busy) * kMsPerNs;
    out.short_gap_ms += static_cast<double>(b.short_gap) * kMsPerNs,
        out.long_gap_ms += static_cast<double>(b.long_gap) * kMsPerNs;
    out.gaps += static_cast<double>(b.gaps);
    for (std::size_t i = s.first; i < s.last; ++i) {
      TracedKernel& k = kernels[t.events[i].name][categories[i]];
      k.name = t.events[i].name, k.category = categories[i];
      k.ms += static_cast<double>(t.events[i].duration_ns()) * kMsPerNs, ++k.calls;
    }
  }
  const double n = out.used;
  for (const double ms : times) out.step_ms += ms / n;
  std::sort(times.begin(), times.end());
  out.median_ms = (times[times.size() / 2] + times[(times.size() - 1) / 2]) / 2;
  for (TracedCategory& c : out.categories) c.ms /= n, c.hidden_ms /= n, c.wait_ms /= n, c.calls /= n;
  out.busy_ms /= n, out.short_gap_ms /= n, out.long_gap_ms /= n, out.gaps /= n;
  for (const auto& [name, by_category] : kernels)
    for (auto [category, k] : by_category) k.ms /= n, k.calls /= n, out.kernels.push_back(k);
  std::sort(out.kernels.begin(), out.kernels.end(), [](const TracedKernel& a, const TracedKernel& b) {
    return std::tie(b.ms, a.name, a.category) < std::tie(a.ms, b.name, b.category);
  });
  return out;
}

}  // namespace moe
