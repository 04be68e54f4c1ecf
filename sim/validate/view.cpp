#include "validate/view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

std::string pct(double v, bool sign = false) { return sign ? fmt::format("{:+.1f}", v) : fmt::format("{:.1f}", v); }

std::string graph_name(GraphMode g) { return g == GraphMode::full ? "full" : g == GraphMode::piecewise ? "piecewise" : "eager"; }

std::string group_table(const std::vector<GroupStats>& groups) {
  TextTable t("lrrrrrrr");
  t.row({"group", "rows", "median %", "mean %", "p90 %", "bias %", "in 90 % interval", "its width %"});
  std::string last;
  for (const GroupStats& g : groups) {
    const std::string by = g.group.substr(0, g.group.find('='));
    if (!last.empty() && by != last) t.row({"", "", "", "", "", "", "", ""});
    last = by;
    t.row({g.group, std::to_string(g.rows), pct(g.median_pct), pct(g.mean_pct), pct(g.p90_pct), pct(g.bias_pct, true),
           fmt::format("{:.0f} %", g.coverage90_pct), fmt::format("{:.0f}", g.width_pct)});
  }
  return t.render();
}

/// The parts of a step that take a twentieth of it or more.
std::string parts_of(const ValidatedRow& r) {
  std::vector<std::pair<double, std::size_t>> parts;
  for (std::size_t i = 0; i < r.breakdown_ms.size(); ++i) parts.emplace_back(-r.breakdown_ms[i], i);
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const auto& [minus, i] : parts)
    if (-minus >= r.step_ms / 20) out += fmt::format("{}{} {:.2f}", out.empty() ? "" : ", ", kCategoryNames[i], -minus);
  return out;
}

std::string worst_table(const Validation& v) {
  TextTable t("lrrrllrl");
  t.row({"row", "measured ms", "simulated", "error %", "stack", "plan", "batch x context", "step by part, ms"});
  for (const ValidatedRow* r : worst_rows(v, 20))
    t.row({r->id, significant(r->measured_ms), significant(r->simulated_ms), pct(100 * r->error(), true), r->stack, r->plan,
           fmt::format("{} x {}{}", r->batch, grouped(r->context), r->drafts > 0 ? fmt::format(" +{}", r->drafts) : ""), parts_of(*r)});
  return t.render();
}

Json group_json(const GroupStats& g) {
  return {{"group", g.group},     {"rows", g.rows},         {"median_pct", g.median_pct},         {"mean_pct", g.mean_pct},
          {"p90_pct", g.p90_pct}, {"bias_pct", g.bias_pct}, {"coverage90_pct", g.coverage90_pct}, {"width_pct", g.width_pct}};
}

Json row_json(const ValidatedRow& r) {
  Json out{{"id", r.id}, {"line", r.line}, {"measured_ms", r.measured_ms}, {"simulated_ms", r.simulated_ms},
           {"error_pct", 100 * r.error()}, {"interval90_ms", {r.low_ms, r.high_ms}}, {"per", r.per_step ? "step" : "token"}, {"family", r.family},
           {"model", r.model}, {"stack", r.stack}, {"machine", r.machine}, {"plan", r.plan}, {"batch", r.batch}, {"context", r.context},
           {"drafts", r.drafts}, {"step_ms", r.step_ms}};
  for (std::size_t i = 0; i < r.breakdown_ms.size(); ++i) out["breakdown_ms"][kCategoryNames[i]] = r.breakdown_ms[i];
  out["unknown"] = r.unknown;
  return out;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string validation_text(const Validation& v) {
  std::size_t compared = 0, only = 0;
  for (const ValidatedRow& r : v.rows) compared += r.compared() ? 1 : 0, only += r.simulated && !r.compared() ? 1 : 0;
  std::string out = fmt::format("{}   {} rows by {}\n  {} compared with a measurement, {} simulated without one, {} not run\n", v.file,
                                grouped(static_cast<double>(v.rows.size())), v.mapping, grouped(static_cast<double>(compared)),
                                grouped(static_cast<double>(only)), grouped(static_cast<double>(v.rows.size() - compared - only)));
  if (compared > 0) {
    out += "\nerror of the time per token (or per step): simulated / measured - 1; bias is its median, above 0: simulated too slow\n";
    out += group_table(group_stats(v)) + "\nworst rows\n" + worst_table(v);
  }
  const std::vector<Unmapped> reasons = unmapped(v);
  if (reasons.empty()) return out;
  out += "\nnot run\n";
  TextTable t("rlll");
  t.row({"rows", "rule", "reason", "first row"});
  for (const Unmapped& u : reasons) t.row({std::to_string(u.rows), u.rule, u.reason, u.example});
  return out + t.render();
}

Json validation_json(const Validation& v) {
  Json out{{"schema", 1}, {"file", v.file}, {"mapping", v.mapping}, {"rows", v.rows.size()}};
  out["compared"] = std::count_if(v.rows.begin(), v.rows.end(), [](const ValidatedRow& r) { return r.compared(); });
  out["simulated_only"] = std::count_if(v.rows.begin(), v.rows.end(), [](const ValidatedRow& r) { return r.simulated && !r.compared(); });
  out["groups"] = Json::array();
  for (const GroupStats& g : group_stats(v)) out["groups"].push_back(group_json(g));
  out["unmapped"] = Json::array();
  for (const Unmapped& u : unmapped(v)) out["unmapped"].push_back({{"reason", u.reason}, {"rows", u.rows}, {"rule", u.rule}, {"example", u.example}});
  out["worst"] = Json::array();
  for (const ValidatedRow* r : worst_rows(v, 20)) out["worst"].push_back(row_json(*r));
  return out;
}

std::string validation_csv(const Validation& v) {
  std::string out = "id,line,status,reason,per,measured_ms,simulated_ms,error_pct,low_ms,high_ms,family,model,checkpoint,stack,documented,machine,plan,batch,context,drafts,graphs,step_ms,spread,sets_widths,used_for_fit";
  for (const auto name : kCategoryNames) out += fmt::format(",{}_ms", name);
  out += ",source\n";
  for (const ValidatedRow& r : v.rows) {
    const bool sim = r.simulated, cmp = r.compared();
    auto number = [](bool given, double value) { return given ? fmt::format("{:.6g}", value) : std::string(); };
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", csv_cell(r.id), r.line,
                       cmp ? "compared" : sim ? "simulated" : r.rule, csv_cell(r.reason), r.per_step ? "step" : "token",
                       number(r.measured_ms > 0, r.measured_ms), number(sim, r.simulated_ms), number(cmp, cmp ? 100 * r.error() : 0),
                       number(sim, r.low_ms), number(sim, r.high_ms), csv_cell(r.family), r.model, r.checkpoint, r.stack,
                       sim ? (r.documented ? "yes" : "no") : "", r.machine, r.plan, r.batch, r.context, r.drafts, sim ? graph_name(r.graph) : "",
                       number(sim, r.step_ms));
    out += fmt::format(",{},{},{}", number(sim, r.spread), r.sets_widths ? "yes" : "no", csv_cell(r.used_for_fit));
    for (const double ms : r.breakdown_ms) out += "," + number(sim, ms);
    out += "," + csv_cell(r.source) + "\n";
  }
  return out;
}

}  // namespace moe
