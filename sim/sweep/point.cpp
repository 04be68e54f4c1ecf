#include "sweep/point.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "report/result.hpp"

namespace moe {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

std::vector<std::string> make_names() {
  std::vector<std::string> names{"step_ms", "tpot_ms", "tokens_per_s", "tokens_per_s_per_sequence", "interval90_low_ms",
                                 "interval90_high_ms", "theoretical_min_ms", "contention_ms", "flops_pct_of_peak",
                                 "memory_gib_per_gpu", "kv_capacity_tokens", "largest_batch", "active_experts", "rows", "gpus"};
  for (const std::string_view c : kCategoryNames) names.push_back("breakdown_ms." + std::string(c));
  return names;
}

std::vector<double> metrics_of(const Case& c, const Result& r) {
  double memory = 0;
  for (const RankMemory& m : r.memory.ranks) memory = std::max(memory, m.total() / kGiB);
  std::vector<double> out{r.step_ms, r.tpot_ms, r.tokens_per_s, r.tokens_per_s_per_sequence, r.interval_low_ms,
                          r.interval_high_ms, r.theoretical_min_ms, r.contention_ms, r.flops_pct_of_peak,
                          memory, r.memory.kv_capacity_tokens, r.memory.largest_batch, r.active_experts,
                          static_cast<double>(r.rows), static_cast<double>(c.experiment.gpus.size())};
  out.insert(out.end(), r.breakdown_ms.begin(), r.breakdown_ms.end());
  return out;
}

/// The first error, as one sentence; an illegal plan has a rule of its own.
void no_answer(Row& row, const InputError& e) {
  row.status = Status::infeasible;
  row.rule = "input";
  row.reason = e.what();
  for (const Diagnostic& d : e.diagnostics.all()) {
    if (!d.is_error) continue;
    row.reason = d.message;
    break;
  }
  if (row.reason.starts_with("illegal plan: ")) {
    row.rule = "illegal-plan";
    row.reason.erase(0, 14);
  }
}

}  // namespace

std::string_view name_of(Status status) {
  return status == Status::ok ? "ok" : status == Status::infeasible ? "infeasible" : "failed";
}

Status status_of(std::string_view name) {
  return name == "ok" ? Status::ok : name == "infeasible" ? Status::infeasible : Status::failed;
}

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = make_names();
  return names;
}

int metric_position(std::string_view name) {
  const auto& names = metric_names();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

Row evaluate_point(const Study& study, std::uint64_t index, CaseCache& cache) {
  Row row;
  row.index = index;
  const Overrides point = study.grid.point(index);
  for (const auto& [key, value] : point) row.axes.push_back(value);
  try {
    Overrides all = study.set;
    all.insert(all.end(), point.begin(), point.end());
    Diagnostics warnings;
    const Case c = load_case(study.file, all, warnings, &cache);
    EvaluateOptions options;
    options.what_if = options.detail = false;
    row.metrics = metrics_of(c, evaluate(c, options));
  } catch (const Infeasible& e) {
    row.status = Status::infeasible;
    row.rule = e.rule;
    row.reason = e.what();
  } catch (const InputError& e) {
    no_answer(row, e);
  } catch (const std::exception& e) {
    row.status = Status::failed;
    row.rule = "bug";
    row.reason = e.what();
  }
  return row;
}

}  // namespace moe
