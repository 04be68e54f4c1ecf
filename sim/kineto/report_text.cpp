#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "kineto/report.hpp"

namespace moe {
namespace {

std::string ms(double value) { return fmt::format("{:.3f} ms", value); }
std::string percent(double part, double whole) {
  return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0);
}
std::string calls(double value) { return value == 0 ? "" : fmt::format("{:.4g}", value); }

/// Kernel names can be thousands of characters of templates: the beginning without return type tells them
/// apart.
std::string brief(std::string name) {
  for (const char* word : {"void ", "(anonymous namespace)::"})
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word))
      name.erase(at, std::string(word).size());
  constexpr std::size_t kMost = 72;
  return name.size() > kMost ? name.substr(0, kMost - 3) + "..." : name;
}

int element_bytes(const std::string& dtype) {
  if (dtype.find("8") != std::string::npos || dtype == "Byte" || dtype == "Char") return 1;
  return dtype == "Float" || dtype == "Int" ? 4 : dtype == "Long" || dtype == "Double" ? 8 : 2;
}

std::string head(const TraceReport& r) {
  const KinetoTrace& t = *r.trace;
  std::string text = std::filesystem::path(t.file).filename().string();
  if (!t.device.empty()) text += "   " + t.device;
  if (t.rank >= 0) text += fmt::format(" · rank {} of {}", t.rank, t.world);
  text += fmt::format(" · {} kernels and copies\n", t.events.size());
  text += fmt::format("{} step{}, found by {}; {} used\n\n", r.steps.steps.size(),
                      r.steps.steps.size() == 1 ? "" : "s", text_of(r.steps.method), r.breakdown.used);
  std::string others;
  for (const TraceStep& s : r.steps.steps)
    if (!s.used)
      others += (others.empty() ? "" : ", ") +
                fmt::format("{:.3f}", static_cast<double>(s.end_ns - s.start_ns) * 1e-6);
  const TracedBreakdown& b = r.breakdown;
  text += fmt::format("  one step      {:>12}   mean of {}, median {}{}\n", ms(b.step_ms), b.used,
                      ms(b.median_ms), others.empty() ? "" : "; left out: " + others.substr(0, 60) + " ms");
  text += fmt::format("  GPU busy      {:>12}   {}\n", ms(b.busy_ms), percent(b.busy_ms, b.step_ms));
  text += fmt::format(
      "  GPU idle      {:>12}   {}: {:.4g} gaps; {} in gaps up to {:g} us, {} in longer ones (waiting for a "
      "launch)\n",
      ms(b.step_ms - b.busy_ms), percent(b.step_ms - b.busy_ms, b.step_ms), b.gaps, ms(b.short_gap_ms),
      static_cast<double>(kShortGapNs) / 1000, ms(b.long_gap_ms));
  return text;
}

std::string categories(const TraceReport& r) {
  const TracedBreakdown& b = r.breakdown;
  const auto any = [&](double TracedCategory::*field) {
    return std::any_of(b.categories.begin(), b.categories.end(),
                       [&](const TracedCategory& c) { return c.*field >= 0.0005; });
  };
  const bool hidden = any(&TracedCategory::hidden_ms), waits = any(&TracedCategory::wait_ms),
             against = r.simulated.has_value();
  TextTable table(std::string("lrrrr") + (hidden ? "r" : "") + (waits ? "r" : "") + (against ? "rr" : ""));
  const auto row = [&](std::vector<std::string> cells, const std::string& h, const std::string& w,
                       const std::string& s, const std::string& d) {
    if (hidden) cells.push_back(h);
    if (waits) cells.push_back(w);
    if (against) cells.push_back(s), cells.push_back(d);
    table.row(std::move(cells));
  };
  row({"category", "ms/step", "share", "calls/step", "us/call"}, "beside", "waiting", "simulated ms",
      "traced/simulated");
  for (std::size_t c = 0; c < kKernelCategories; ++c) {
    const TracedCategory& k = b.categories[c];
    const double simulated = against && c < kCategoryNames.size() ? r.simulated->breakdown_ms[c] : 0;
    if (k.calls == 0 && k.ms == 0 && simulated == 0) continue;
    row({std::string(category_name(c)), fmt::format("{:.3f}", k.ms), percent(k.ms, b.step_ms), calls(k.calls),
         k.calls > 0 ? fmt::format("{:.2f}", 1000 * (k.ms + k.hidden_ms) / k.calls) : ""},
        fmt::format("{:.3f}", k.hidden_ms), k.wait_ms > 0 ? fmt::format("{:.3f}", k.wait_ms) : "",
        fmt::format("{:.3f}", simulated),
        simulated > 0 && k.ms > 0 ? fmt::format("{:.2f}", k.ms / simulated) : "-");
  }
  row({"step", fmt::format("{:.3f}", b.step_ms), "100.0 %", "", ""}, "", "",
      against ? fmt::format("{:.3f}", r.simulated->step_ms) : "",
      against ? fmt::format("{:.2f}", b.step_ms / r.simulated->step_ms) : "");
  std::string text = "\nwhere the step goes   adds up to the step; idle time is `host`\n" + table.render();
  if (hidden) text += "  beside: ran while another kernel, whose time it is, was running\n";
  if (waits) text += "  waiting: inside collectives, for other ranks; " + text_of(r.waiting.method) + "\n";
  if (against)
    text += fmt::format(
        "  simulated: {}. Kernel names do not tell shared_experts, router and draft GEMMs from dense_gemm: "
        "compare the sums.\n",
        r.simulated->experiment);
  return text;
}

