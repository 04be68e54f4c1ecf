// The views of a replay: text, Markdown, JSON, CSV.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.hpp"
#include "program/program.hpp"
#include "report/replay.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

/// Sums over programs of what one category or kernel path took.
struct Total {
  std::string name;
  double simulated_us = 0, alone_us = 0, in_step_us = 0;
  std::vector<double> errors{};   ///< of every program, against the kernels alone
  double median() const {
    std::vector<double> v = errors;
    for (double& e : v) e = std::abs(e);
    return moe::median(v);
  }
};

template <class Key>
std::vector<Total> totals_by(const std::vector<ReplayedStep>& steps, Key key) {
  std::vector<Total> totals;
  for (const ReplayedStep& s : steps) {
    std::map<std::string, Total> mine;
    for (const ReplayedKernel& k : s.kernels) {
      Total& t = mine[key(k)];
      t.simulated_us += k.simulated_us;
      t.alone_us += k.alone_us;
      t.in_step_us += k.in_step_us;
    }
    for (const auto& [name, m] : mine) {
      auto found = std::find_if(totals.begin(), totals.end(), [&, n = name](const Total& t) { return t.name == n; });
      if (found == totals.end()) found = totals.insert(totals.end(), Total{name});
      found->simulated_us += m.simulated_us;
      found->alone_us += m.alone_us;
      found->in_step_us += m.in_step_us;
      if (m.alone_us > 0) found->errors.push_back(100 * (m.simulated_us / m.alone_us - 1));
    }
  }
  std::stable_sort(totals.begin(), totals.end(), [](const Total& a, const Total& b) { return a.simulated_us > b.simulated_us; });
  return totals;
}

std::vector<Total> by_category(const std::vector<ReplayedStep>& steps) {
  return totals_by(steps, [](const ReplayedKernel& k) { return k.category; });
}
std::vector<Total> by_path(const std::vector<ReplayedStep>& steps) {
  return totals_by(steps, [](const ReplayedKernel& k) { return k.path.empty() ? k.name : k.path; });
}

/// In milliseconds; what was not measured is a dash.
std::string in_step_ms(const Total& t) { return t.in_step_us != 0 ? fmt::format("{:.3f}", t.in_step_us * 1e-3) : "-"; }

double percent(double simulated, double measured) { return measured > 0 ? 100 * (simulated / measured - 1) : 0; }

std::string errors_line(const std::vector<ReplayedStep>& steps) {
  std::string text;
  const auto line = [&](const char* what, const ErrorSummary& e) {
    if (e.count > 0)
      text += fmt::format("step error  {:<23} {:>3} programs  median {:.1f} %  worst {:+.1f} % ({})\n", what, e.count,
                          e.median_pct, e.worst_pct, e.worst);
  };
  line("all", step_errors(steps, 0));
  line("1 GPU", step_errors(steps, 1));
  line("2 GPUs", step_errors(steps, 2));
  line("rank 0 alone, computing", first_rank_errors(steps));
  return text;
}

}  // namespace

std::string replay_text(const std::vector<ReplayedStep>& steps) {
  std::string text = fmt::format("{:<40} {:>6} {:>12} {:>12} {:>8}  90 % interval\n", "program", "layers", "simulated", "measured", "error");
  for (const ReplayedStep& s : steps) {
    if (!s.problem.empty()) text += fmt::format("{:<40} {:>6}  {}\n", s.name, s.layers, s.problem);
    else text += fmt::format("{:<40} {:>6} {:>9.3f} ms {:>9.3f} ms {:>+6.1f} %  {}\n", s.name, s.layers, s.simulated_us * 1e-3,
                             s.measured_us * 1e-3, s.error_pct(),
                             s.first_rank_alone ? "rank 0, no collectives" : s.measured_us < s.low_us || s.measured_us > s.high_us ? "outside" : "inside");
  }
  const auto table = [&](const char* title, const std::vector<Total>& totals) {
    text += fmt::format("\n{:<40} {:>12} {:>12} {:>12} {:>8} {:>14}\n", title, "simulated", "alone", "in the step", "error", "median error");
    for (const Total& t : totals)
      text += fmt::format("{:<40} {:>9.3f} ms {:>9.3f} ms {:>9} ms {:>+6.1f} % {:>12.1f} %\n", t.name, t.simulated_us * 1e-3,
                          t.alone_us * 1e-3, in_step_ms(t), percent(t.simulated_us, t.alone_us), t.median());
  };
  table("category, all programs", by_category(steps));
  table("kernel, all programs", by_path(steps));
  text += "\nerror: simulated against the kernels alone, summed over programs; median over programs\n\n";
  return text + errors_line(steps);
}

