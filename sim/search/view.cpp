#include "search/view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "search/flags.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

Launchable launchable(const SearchResult& r, const Candidate& c) {
  Launchable w;
  w.repository = r.repository;
  w.plan = plan_of(c.row.axes);
  w.sequences = c.sequences;
  Overrides all = r.study.set;
  const Overrides point = r.study.grid.point(c.row.index);
  all.insert(all.end(), point.begin(), point.end());
  Diagnostics warnings;
  const Case k = load_case(r.study.file, all, warnings);
  // Room for the answer as well: the next power of two above the cached tokens.
  for (w.context = 1024; w.context <= k.experiment.batch.max_context(); w.context *= 2) {}
  w.fp8_kv = k.experiment.kv_dtype == KvDtype::fp8;
  w.memory_fraction = k.experiment.memory_fraction > 0 ? k.experiment.memory_fraction : k.stack.memory_fraction;
  w.speculation = k.experiment.speculation;
  if (k.draft != nullptr && w.speculation.method != Speculation::Method::mtp) w.draft_repository = k.draft->model.repository;
  return w;
}

Json candidate_json(const SearchResult& r, const Candidate& c) {
  Json out{{"plan", c.plan}, {"batch", c.sequences}};
  for (const auto& [key, value] : r.study.grid.point(c.row.index)) out["set"][key] = value;
  for (const char* m : {"step_ms", "tpot_ms", "tokens_per_s_per_sequence", "tokens_per_s", "memory_gib_per_gpu"}) out[m] = c.metric(m);
  out["interval90_ms"] = {c.metric("interval90_low_ms"), c.metric("interval90_high_ms")};
  if (r.price_per_hour > 0) out["usd_per_million_tokens"] = r.dollars_per_million(c);
  if (r.power_watts > 0) out["joules_per_token"] = r.joules_per_token(c);
  return out;
}

std::string front_table(const SearchResult& r) {
  TextTable t("lrrrrrr");
  t.row({"plan", "batch", "tokens/s per user", "tokens/s", "step ms", "90 % interval", r.price_per_hour > 0 ? "$/Mtoken" : ""});
  for (const Candidate& c : r.front)
    t.row({c.plan, std::to_string(c.sequences), significant(c.user), significant(c.total), significant(c.metric("step_ms")),
           significant(c.metric("interval90_low_ms")) + "–" + significant(c.metric("interval90_high_ms")),
           r.price_per_hour > 0 ? significant(r.dollars_per_million(c)) : ""});
  return t.render();
}

std::string goal_text(const SearchResult& r, const Goal& g) {
  std::string out = fmt::format("\n{}\n  {} at batch {}: {} tokens/s per user, {} tokens/s in total\n", g.name, g.best.plan,
                                g.best.sequences, significant(g.best.user), significant(g.best.total));
  if (r.power_watts > 0) out += fmt::format("  energy     {} J per token\n", significant(r.joules_per_token(g.best)));
  if (!g.second.plan.empty()) {
    out += fmt::format("  runner-up  {} at batch {}: {} per user, {} in total\n", g.second.plan, g.second.sequences,
                       significant(g.second.user), significant(g.second.total));
    out += fmt::format("  why        {}\n", g.reason);
    out += fmt::format("  how sure   {:.0f} % that it is faster{}\n", 100 * g.sure,
                       g.overlap ? "; the 90 % intervals overlap, measure both" : "; the 90 % intervals do not overlap");
  }
  const Launchable w = launchable(r, g.best);
  for (const LaunchFlags& f : {vllm_flags(w), sglang_flags(w)}) {
    out += "  " + f.command + "\n";
    for (const std::string& note : f.notes) out += "    # " + note + "\n";
  }
  return out;
}

}  // namespace

Chart pareto_chart(const SearchResult& r) {
  Chart c;
  c.title = fmt::format("{} {} on {}", r.model, r.checkpoint, r.machine);
  c.x_label = "tokens/s per user";
  c.y_label = "tokens/s in total";
  c.log_x = c.log_y = true;
  auto point = [](const Candidate& k) {
    return ChartPoint{k.user, k.total, fmt::format("{} · batch {}\n{} tokens/s per user, {} in total", k.plan, k.sequences, significant(k.user), significant(k.total))};
  };
  ChartSeries front{"nobody beats these", {}, true, true}, all{"all other plans", {}, false, true};
  for (const Candidate& k : r.front) front.points.push_back(point(k));
  for (const Candidate& k : r.all) all.points.push_back(point(k));
  c.series = {front, all};
  return c;
}

std::string search_text(const SearchResult& r) {
  std::string out = fmt::format("{} {} on {} GPUs of {}   {} legal plans, {} points, {} with an answer, {} within the limits ({} s)\n",
                                r.model, r.checkpoint, r.gpus, r.machine, r.space.axis.values.size(), grouped(static_cast<double>(r.points)),
                                grouped(static_cast<double>(r.answered)), grouped(static_cast<double>(r.all.size())), significant(r.seconds));
  if (r.all.empty()) out += "\nno plan stays within the limits\n";
  else {
    out += "\n" + chart_text(pareto_chart(r)) + "\nnobody beats these in both\n" + front_table(r);
    for (const Goal& g : r.goals) out += goal_text(r, g);
    if (r.price_per_hour <= 0) out += "\ncost and energy: the machine file gives no price and no power\n";
  }
  for (const auto& [rule, why] : r.no_answer) out += fmt::format("  {} points without an answer, {}: {}\n", grouped(why.first), rule, why.second);
  for (const auto& [rule, n] : r.space.dropped) out += fmt::format("  {} plans left out: {}\n", n, rule);
  return out;
}

Json search_json(const SearchResult& r) {
  Json out{{"schema", 1}, {"model", r.model}, {"checkpoint", r.checkpoint}, {"machine", r.machine}, {"gpus", r.gpus},
           {"legal_plans", r.space.axis.values.size()}, {"points", r.points}, {"answered", r.answered}, {"within_limits", r.all.size()}};
  out["front"] = Json::array();
  for (const Candidate& c : r.front) out["front"].push_back(candidate_json(r, c));
  out["goals"] = Json::array();
  for (const Goal& g : r.goals) {
    Json goal{{"goal", g.name}, {"best", candidate_json(r, g.best)}};
    if (!g.second.plan.empty()) {
      goal["runner_up"] = candidate_json(r, g.second);
      goal["reason"] = g.reason;
      goal["probability"] = g.sure;
      goal["intervals_overlap"] = g.overlap;
    }
    const Launchable w = launchable(r, g.best);
    const LaunchFlags v = vllm_flags(w), s = sglang_flags(w);
    goal["launch"] = {{"vllm", v.command}, {"vllm_notes", v.notes}, {"sglang", s.command}, {"sglang_notes", s.notes}};
    out["goals"].push_back(goal);
  }
  out["no_answer"] = Json::object();
  for (const auto& [rule, why] : r.no_answer) out["no_answer"][rule] = {{"points", why.first}, {"example", why.second}};
  out["plans_left_out"] = r.space.dropped;
  for (const auto& [path, hash] : r.study.files) out["files"].push_back({{"file", path}, {"fnv1a", hash}});
  return out;
}

}  // namespace moe
