// moe-sim import-trace: where does the time of a real decode step go?
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/import_commands.hpp"
#include "experiment/files.hpp"
#include "kineto/report.hpp"
#include "kineto/shapes.hpp"
#include "report/result.hpp"

namespace moe {
namespace {

KernelRules rules_of(const std::string& given, Diagnostics& found) {
  const std::string file = given.empty() ? find_data("calibration/mappings", "kernels", "") : given;
  if (file.empty())
    throw InputError("calibration/mappings/kernels.yaml is not found; name a rule file with --rules");
  return load_kernel_rules(file, found);
}

SimulatedStep simulate(const std::string& experiment, const Streams& s) {
  Diagnostics warnings;
  const Case c = load_case(experiment, {}, warnings);
  s.err << warnings.render(false);
  const Result r = evaluate(c, {});
  return {c.experiment.name, r.step_ms, r.breakdown_ms};
}

void write_rows(const ImportTraceArguments& a, const TraceReport& r,
                const std::vector<std::size_t>& categories, Diagnostics& found, const Streams& s) {
  const std::vector<MeasuredFile> files =
      measured_rows(*r.trace, r.steps, categories, r.waiting, a.engine, found);
  if (files.empty())
    throw InputError(fmt::format(
        "{} holds no kernel whose sizes are known\n  = help: record with record_shapes=True, and without "
        "CUDA graphs, which hide the operators",
        r.trace->file));
  std::error_code error;
  std::filesystem::create_directories(a.out, error);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream file(a.out + "/" + name, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw InputError(fmt::format("cannot write `{}/{}`", a.out, name));
  };
  for (const MeasuredFile& f : files) {
    write(f.name, f.text);
    s.err << fmt::format("wrote {}/{}: {} rows\n", a.out, f.name, f.rows);
  }
  write("protocol.yaml",
        protocol_text("profiler trace " + std::filesystem::path(r.trace->file).filename().string()));
}

}  // namespace

int import_trace_command(const ImportTraceArguments& a, const Streams& s) {
  Diagnostics found;
  const KernelRules rules = rules_of(a.rules, found);
  std::vector<KinetoTrace> traces;
  for (const std::string& file : a.files) traces.push_back(read_kineto(file, found));
  if (found.has_errors()) throw InputError(found);

  TraceReport report;
  std::vector<std::vector<std::size_t>> categories;
  std::vector<TraceSteps> steps;
  std::vector<const KinetoTrace*> ranks;
  for (const KinetoTrace& t : traces) {
    categories.push_back(classify_events(t, rules));
    steps.push_back(find_steps(t, rules, categories.back(), {a.step_begin, a.skip}, found));
    mark_lm_head(t, rules, steps.back(), categories.back());
    ranks.push_back(&t);
  }
  report.trace = ranks[0];
  report.steps = steps[0];
  report.waiting = find_waiting(ranks, categories, found);
  report.breakdown = break_down(traces[0], steps[0], categories[0], report.waiting.waits_ns);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const TracedBreakdown b = i == 0 ? report.breakdown : break_down(traces[i], steps[i], categories[i], {});
    report.ranks.push_back({traces[i].file, traces[i].rank, b.step_ms, b.busy_ms});
  }
  if (!a.against.empty()) report.simulated = simulate(a.against, s);
  if (!a.out.empty()) write_rows(a, report, categories[0], found, s);

  s.err << found.render(false);
  std::vector<std::string> warnings;
  for (const Diagnostic& d : found.all()) warnings.push_back(d.message);
  if (a.json)
    s.out << trace_json(report, warnings).dump(2) << "\n";
  else if (a.csv)
    s.out << trace_csv(report);
  else
    s.out << trace_text(report, static_cast<std::size_t>(std::max(a.rows, 0)));
  return kAnswered;
}

}  // namespace moe
