#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kineto/report.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double value) { return std::round(value * 1e6) / 1e6; }
double share(double part, double whole) { return whole > 0 ? rounded(part / whole) : 0; }

Json steps_json(const TraceReport& r) {
  Json steps = Json::array();
  const std::int64_t begin = r.steps.steps[0].start_ns;
  for (const TraceStep& s : r.steps.steps)
    steps.push_back({{"start_ms", rounded(static_cast<double>(s.start_ns - begin) * 1e-6)},
                     {"ms", rounded(static_cast<double>(s.end_ns - s.start_ns) * 1e-6)},
                     {"kernels", s.last - s.first},
                     {"name", s.name},
                     {"prefill", s.prefill},
                     {"used", s.used}});
  return steps;
}

Json kernels_json(const TraceReport& r, bool unclassified) {
  Json list = Json::array();
  for (const TracedKernel& k : r.breakdown.kernels)
    if (!unclassified || k.category == kUnclassified)
      list.push_back({{"kernel", r.trace->names[k.name]},
                      {"category", category_name(k.category)},
                      {"ms", rounded(k.ms)},
                      {"share", share(k.ms, r.breakdown.step_ms)},
                      {"calls", rounded(k.calls)}});
  return list;
}

Json collectives_json(const TraceReport& r) {
  static const char* methods[] = {"none", "one_rank", "several_ranks"};
  Json list = Json::array();
  for (const TracedCollective& c : r.waiting.collectives) {
    double sum = 0;
    for (const std::size_t i : c.events) sum += static_cast<double>(r.trace->events[i].duration_ns()) / 1000;
    Json item{{"kernel", r.trace->names[c.name]},
              {"category", category_name(c.category)},
              {"calls", c.events.size()},
              {"mean_us", rounded(sum / static_cast<double>(c.events.size()))},
              {"transfer_us", rounded(c.transfer_us)},
              {"method", methods[static_cast<int>(c.method)]}};
    if (c.facts >= 0) {
      const CollectiveFacts& f = r.trace->collectives[static_cast<std::size_t>(c.facts)];
      item["op"] = f.op, item["elements"] = f.elements, item["dtype"] = f.dtype, item["ranks"] = f.ranks;
    }
    list.push_back(item);
  }
  return list;
}

}  // namespace

Json trace_json(const TraceReport& r, const std::vector<std::string>& warnings) {
  const TracedBreakdown& b = r.breakdown;
  Json out{{"schema", 1},
           {"file", r.trace->file},
           {"device", r.trace->device},
           {"rank", r.trace->rank},
           {"world_size", r.trace->world},
           {"steps_found_by", text_of(r.steps.method)},
           {"steps", steps_json(r)},
           {"steps_used", b.used},
           {"step_ms", rounded(b.step_ms)},
           {"step_median_ms", rounded(b.median_ms)},
           {"busy_ms", rounded(b.busy_ms)},
           {"idle",
            {{"ms", rounded(b.step_ms - b.busy_ms)},
             {"gaps", rounded(b.gaps)},
             {"short_gaps_ms", rounded(b.short_gap_ms)},
             {"long_gaps_ms", rounded(b.long_gap_ms)}}}};
  Json breakdown, list = Json::array();
  for (std::size_t c = 0; c < kKernelCategories; ++c) {
    const TracedCategory& k = b.categories[c];
    breakdown[std::string(category_name(c))] = rounded(k.ms);
    list.push_back({{"category", category_name(c)},
                    {"ms", rounded(k.ms)},
                    {"share", share(k.ms, b.step_ms)},
                    {"calls", rounded(k.calls)},
                    {"hidden_ms", rounded(k.hidden_ms)},
                    {"wait_ms", rounded(k.wait_ms)}});
  }
  out["breakdown_ms"] = breakdown;
  out["categories"] = list;
  out["waiting_known_by"] = text_of(r.waiting.method);
  out["collectives"] = collectives_json(r);
  Json ranks = Json::array();
  for (const RankLine& l : r.ranks)
    ranks.push_back({{"file", l.file},
                     {"rank", l.rank},
                     {"step_ms", rounded(l.step_ms)},
                     {"busy_ms", rounded(l.busy_ms)}});
  out["ranks"] = ranks;
  out["unclassified"] = kernels_json(r, true);
  out["kernels"] = kernels_json(r, false);
  if (r.simulated) {
    Json simulated;
    for (std::size_t c = 0; c < kCategoryNames.size(); ++c)
      simulated[std::string(kCategoryNames[c])] = rounded(r.simulated->breakdown_ms[c]);
    out["simulated"] = {{"experiment", r.simulated->experiment},
                        {"step_ms", rounded(r.simulated->step_ms)},
                        {"breakdown_ms", simulated}};
  }
  out["warnings"] = warnings;
  return out;
}

std::string trace_csv(const TraceReport& r) {
  std::string csv = "category,ms_per_step,share,calls_per_step,hidden_ms,wait_ms";
  csv += r.simulated ? ",simulated_ms\n" : "\n";
  for (std::size_t c = 0; c < kKernelCategories; ++c) {
    const TracedCategory& k = r.breakdown.categories[c];
    csv += fmt::format("{},{:.6f},{:.6f},{:g},{:.6f},{:.6f}", category_name(c), k.ms,
                       share(k.ms, r.breakdown.step_ms), k.calls, k.hidden_ms, k.wait_ms);
    if (r.simulated)
      csv += fmt::format(",{:.6f}", c < kCategoryNames.size() ? r.simulated->breakdown_ms[c] : 0);
    csv += "\n";
  }
  return csv;
}

}  // namespace moe
