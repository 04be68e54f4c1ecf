#include "validate/run.hpp"

#include <fmt/core.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "experiment/cache.hpp"
#include "validate/measured.hpp"

namespace moe {
namespace {

double load_number(const MappedRow& m, const char* key, double otherwise) {
  const auto found = m.load.find(key);
  const double value = found == m.load.end() ? otherwise : number_of(found->second);
  return std::isnan(value) ? otherwise : value;
}

Case case_of(const MappedRow& m, const std::string& name, CaseCache& cache) {
  Diagnostics ignored;
  const Document doc = parse_document(m.experiment(), name, ignored);
  if (ignored.has_errors()) throw InputError(std::move(ignored));
  return load_case(doc, {}, ignored, &cache);
}

Result simulate(const Case& c) {
  EvaluateOptions options;
  options.what_if = options.detail = false;
  return evaluate(c, options);
}

/// The cache of a benchmark cell grows while it runs: on average by half of what a sequence answers in the cell's time.
double answered_tokens(const MappedRow& m, double tpot_ms) {
  const double seconds = load_number(m, kLoadSeconds, 0), most = load_number(m, kLoadTokens, 1e9);
  return std::min(most, seconds * 1e3 / tpot_ms);
}

/// The row's context, what the chat template adds, and half of the answer, by the simulator's own speed.
void grow_context(MappedRow& m, const std::string& name, CaseCache& cache) {
  const double stated = number_of(m.keys["batch.context"]);
  const double prompt = (std::isnan(stated) ? 0 : stated) + load_number(m, kLoadPrompt, 0);
  m.keys["batch.context"] = fmt::format("{:.0f}", prompt);
  const auto one = m.load.find(kLoadOnePrompt);
  if (one != m.load.end() && one->second == "true") m.keys["batch.shared_prefix"] = m.keys["batch.context"];
  if (m.load.count(kLoadSeconds) == 0) return;
  const double tpot_ms = simulate(case_of(m, name, cache)).tpot_ms;
  m.keys["batch.context"] = fmt::format("{:.0f}", prompt + answered_tokens(m, tpot_ms) / 2);
}

std::string plan_name(const Plan& p) {
  std::string out = fmt::format("tp{}", p.tp);
  for (const auto& [name, n] : {std::pair{"ep", p.moe_ep > 1 ? p.moe_ep : p.ep}, {"dp", p.dp}, {"pp", p.pp}, {"dcp", p.dcp}})
    if (n > 1) out += fmt::format(" {}{}", name, n);
  return out;
}

void describe_case(const Case& c, const MappedRow& m, ValidatedRow& out) {
  const Experiment& e = c.experiment;
  out.model = e.model;
  out.checkpoint = e.checkpoint;
  out.stack = e.stack;
  out.machine = e.machine;
  out.plan = plan_name(e.plan);
  out.batch = e.batch.sequences;
  out.drafts = e.speculation.drafts(e.batch.sequences);
  out.documented = c.stack.documented;
  for (const MapUnknown& u : m.unknown) out.unknown.push_back(u.what);
}

void compare_result(const Result& r, ValidatedRow& out) {
  const bool token = !out.per_step, speculates = r.speculation.on;
  out.step_ms = r.step_ms;
  out.spread = r.spread;
  out.graph = r.graph;
  out.breakdown_ms = r.breakdown_ms;
  out.simulated_ms = token ? r.tpot_ms : r.step_ms;
  out.low_ms = token && speculates ? r.speculation.tpot_low_ms : r.interval_low_ms;
  out.high_ms = token && speculates ? r.speculation.tpot_high_ms : r.interval_high_ms;
  out.simulated = true;
}

std::string first_error(const InputError& e) {
  for (const Diagnostic& d : e.diagnostics.all())
    if (d.is_error) return d.message;
  return e.what();
}

/// Names the experiment of a row. The files that it names are those beside the mapping.
std::string experiment_name(const Mapping& mapping, const CsvRow& row) {
  const std::size_t slash = mapping.file.rfind('/');
  return fmt::format("{}line {}", slash == std::string::npos ? "" : mapping.file.substr(0, slash + 1), row.line);
}

ValidatedRow run_row(const Mapping& mapping, const CsvTable& table, const CsvRow& row, CaseCache& cache) {
  ValidatedRow out;
  out.line = row.line;
  out.id = table.text(row, "id");
  out.source = table.text(row, "source_url");
  const double context = number_of(table.text(row, "context_tokens"));
  out.context = std::isnan(context) ? 0 : context;
  const Measured measured = measured_of(table, row);
  MappedRow m = apply(mapping, table, row);
  out.family = m.load[kFamily];
  out.used_for_fit = m.load[kUsedForFit];
  out.sets_widths = (fnv1a(out.source.empty() ? out.id : out.source, kFnvOffset) >> 44 & 1) != 0;
  out.reason = m.reject.empty() ? measured.problem : m.reject;
  out.rule = m.reject.empty() ? "metric" : m.step;
  if (!out.reason.empty()) return out;
  out.measured_ms = measured.ms;
  out.per_step = measured.per_step;
  const std::string name = experiment_name(mapping, row);
  try {
    grow_context(m, name, cache);
    const Case c = case_of(m, name, cache);
    describe_case(c, m, out);
    compare_result(simulate(c), out);
  } catch (const Infeasible& e) {
    out.reason = e.what();
    out.rule = e.rule;
  } catch (const InputError& e) {
    out.reason = first_error(e);
    out.rule = "input";
  }
  return out;
}

}  // namespace

Validation validate(const Mapping& mapping, const CsvTable& table, const ValidateOptions& options) {
  Validation v{table.file, mapping.file, std::vector<ValidatedRow>(table.rows.size())};
  CaseCache cache;
  std::atomic<std::size_t> next{0};
  std::size_t done = 0;
  std::mutex mutex;
  const int threads = options.threads > 0 ? options.threads : oneapi::tbb::info::default_concurrency();
  oneapi::tbb::task_arena arena(threads);
  arena.execute([&] {
    oneapi::tbb::parallel_for(0, threads, [&](int) {
      for (std::size_t i = next++; i < table.rows.size(); i = next++) {
        v.rows[i] = run_row(mapping, table, table.rows[i], cache);
        const std::lock_guard lock(mutex);
        if (options.progress) options.progress(++done, table.rows.size());
      }
    });
  });
  return v;
}

std::string experiment_of(const Mapping& mapping, const CsvTable& table, const CsvRow& row, std::string& reason) {
  CaseCache cache;
  MappedRow m = apply(mapping, table, row);
  reason = m.reject;
  if (!reason.empty()) return {};
  grow_context(m, experiment_name(mapping, row), cache);
  return m.experiment();
}

}  // namespace moe
