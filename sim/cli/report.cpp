// moe-sim report RESULT...: one HTML page of runs and sweeps.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/study_commands.hpp"
#include "report/detail.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "report/svg.hpp"
#include "sweep/export.hpp"
#include "sweep/plot.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

Json simulated(const std::string& experiment, const Overrides& set, const Streams& s) {
  Diagnostics warnings;
  const Case c = load_case(experiment, set, warnings);
  s.err << warnings.render(false);
  const Result r = evaluate(c);
  Json out = to_ordered_json(c, r);
  out["detail"] = detail_json(c, r);
  return out;
}

Json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("no file `{}`", path));
  Json out = Json::parse(file, nullptr, false);
  if (out.is_discarded() || !out.contains("breakdown_ms"))
    throw InputError(fmt::format("`{}` is no result.json\n  = help: moe-sim run EXPERIMENT --out DIR writes one", path));
  return out;
}

bool is_database(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(15, ' ');
  file.read(head.data(), 15);
  return head == "SQLite format 3";
}

/// Axis keys of a sweep with at least two values, as the pictures need them.
std::vector<std::string> varying(const Store& store) {
  std::vector<std::string> keys = store.axis_keys(), out;
  std::vector<std::set<std::string>> values(keys.size());
  store.each([&](const Row& r) {
    for (std::size_t i = 0; i < keys.size() && r.status == Status::ok; ++i) values[i].insert(r.axes[i]);
  });
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (values[i].size() > 1) out.push_back(keys[i]);
  return out;
}

void add_sweep_sections(const std::string& path, std::vector<Section>& out) {
  const Store store(path);
  if (!store.has_study()) throw InputError(fmt::format("`{}` holds no sweep", path));
  const std::string name = std::filesystem::path(path).filename().string();
  const std::vector<std::string> axes = varying(store);
  auto add = [&](const std::string& title, const std::string& note, const PlotRequest& r) {
    out.push_back({title + " · " + name, note, chart_svg(plot_chart(store, r), false, 940, 400)});
  };
  const bool plans = std::any_of(axes.begin(), axes.end(), [](auto& k) { return k.starts_with("plan."); });
  PlotRequest pareto;
  pareto.x = "tokens_per_s_per_sequence", pareto.y = "tokens_per_s";
  if (plans) pareto.by = {"plan"};
  else if (!axes.empty()) pareto.by = {axes.front()};
  add("What one user gets against what all get", "Up and to the right is better. Click a series to show or hide it.", pareto);
  for (const char* key : {"batch.sequences", "batch.context"}) {
    if (std::find(axes.begin(), axes.end(), key) == axes.end()) continue;
    for (const char* metric : {"tpot_ms", "tokens_per_s"}) {
      PlotRequest r;
      r.x = key, r.y = metric;
      if (plans) r.by = {"plan"};
      add(fmt::format("{} against {}", metric, key), "One line per plan; points without an answer are left out.", r);
    }
  }
  const Progress p = store.progress();
  std::string html = fmt::format("<p>{} of {} points computed, {} without an answer. Axes: <code>{}</code></p>", p.done, p.total, p.infeasible, escaped(store.meta("axes").substr(0, 300)));
  std::map<std::string, std::pair<int, std::string>> why;
  store.each([&](const Row& r) {
    if (r.status != Status::ok && why[r.rule].first++ == 0) why[r.rule].second = r.reason;
  });
  if (!why.empty()) html += "<table><tr><th>points</th><th>why there is no answer</th><th>example</th></tr>";
  for (const auto& [rule, w] : why) html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>", w.first, rule, escaped(w.second));
  if (!why.empty()) html += "</table>";
  html += "<table><tr><th>input file</th><th>FNV-1a of its bytes</th></tr>";
  std::string line;
  for (const char c : store.meta("files")) {
    if (c != '\n') { line += c; continue; }
    const std::size_t blank = line.rfind(' ');
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>", escaped(line.substr(0, blank)), line.substr(blank + 1));
    line.clear();
  }
  out.push_back({"The sweep · " + name, "", html + "</table>"});
}

}  // namespace

int report_command(const ReportArguments& a, const Streams& s) {
  std::vector<Json> results;
  std::vector<Section> sections;
  std::string command = "moe-sim report";
  for (const std::string& path : a.results) {
    command += " " + path;
    if (std::filesystem::is_directory(path)) results.push_back(read_json(path + "/result.json"));
    else if (path.ends_with(".yaml")) results.push_back(simulated(path, split_overrides(a.set), s));
    else if (is_database(path)) add_sweep_sections(path, sections);
    else results.push_back(read_json(path));
  }
  std::vector<Section> all = run_sections(results);
  all.insert(all.end(), sections.begin(), sections.end());
  const std::string title = results.empty() ? std::filesystem::path(a.results[0]).stem().string() : results[0].value("experiment", "moe-sim");
  write_text_file(a.out, page("moe-sim: " + title, all, results, command + " --out " + a.out));
  s.out << fmt::format("wrote {}\n", a.out);
  return kAnswered;
}

}  // namespace moe
