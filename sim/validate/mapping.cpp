// Applies a mapping to a row.
#include "validate/mapping.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace moe {
namespace {

using Matches = std::map<std::string, std::smatch>;

bool matches(const MapRule& rule, const CsvTable& table, const CsvRow& row, Matches& found) {
  found.clear();
  return std::all_of(rule.when.begin(), rule.when.end(), [&](const MapPattern& p) {
    return std::regex_search(table.text(row, p.column), found[p.column], p.regex);
  });
}

/// Replaces {column} by the row's text and {column.1} by what the first group of the rule's pattern caught.
std::string filled(const std::string& text, const CsvTable& table, const CsvRow& row, const Matches& found) {
  static const std::regex slot(R"(\{([A-Za-z_][A-Za-z_0-9]*)(?:\.(\d+))?\})");
  std::string out;
  auto from = text.cbegin();
  for (std::sregex_iterator it(text.cbegin(), text.cend(), slot), end; it != end; ++it) {
    out.append(from, (*it)[0].first);
    from = (*it)[0].second;
    const std::string column = (*it)[1];
    const auto caught = found.find(column);
    if (!(*it)[2].matched) out += table.text(row, column);
    else if (caught != found.end()) out += caught->second.str(static_cast<std::size_t>(std::stoul((*it)[2])));
  }
  return out.append(from, text.cend());
}

void take(const MapRule& rule, const CsvTable& table, const CsvRow& row, const Matches& found, MappedRow& out) {
  for (const auto& [key, text] : rule.set) {
    auto& into = key == kFamily || key.starts_with("load.") ? out.load : out.keys;
    into[key] = filled(text, table, row, found);
  }
  if (!rule.unknown.what.empty()) out.unknown.push_back(rule.unknown);
}

/// Quotes a value that YAML would not read back as the same text.
std::string quoted(const std::string& v) {
  return v.find_first_of("[{:#'\"\n") == std::string::npos && !v.empty() ? v : "\"" + v + "\"";
}

}  // namespace

MappedRow apply(const Mapping& m, const CsvTable& table, const CsvRow& row) {
  MappedRow out;
  MapRule always;
  always.set = m.start;
  take(always, table, row, {}, out);
  for (const MapStep& step : m.steps) {
    bool any = false;
    for (const MapRule& rule : step.rules) {
      Matches found;
      if (!matches(rule, table, row, found)) continue;
      any = true;
      if (!rule.reject.empty()) {
        out.reject = filled(rule.reject, table, row, found);
        out.step = step.name;
        return out;
      }
      take(rule, table, row, found, out);
      if (!step.every) break;
    }
    if (!any && !step.otherwise.empty()) {
      out.reject = filled(step.otherwise, table, row, {});
      out.step = step.name;
      return out;
    }
  }
  return out;
}

/// Keys of the stack go under `override`; other dotted keys are one level deep.
std::string MappedRow::experiment() const {
  std::string out = "schema: 1\n", overrides;
  for (auto it = keys.begin(); it != keys.end();) {
    const std::size_t dot = it->first.find('.');
    if (it->first.starts_with("stack.")) {
      overrides += fmt::format("  {}: {}\n", it->first, quoted(it->second));
      ++it;
      continue;
    }
    if (dot == std::string::npos) {
      out += fmt::format("{}: {}\n", it->first, it->second);
      ++it;
      continue;
    }
    const std::string head = it->first.substr(0, dot + 1);
    out += it->first.substr(0, dot) + ":\n";
    for (; it != keys.end() && it->first.starts_with(head); ++it) out += fmt::format("  {}: {}\n", it->first.substr(dot + 1), it->second);
  }
  if (!unknown.empty()) out += "unknown:\n";
  for (const MapUnknown& u : unknown) out += fmt::format("  - {{what: \"{}\", spread: {}}}\n", u.what, u.spread);
  return overrides.empty() ? out : out + "override:\n" + overrides;
}

}  // namespace moe
