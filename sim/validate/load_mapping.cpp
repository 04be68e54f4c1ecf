// Reads calibration/mappings/*.yaml.
#include <fmt/core.h>

#include <algorithm>

#include "experiment/experiment.hpp"
#include "stack/load.hpp"
#include "validate/mapping.hpp"

namespace moe {
namespace {

/// Columns and keys that a rule may name.
struct Words {
  std::vector<std::string> columns, keys;
};

std::vector<std::string> settable_keys() {
  std::vector<std::string> keys{kFamily, kLoadPrompt, kLoadSeconds, kLoadOnePrompt, kLoadTokens, kUsedForFit};
  Experiment e;
  Stack s;
  for (const FieldInfo& f : describe([&](Fields& g) { bind_experiment(g, e); })) keys.push_back(f.path);
  for (const FieldInfo& f : describe([&](Fields& g) { bind_stack(g, s); })) keys.push_back("stack." + f.path);
  return keys;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// {column} and {column.group} of a text must exist.
void check_slots(Fields& f, const std::string& key, const std::string& text, const MapRule& rule, const Words& words) {
  static const std::regex slot(R"(\{([A-Za-z_][A-Za-z_0-9]*)(?:\.(\d+))?\})");
  for (std::sregex_iterator it(text.begin(), text.end(), slot), end; it != end; ++it) {
    const std::string column = (*it)[1];
    if (!contains(words.columns, column))
      f.error(key, fmt::format("`{}` is not one of the columns", column), suggestion(column, words.columns));
    if (!(*it)[2].matched) continue;
    const auto p = std::find_if(rule.when.begin(), rule.when.end(), [&](const MapPattern& m) { return m.column == column; });
    const std::size_t groups = p == rule.when.end() ? 0 : p->regex.mark_count();
    if (std::stoul((*it)[2]) > groups)
      f.error(key, fmt::format("`{}` names a group that the pattern of `{}` does not have", it->str(), column),
              fmt::format("the pattern has {} groups", groups));
  }
}

void read_when(Fields& f, MapRule& rule, const Words& words) {
  const Node* when = f.raw("when", "map of column: pattern", Need::optional, "regular expressions that must all be found; none: any row");
  if (when == nullptr) return;
  if (!when->is_map()) return f.error("when", "`when` must be a map of column: pattern");
  for (const Entry& e : when->entries) {
    if (!contains(words.columns, e.key)) f.error("when", fmt::format("`{}` is not one of the columns", e.key), suggestion(e.key, words.columns));
    if (!e.value.is_scalar()) {
      f.error("when", fmt::format("the pattern of `{}` must be a text", e.key));
      continue;
    }
    try {
      rule.when.push_back({e.key, e.value.text, std::regex(e.value.text, std::regex::ECMAScript | std::regex::optimize)});
    } catch (const std::regex_error& error) {
      f.error("when", fmt::format("`{}` is not a regular expression: {}", e.value.text, error.what()), "ECMAScript syntax; escape dots and brackets");
    }
  }
}

void read_set(Fields& f, const char* key, MapRule& rule, const Words& words) {
  const Node* set = f.raw(key, "map of experiment key: text", Need::optional, "keys of the experiment; {column} stands for the row's text, {column.1} for the first group of the pattern");
  if (set == nullptr) return;
  if (!set->is_map()) return f.error(key, fmt::format("`{}` must be a map of experiment key: text", key));
  for (const Entry& e : set->entries) {
    const std::string parent = e.key.substr(0, e.key.rfind('.'));  // kernels.<op>.<format>: a map of the user's making
    if (!contains(words.keys, e.key) && !(parent.starts_with("stack.kernels.") && contains(words.keys, parent))) f.error(key, fmt::format("`{}` is not a key of an experiment", e.key), suggestion(e.key, words.keys));
    if (!e.value.is_scalar()) {
      f.error(key, fmt::format("`{}` must be a text", e.key), "lists and maps are written in quotes");
      continue;
    }
    check_slots(f, key, e.value.text, rule, words);
    rule.set.emplace_back(e.key, e.value.text);
  }
}

void read_rule(Fields& f, MapRule& rule, const Words& words) {
  read_when(f, rule, words);
  read_set(f, "set", rule, words);
  f.text("reject", rule.reject, Need::optional, "why such a row is not run");
  f.text("unknown", rule.unknown.what, Need::optional, "what the source does not say");
  f.number("spread", rule.unknown.spread, Need::optional, Range::between(0, 1), "of ln(time), standard deviation, for what is unknown");
  std::string note;
  f.text("source", note, Need::optional, "where the rule comes from");
  if (f.describing()) return;
  check_slots(f, "reject", rule.reject, rule, words);
  if (!rule.reject.empty() && !rule.set.empty()) f.inert("set", "reject", rule.reject);
  if (rule.unknown.what.empty() != (rule.unknown.spread == 0)) f.error("unknown", "`unknown` and `spread` go together");
}

}  // namespace

void bind_mapping(Fields& f, Mapping& m) {
  int schema = 0;
  f.integer("schema", schema, Need::required, Range::between(1, 1), "version of this file format");
  std::vector<std::string> sources;
  f.texts("sources", sources, Need::optional, "where the rules come from");
  f.section("columns", Need::required, "columns of the measurement file", [&](Fields& g) {
    g.texts("required", m.columns.required, Need::required, "must exist");
    g.texts("optional", m.columns.known, Need::optional, "read as empty when absent");
    g.texts("numbers", m.columns.numbers, Need::optional, "of these: an empty cell or a number");
  });
  Words words{m.columns.required, settable_keys()};
  words.columns.insert(words.columns.end(), m.columns.known.begin(), m.columns.known.end());
  for (const std::string& n : m.columns.numbers)
    if (!contains(words.columns, n)) f.error("columns", fmt::format("`{}` is not one of the columns", n), suggestion(n, words.columns));
  MapRule start;
  read_set(f, "start", start, words);
  m.start = start.set;
  f.list("steps", Need::required, "questions about a row, in this order", [&](Fields& g, std::size_t) {
    MapStep step;
    g.text("name", step.name, Need::required, "for reports");
    g.flag("every", step.every, Need::optional, "all rules that match are taken; false: only the first");
    g.list("rules", Need::required, "answers", [&](Fields& r, std::size_t) {
      MapRule rule;
      read_rule(r, rule, words);
      step.rules.push_back(std::move(rule));
    });
    g.text("otherwise", step.otherwise, Need::optional, "why a row that matches no rule is not run");
    if (!g.describing()) check_slots(g, "otherwise", step.otherwise, {}, words);
    m.steps.push_back(std::move(step));
  });
}

Mapping read_mapping(const Document& doc, Diagnostics& out) {
  Mapping m;
  m.file = doc.file;
  read_map(doc.root, "", out, [&](Fields& f) { bind_mapping(f, m); });
  return m;
}

Mapping load_mapping(const std::string& file, Diagnostics& out) { return read_mapping(load_document(file, out), out); }

}  // namespace moe
