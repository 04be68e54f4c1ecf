#include "report/replay.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.hpp"
#include "report/program.hpp"
#include "report/result.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

/// Simulated kernels of rank 0 by name, in the order of first use; `alone`: without collectives.
std::vector<ReplayedKernel> kernels_of(const RecordedStep& step, bool alone) {
  std::vector<ReplayedKernel> kernels;
  for (std::size_t i = 0; i < step.lowered.calls.size(); ++i) {
    const Call& call = step.lowered.calls[i];
    if (call.rank != 0 || call.shape.op_class == "gap" || (alone && !call.group.empty())) continue;
    auto found = std::find_if(kernels.begin(), kernels.end(), [&](const ReplayedKernel& k) { return k.name == call.name; });
    if (found == kernels.end()) {
      kernels.push_back({call.name, std::string(name_of(step.category[i])), call.path});
      found = kernels.end() - 1;
    }
    ++found->calls;
    found->simulated_us += step.call_us[i];
  }
  return kernels;
}

void simulate(ReplayedStep& out, const Json& r, const Overrides& set) {
  const Json& origin = r.at("experiment");
  Overrides all;
  for (const Json& pair : origin.at("set")) all.emplace_back(pair.at(0), pair.at(1));
  all.insert(all.end(), set.begin(), set.end());
  Diagnostics warnings;
  const Case c = load_case(origin.at("file"), all, warnings);
  const RecordedStep step = recorded_step(c);
  out.plan = plan_text(c.experiment.plan);
  out.sequences = c.experiment.batch.sequences;
  out.context = c.experiment.batch.mean_context();
  if (step.hash != r.at("hash")) {
    out.problem = "the program that was executed is another one: emit and replay it again";
    return;
  }
  EvaluateOptions options;
  options.what_if = options.detail = false;
  const Result result = evaluate(c, options);
  out.simulated_us = to_ms(step.timeline.makespan) * 1e3;
  out.low_us = result.interval_low_ms * 1e3;
  out.high_us = result.interval_high_ms * 1e3;
  out.measured_us = r.at("step_us").at("median");
  out.kernels = kernels_of(step, out.first_rank_alone);
  if (out.first_rank_alone) {
    // The interval of the whole step is not one of this part.
    out.simulated_us = out.low_us = out.high_us = 0;
    for (std::size_t i = 0; i < step.lowered.calls.size(); ++i)
      if (step.lowered.calls[i].rank == 0 && step.lowered.calls[i].group.empty()) out.simulated_us += step.call_us[i];
  }
  for (const Json& o : r.at("ops"))
    for (ReplayedKernel& k : out.kernels)
      if (k.name == o.at("name")) k.alone_us = o.at("alone_us"), k.in_step_us = o.at("in_step_us");
}

}  // namespace

std::vector<ReplayedStep> compare_replay(const Json& results, const std::string& file, const Overrides& set) {
  std::vector<ReplayedStep> steps;
  try {
    if (results.at("kind") != "moe-calibrate replay" || results.at("schema") != 1)
      throw InputError(fmt::format("`{}` is no result of `moe-calibrate replay` that this release reads\n", file));
    for (const Json& r : results.at("results")) {
      ReplayedStep s;
      s.name = r.at("name");
      s.model = r.at("model");
      s.checkpoint = r.at("checkpoint");
      s.layers = r.at("layers");
      s.ranks = r.at("ranks");
      s.first_rank_alone = r.value("first_rank_alone", false);
      if (r.contains("refused")) s.problem = "not executed: " + r["refused"].at(0).get<std::string>();
      else simulate(s, r, set);
      steps.push_back(std::move(s));
    }
  } catch (const nlohmann::json::exception& e) {
    throw InputError(fmt::format("`{}` is no result of `moe-calibrate replay`: {}\n", file, e.what()));
  }
  return steps;
}

namespace {

template <class Wanted>
ErrorSummary errors_of(const std::vector<ReplayedStep>& steps, Wanted wanted) {
  ErrorSummary out;
  std::vector<double> errors;
  for (const ReplayedStep& s : steps) {
    if (!s.problem.empty() || !wanted(s)) continue;
    const double error = s.error_pct();
    errors.push_back(std::abs(error));
    if (std::abs(error) > std::abs(out.worst_pct)) out.worst_pct = error, out.worst = s.name;
  }
  out.count = static_cast<int>(errors.size());
  out.median_pct = median(errors);
  return out;
}

}  // namespace

ErrorSummary step_errors(const std::vector<ReplayedStep>& steps, int ranks) {
  return errors_of(steps, [&](const ReplayedStep& s) { return !s.first_rank_alone && (ranks == 0 || s.ranks == ranks); });
}

ErrorSummary first_rank_errors(const std::vector<ReplayedStep>& steps) {
  return errors_of(steps, [](const ReplayedStep& s) { return s.first_rank_alone; });
}

}  // namespace moe
