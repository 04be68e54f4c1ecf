#include "search/search.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "config/override.hpp"
#include "experiment/files.hpp"
#include "machine/load.hpp"
#include "model/load.hpp"
#include "search/goals.hpp"

namespace moe {
namespace {

Experiment read_names(const SearchRequest& request) {
  Diagnostics out;
  Document doc = load_document(request.file, out);
  for (const auto& [key, value] : request.set)
    if (!key.starts_with("stack.")) set_value(doc.root, key, value, out);
  Experiment e;
  read_map(doc.root, "", out, [&](Fields& f) { bind_experiment(f, e); });
  if (out.has_errors()) throw InputError(std::move(out));
  return e;
}

template <class Load>
auto load_named(const SearchRequest& r, const char* key, const char* folder, const std::string& name, Load load) {
  const std::string path = find_data(folder, name, r.file);
  if (path.empty())
    throw InputError(fmt::format("no file for {} `{}`\n  = help: {}", key, name, suggestion(name, data_names(folder, r.file))));
  Diagnostics out;
  auto value = load(path, out);
  if (out.has_errors()) throw InputError(std::move(out));
  return value;
}

const Checkpoint& checkpoint_of(const Model& model, const std::string& id) {
  for (const Checkpoint& c : model.checkpoints)
    if (id.empty() || c.id == id) return c;
  throw InputError(fmt::format("{} has no checkpoint `{}`", model.name, id));
}

/// Axes of the study: all plans, then batch, then what the user adds. An experiment that speculates is also asked with
/// fewer drafts, down to none.
void make_study(const SearchRequest& r, const Experiment& e, SearchResult& out) {
  const std::vector<std::string> known = sweepable_keys();
  Study& s = out.study;
  s.file = r.file;
  s.set = r.set;
  for (const char* reset : {"plan.moe_tp", "plan.moe_ep"}) s.set.emplace_back(reset, "1");
  s.set.emplace_back("gpus", std::to_string(out.gpus));
  s.grid.axes = {out.space.axis};
  for (const std::string& text : r.axes) s.grid.axes.push_back(parse_axis(text, known));
  const auto keys = s.grid.keys();
  if (std::find(keys.begin(), keys.end(), "batch.sequences") == keys.end())
    s.grid.axes.push_back(parse_axis("batch.sequences=1..512x2", known));
  if (e.speculation.k > 0 && std::find(keys.begin(), keys.end(), "speculation.k") == keys.end())
    s.grid.axes.push_back(parse_axis(fmt::format("speculation.k=0..{}", e.speculation.k), known));
  check_study(s);
}

Candidate candidate_of(const Study& study, Row row) {
  Candidate c;
  c.plan = plan_text(plan_of(row.axes));
  const auto keys = study.grid.keys();
  for (std::size_t i = kPlanKeys.size(); i < keys.size(); ++i) {
    if (keys[i] == "batch.sequences") c.sequences = static_cast<int>(parse_quantity(row.axes[i], Unit::count).value);
    else c.plan += fmt::format(" · {} {}", keys[i], row.axes[i]);
  }
  c.row = std::move(row);
  c.user = c.metric("tokens_per_s_per_sequence");
  c.total = c.metric("tokens_per_s");
  return c;
}

void sort_answers(const SearchRequest& r, std::vector<Row> rows, SearchResult& out) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.index < b.index; });
  for (Row& row : rows) {
    if (row.status != Status::ok) {
      auto& [n, example] = out.no_answer[row.rule];
      if (n++ == 0) example = row.reason;
      continue;
    }
    ++out.answered;
    Candidate c = candidate_of(out.study, std::move(row));
    const bool within = (r.max_tpot_ms <= 0 || c.metric("tpot_ms") <= r.max_tpot_ms) &&
                        c.user >= r.min_user_tokens_per_s && c.sequences >= r.min_concurrency;
    if (within) out.all.push_back(std::move(c));
  }
}

}  // namespace

double Candidate::metric(std::string_view name) const {
  return row.metrics.at(static_cast<std::size_t>(metric_position(name)));
}

double SearchResult::dollars_per_million(const Candidate& c) const { return price_per_hour / (c.total * 3600) * 1e6; }
double SearchResult::joules_per_token(const Candidate& c) const { return power_watts / c.total; }

SearchResult search(const SearchRequest& r, const std::function<void(const Study&)>& started,
                    const std::function<void(const std::vector<Row>&)>& sink) {
  const auto before = std::chrono::steady_clock::now();
  SearchResult out;
  const Experiment e = read_names(r);
  const Model model = load_named(r, "model", kModels, e.model, [](auto& p, auto& d) { return load_model(p, d); });
  const Machine machine = load_named(r, "machine", kTopologies, e.machine, [](auto& p, auto& d) { return load_machine(p, d); });
  const Checkpoint& checkpoint = checkpoint_of(model, e.checkpoint);
  out.model = model.name, out.checkpoint = checkpoint.id, out.machine = machine.name;
  out.repository = checkpoint.repository.empty() ? model.repository : checkpoint.repository;
  out.price_per_hour = machine.price_per_hour, out.power_watts = machine.power_watts;
  out.gpus = e.gpus.empty() ? static_cast<int>(machine.gpus.size()) : static_cast<int>(e.gpus.size());
  out.space = plan_space(model, checkpoint, out.gpus);
  if (out.space.axis.values.empty())
    throw InputError(fmt::format("no legal plan of {} on {} GPUs: {}", model.name, out.gpus,
                                 out.space.dropped.empty() ? "" : out.space.dropped.begin()->first));
  make_study(r, e, out);
  if (started) started(out.study);
  out.points = out.study.grid.size();
  std::vector<std::uint64_t> todo(out.points);
  for (std::uint64_t i = 0; i < out.points; ++i) todo[i] = i;
  std::vector<Row> rows;
  CaseCache cache;
  RunnerOptions options;
  options.threads = r.threads;
  run_points(out.study, todo, cache, [&](std::vector<Row>&& some) {
    if (sink) sink(some);
    std::move(some.begin(), some.end(), std::back_inserter(rows));
  }, options);
  sort_answers(r, std::move(rows), out);
  out.front = pareto_front(out.all);
  out.goals = goals_of(out.all);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  return out;
}

}  // namespace moe