std::string collectives(const TraceReport& r) {
  if (r.waiting.collectives.empty()) return {};
  TextTable table("lrrrrl");
  table.row({"collective", "bytes", "calls", "us/call", "without waiting", ""});
  for (const TracedCollective& c : r.waiting.collectives) {
    double sum = 0;
    for (const std::size_t i : c.events) sum += static_cast<double>(r.trace->events[i].duration_ns()) / 1000;
    const CollectiveFacts* f =
        c.facts >= 0 ? &r.trace->collectives[static_cast<std::size_t>(c.facts)] : nullptr;
    const std::string bytes = f == nullptr || f->elements <= 0
                                  ? ""
                                  : grouped(static_cast<double>(f->elements * element_bytes(f->dtype)));
    const auto n = static_cast<double>(c.events.size());
    table.row({brief(r.trace->names[c.name]), bytes, fmt::format("{}", c.events.size()),
               fmt::format("{:.2f}", sum / n),
               c.method == WaitMethod::none
                   ? ""
                   : fmt::format("{}{:.2f}", c.method == WaitMethod::one_rank ? "<= " : "", c.transfer_us),
               c.method == WaitMethod::none ? "called once" : ""});
  }
  return "\ncollectives   all calls of the trace, steps left out included\n" + table.render();
}

std::string kernels(const TraceReport& r, std::size_t rows) {
  TextTable table("rrrll");
  table.row({"ms/step", "share", "calls/step", "category", "kernel"});
  std::size_t shown = 0;
  for (const TracedKernel& k : r.breakdown.kernels) {
    if (k.category != kUnclassified && shown >= rows) continue;
    if (k.category != kUnclassified) ++shown;
    table.row({fmt::format("{:.3f}", k.ms), percent(k.ms, r.breakdown.step_ms), calls(k.calls),
               std::string(category_name(k.category)), brief(r.trace->names[k.name])});
  }
  const TracedCategory& u = r.breakdown.categories[kUnclassified];
  return "\nlongest kernels, and every one that no rule knows\n" + table.render() +
         (u.calls == 0 ? "  every kernel is classified\n"
                       : fmt::format("  unclassified: {} of the step; add rules with --rules "
                                     "(calibration/mappings/kernels.yaml)\n",
                                     percent(u.ms, r.breakdown.step_ms)));
}

}  // namespace

std::string trace_text(const TraceReport& r, std::size_t rows) {
  std::string text = head(r) + categories(r) + collectives(r);
  if (r.ranks.size() > 1) {
    TextTable table("rrrl");
    table.row({"rank", "step", "busy", "file"});
    for (const RankLine& l : r.ranks)
      table.row({l.rank < 0 ? "?" : std::to_string(l.rank), ms(l.step_ms), ms(l.busy_ms), l.file});
    text += "\nranks\n" + table.render();
  }
  return text + kernels(r, rows);
}

}  // namespace moe
