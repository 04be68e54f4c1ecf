#include "report/page.hpp"

#include <fmt/core.h>

#include "base/text.hpp"
#include "report/figures.hpp"
#include "report/svg.hpp"

namespace moe {

extern const char* const kReportTemplate;  // report.html.in, embedded by CMake

namespace {

using Json = nlohmann::ordered_json;

std::string table_row(const std::vector<std::string>& cells, const char* tag = "td") {
  std::string out = "<tr>";
  for (const std::string& c : cells) out += fmt::format("<{0}>{1}</{0}>", tag, escaped(c));
  return out + "</tr>\n";
}

std::string number(const Json& r, const char* key) { return significant(r.value(key, 0.0)); }

Section headline(const std::vector<Json>& results) {
  std::string html = "<table class=\"sortable\">" + table_row({"run", "step ms", "90 % interval ms", "tokens/s", "tokens/s per user", "floor ms", "contention ms",
                                                               "GiB per GPU", "KV tokens"}, "th");
  for (const Json& r : results) {
    double memory = 0;
    for (const auto& m : r.value("memory_gib_per_gpu", Json::array())) memory = std::max(memory, m.get<double>());
    const auto interval = r.value("interval90_ms", Json::array({0, 0}));
    html += table_row({r.value("experiment", ""), number(r, "step_ms"), significant(interval[0].get<double>()) + " – " + significant(interval[1].get<double>()),
                       number(r, "tokens_per_s"), number(r, "tokens_per_s_per_sequence"), number(r, "theoretical_min_ms"), number(r, "contention_ms"),
                       significant(memory), grouped(r.value("kv_capacity_tokens", 0.0))});
  }
  html += "</table>";
  for (const Json& r : results)
    if (r.contains("question")) html += "<p class=\"question\">" + escaped(r.value("question", "")) + "</p>";
  return {"The answer", "Step: one forward pass for the running batch. Floor: the bytes that this plan reads per GPU over its peak memory bandwidth.", html};
}

std::string link_table(const Json& r) {
  std::string html = "<details><summary>every link</summary><table class=\"sortable\">" + table_row({"link", "GB/s", "MB per step", "busy %", "cost ms"}, "th");
  for (const auto& l : r.value("links", Json::array()))
    html += table_row({l.value("link", ""), number(l, "capacity_GBps"), number(l, "carried_MB"), fmt::format("{:.2f}", 100 * l.value("busy_share", 0.0)), number(l, "cost_ms")});
  return html + "</table></details>";
}

std::string path_table(const Json& r) {
  std::string html = "<table class=\"sortable\">" + table_row({"kernel path or collective", "calls", "ms per step", "spread", "outside the fit", "why"}, "th");
  for (const auto& p : r.value("paths", Json::array()))
    html += table_row({p.value("path", ""), std::to_string(p.value("calls", 0)), number(p, "time_ms"), fmt::format("± {:.0f} %", 100 * p.value("spread", 0.0)),
                       std::to_string(p.value("outside_range", 0)), p.value("reason", "")});
  return html + "</table>";
}

std::string inputs_table(const Json& r) {
  std::string html;
  if (!r.value("warnings", Json::array()).empty()) {
    html += "<ul>";
    for (const auto& w : r.at("warnings")) html += "<li>" + escaped(w.get<std::string>()) + "</li>";
    html += "</ul>";
  }
  if (!r.contains("inputs")) return html;
  html += "<details><summary>every key</summary><table>" + table_row({"key", "value"}, "th");
  const Json resolved = r.at("inputs").value("resolved", Json::object());  // items() keeps a reference
  for (const auto& [key, value] : resolved.items())
    html += table_row({key, value.is_string() ? value.get<std::string>() : value.dump()});
  html += "</table></details><table>" + table_row({"file", "FNV-1a of its bytes"}, "th");
  for (const auto& f : r.at("inputs").value("files", Json::array())) html += table_row({f.value("file", ""), f.value("fnv1a", "")});
  return html + "</table>";
}

void add(std::vector<Section>& out, const std::string& title, const std::string& note, const std::string& html) {
  if (!html.empty()) out.push_back({title, note, html});
}

void add_run(std::vector<Section>& out, const Json& r, const std::string& suffix) {
  const Json detail = r.value("detail", Json::object());
  const int layer = detail.contains("layer") ? detail.at("layer").value("number", 0) : 0;
  add(out, fmt::format("One layer: {}{}", layer, suffix), "A lane per stream; hover says why an op started when it did. Hatched: time lost to sharing a link.", layer_figure(detail));
  const std::string tree = links_figure(detail);
  add(out, "Links" + suffix, "Two lines per cable, one per direction.", tree.empty() ? "" : tree + link_table(r));
  add(out, "Traffic between GPUs" + suffix, "Collectives in closed form are booked on the neighbours of their ring.", traffic_figure(detail));
  add(out, "Kernels" + suffix, "Spread: of the fit of each path; it makes the interval.", path_table(r) + roofline_figure(detail));
  add(out, "What would help" + suffix, "The same step, simulated again with one change.", what_if_figure(r));
  add(out, "Inputs" + suffix, "What the answer stands on.", inputs_table(r));
}

/// JSON inside HTML: nothing in it may end the script element.
std::string embedded(const Json& data) {
  std::string out;
  for (const char c : data.dump()) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

}  // namespace

std::vector<Section> run_sections(const std::vector<Json>& results) {
  std::vector<Section> out;
  if (results.empty()) return out;
  out.push_back(headline(results));
  add(out, "Where the step goes", "Critical path; the parts add up to the step.", breakdown_figure(results));
  for (const Json& r : results) add_run(out, r, results.size() > 1 ? " · " + r.value("experiment", "") : "");
  return out;
}

std::string page(const std::string& title, const std::vector<Section>& sections, const std::vector<Json>& data, const std::string& command) {
  std::string body, carried;
  for (const Section& s : sections)
    body += fmt::format("<section><h2>{}</h2>\n<p class=\"note\">{}</p>\n<div class=\"figure\">{}</div></section>\n", escaped(s.title), escaped(s.note), s.html);
  for (const Json& d : data) carried += "<script type=\"application/json\" class=\"result\">" + embedded(d) + "</script>\n";
  std::string out = replaced(kReportTemplate, "@title@", escaped(title));
  out = replaced(std::move(out), "@title@", escaped(title));
  out = replaced(std::move(out), "@colours@", svg_colours());
  out = replaced(std::move(out), "@command@", escaped(command));
  out = replaced(std::move(out), "@data@", carried);
  return replaced(std::move(out), "@body@", body);
}

}  // namespace moe