std::string replay_markdown(const std::vector<ReplayedStep>& steps, const std::string& profile) {
  std::string text = fmt::format("Written by `moe-sim validate-replay --markdown`, profile {}.\n\n```\n{}```\n\n", profile, errors_line(steps));
  text += "| model | plan | layers | batch | context | simulated ms | measured ms | error | |\n|---|---|---:|---:|---:|---:|---:|---:|---|\n";
  for (const ReplayedStep& s : steps)
    if (s.problem.empty())
      text += fmt::format("| {} {} | {}{} | {} | {} | {:.0f} | {:.3f} | {:.3f} | {:+.1f} % | {} |\n", s.model, s.checkpoint, s.plan, s.first_rank_alone ? ", rank 0" : "", s.layers,
                          s.sequences, s.context, s.simulated_us * 1e-3, s.measured_us * 1e-3, s.error_pct(),
                          std::abs(s.error_pct()) > 10 ? "**miss**" : "");
    else text += fmt::format("| {} {} | {} | {} | {} | {:.0f} | | | | {} |\n", s.model, s.checkpoint, s.plan, s.layers, s.sequences, s.context, s.problem);
  const auto table = [&](const char* title, const std::vector<Total>& totals) {
    text += fmt::format("\n| {} | simulated ms | alone ms | in the step ms | error | median error |\n|---|---:|---:|---:|---:|---:|\n", title);
    for (const Total& t : totals)
      text += fmt::format("| {} | {:.3f} | {:.3f} | {} | {:+.1f} % | {:.1f} % |\n", t.name, t.simulated_us * 1e-3, t.alone_us * 1e-3,
                          in_step_ms(t), percent(t.simulated_us, t.alone_us), t.median());
  };
  table("category", by_category(steps));
  table("kernel", by_path(steps));
  return text;
}

Json replay_json(const std::vector<ReplayedStep>& steps) {
  Json out = {{"schema", 1}};
  for (const auto& [ranks, key] : {std::pair{0, "all"}, {1, "gpus_1"}, {2, "gpus_2"}}) {
    const ErrorSummary e = step_errors(steps, ranks);
    out["step_error"][key] = {{"programs", e.count}, {"median_pct", e.median_pct}, {"worst_pct", e.worst_pct}, {"worst", e.worst}};
  }
  const ErrorSummary first = first_rank_errors(steps);
  out["step_error"]["first_rank"] = {{"programs", first.count}, {"median_pct", first.median_pct}, {"worst_pct", first.worst_pct}, {"worst", first.worst}};
  out["programs"] = Json::array();
  for (const ReplayedStep& s : steps) {
    Json row = {{"name", s.name}, {"model", s.model}, {"checkpoint", s.checkpoint}, {"plan", s.plan}, {"layers", s.layers},
                {"ranks", s.ranks}, {"first_rank_alone", s.first_rank_alone}, {"sequences", s.sequences}, {"context", s.context}};
    if (!s.problem.empty()) row["problem"] = s.problem;
    else row.update(Json{{"simulated_us", s.simulated_us}, {"interval90_us", {s.low_us, s.high_us}}, {"measured_us", s.measured_us}, {"error_pct", s.error_pct()}});
    row["kernels"] = Json::array();
    for (const ReplayedKernel& k : s.kernels)
      row["kernels"].push_back({{"name", k.name}, {"category", k.category}, {"path", k.path}, {"calls", k.calls},
                                {"simulated_us", k.simulated_us}, {"alone_us", k.alone_us}, {"in_step_us", k.in_step_us}});
    out["programs"].push_back(row);
  }
  return out;
}

std::string replay_csv(const std::vector<ReplayedStep>& steps) {
  std::string text = "program,name,category,path,calls,simulated_us,alone_us,in_step_us\n";
  for (const ReplayedStep& s : steps) {
    if (!s.problem.empty()) continue;
    text += fmt::format("{},step,,,1,{:.3f},{:.3f},{:.3f}\n", s.name, s.simulated_us, s.measured_us, s.measured_us);
    for (const ReplayedKernel& k : s.kernels)
      text += fmt::format("{},{},{},{},{},{:.3f},{:.3f},{:.3f}\n", s.name, k.name, k.category, k.path, k.calls, k.simulated_us,
                          k.alone_us, k.in_step_us);
  }
  return text;
}

}  // namespace moe
