#include "sweep/axis.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "experiment/experiment.hpp"
#include "stack/load.hpp"
#include "sweep/range.hpp"

namespace moe {
namespace {

std::string trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

/// Splits at `separator` outside brackets and braces.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c == separator && depth == 0) parts.emplace_back();
    else parts.back() += c;
  }
  for (std::string& p : parts) p = trimmed(p);
  return parts;
}

[[noreturn]] void wrong(const std::string& sentence, const std::string& help) {
  throw InputError(sentence + "\n  = help: " + help);
}

/// Columns of a zipped axis become rows.
Axis zipped(std::vector<std::string> keys, const std::vector<std::vector<std::string>>& columns) {
  Axis axis{std::move(keys), {}};
  for (std::size_t k = 1; k < columns.size(); ++k)
    if (columns[k].size() != columns[0].size())
      wrong(fmt::format("zipped axes need equally many values: `{}` has {}, `{}` has {}", axis.keys[0],
                        columns[0].size(), axis.keys[k], columns[k].size()),
            "cross them as two axes, or give as many values");
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    axis.values.emplace_back();
    for (const auto& column : columns) axis.values.back().push_back(column[i]);
  }
  return axis;
}

std::string written(const Node& node) {
  if (!node.is_list()) return node.text;
  std::string text = "[";
  for (const Node& item : node.items) text += (text.size() > 1 ? "," : "") + written(item);
  return text + "]";
}

std::vector<std::string> values_of(const Node& node, const std::string& key) {
  if (node.is_scalar()) return expand_values(node.text);
  std::vector<std::string> out;
  for (const Node& item : node.items) out.push_back(written(item));
  if (out.empty()) wrong(fmt::format("sweep axis `{}` has no values", key), "write a list, or a range like `1..256x2`");
  return out;
}

void no_key_twice(const std::vector<Axis>& axes) {
  std::vector<std::string> seen;
  for (const Axis& a : axes)
    for (const std::string& key : a.keys) {
      if (std::find(seen.begin(), seen.end(), key) != seen.end())
        wrong(fmt::format("`{}` is on two axes", key), "keep one of the two");
      seen.push_back(key);
    }
}

}  // namespace

std::string Axis::name() const {
  std::string out;
  for (const std::string& key : keys) out += (out.empty() ? "" : ";") + key;
  return out;
}

std::vector<std::string> expand_values(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string& part : split(text, ',')) {
    if (part.empty()) wrong(fmt::format("`{}` has an empty value", text), "write it like `1,2,4` or `1..256x2`");
    const std::vector<std::string> range = expand_range(part);
    out.insert(out.end(), range.begin(), range.end());
  }
  return out;
}

std::string full_key(const std::string& word, const std::vector<std::string>& known) {
  const std::string key = word == "batch" ? "batch.sequences" : word;
  if (std::find(known.begin(), known.end(), key) != known.end()) return key;
  std::vector<std::string> matches;
  for (const std::string& k : known)
    if (k.ends_with("." + key)) matches.push_back(k);
  // An experiment's own key goes before one of the stack.
  std::vector<std::string> own;
  for (const std::string& k : matches)
    if (!k.starts_with("stack.")) own.push_back(k);
  if (own.size() == 1) return own[0];
  if (matches.size() == 1) return matches[0];
  // Parts of the stack whose keys are names chosen by the user.
  if (key.starts_with("stack.kernels.") || key.starts_with("stack.comm.")) return key;
  if (matches.empty()) wrong(fmt::format("no key `{}` to sweep", word), suggestion(key, known));
  std::string list;
  for (const std::string& m : matches) list += (list.empty() ? "`" : ", `") + m + "`";
  wrong(fmt::format("`{}` is ambiguous", word), "write one of " + list);
}

Axis parse_axis(const std::string& text, const std::vector<std::string>& known) {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> columns;
  for (const std::string& part : split(text, ';')) {
    const std::size_t equal = part.find('=');
    if (equal == std::string::npos || equal == 0)
      wrong(fmt::format("`--axis {}` is not key=values", text), "e.g. --axis plan.tp=1,2,4,8 --axis batch=1..256x2");
    keys.push_back(full_key(trimmed(part.substr(0, equal)), known));
    columns.push_back(expand_values(trimmed(part.substr(equal + 1))));
  }
  return zipped(std::move(keys), columns);
}

std::vector<Axis> axes_of(const Node& sweep, const std::vector<std::string>& known) {
  std::vector<Axis> axes;
  if (!sweep.is_map()) wrong("`sweep` must be a map of key: values", "e.g. sweep: {plan.tp: [1, 2, 4, 8], batch.sequences: 1..256x2}");
  for (const Entry& e : sweep.entries) {
    if (e.key != "zip") {
      const std::string key = full_key(e.key, known);
      axes.push_back(zipped({key}, {values_of(e.value, key)}));
      continue;
    }
    const std::vector<Node> single{e.value};
    for (const Node& group : e.value.is_list() ? e.value.items : single) {
      std::vector<std::string> keys;
      std::vector<std::vector<std::string>> columns;
      for (const Entry& member : group.entries) {
        keys.push_back(full_key(member.key, known));
        columns.push_back(values_of(member.value, keys.back()));
      }
      if (keys.empty()) wrong("`sweep.zip` needs a map of key: values", "e.g. zip: [{machine: [a, b], profile: [p, q]}]");
      axes.push_back(zipped(std::move(keys), columns));
    }
  }
  no_key_twice(axes);
  return axes;
}

std::vector<std::string> sweepable_keys() {
  Experiment e;
  Stack k;
  std::vector<std::string> out;
  for (const FieldInfo& f : describe([&](Fields& fields) { bind_experiment(fields, e); }))
    if (f.type != "map" && f.path.find("[]") == std::string::npos && f.path != "schema" && f.path != "sweep" &&
        f.type.find("map") == std::string::npos)
      out.push_back(f.path);
  for (const FieldInfo& f : describe([&](Fields& fields) { bind_stack(fields, k); }))
    if (f.type.find("map") == std::string::npos && f.path.find("[]") == std::string::npos && f.path != "schema")
      out.push_back("stack." + f.path);
  return out;
}

}  // namespace moe
