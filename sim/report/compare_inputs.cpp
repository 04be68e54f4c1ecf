// What differs in the inputs? Resolved keys first, then the keys inside files that differ.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "config/document.hpp"
#include "config/quantity.hpp"
#include "report/compare.hpp"

namespace moe {
namespace {

constexpr const char* kRoles[] = {"model", "machine", "profile", "stack"};

/// Keys that ask or judge instead of describing what runs.
bool describes(const std::string& key) {
  for (const char* word : {"schema", "question", "expect", "what_if", "override", "sweep"})
    if (key == word || key.starts_with(std::string(word) + ".") || key.starts_with(std::string(word) + "[")) return false;
  return true;
}

/// "1k" and "1024" are the same.
bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const Parsed pa = parse_quantity(a, Unit::count), pb = parse_quantity(b, Unit::count);
  return pa.problem.empty() && pb.problem.empty() && pa.value == pb.value;
}

bool all_same(const std::vector<std::string>& values) {
  return std::all_of(values.begin(), values.end(), [&](const std::string& v) { return same_value(v, values[0]); });
}

using Leaves = std::map<std::string, std::string>;

void flatten(const Node& node, const std::string& path, Leaves& out) {
  if (node.is_map())
    for (const Entry& e : node.entries) flatten(e.value, path.empty() ? e.key : path + "." + e.key, out);
  else if (node.is_list())
    for (std::size_t i = 0; i < node.items.size(); ++i) flatten(node.items[i], fmt::format("{}[{}]", path, i), out);
  else
    out[path] = node.text;
}

/// Keys of a file as it was when the run read it; empty when it is gone or was edited since.
Leaves leaves_of(const SideFile& f) {
  Diagnostics ignored;
  Leaves out;
  const Document doc = load_document(f.file, ignored);
  if (!ignored.has_errors() && doc.hash == f.hash) flatten(doc.root, "", out);
  return out;
}

/// One line for the file; below it its keys, where the files can be read.
void add_file(const std::string& role, const std::vector<Side>& sides, std::vector<InputDifference>& out) {
  std::vector<const SideFile*> files;
  std::vector<std::string> hashes;
  for (const Side& s : sides) {
    files.push_back(s.file_of(role));
    hashes.push_back(files.back() != nullptr ? files.back()->hash : "");
  }
  if (std::count(files.begin(), files.end(), nullptr) > 0) return;
  if (std::all_of(hashes.begin(), hashes.end(), [&](const std::string& h) { return h == hashes[0]; })) return;
  const bool same_name = std::all_of(sides.begin(), sides.end(), [&](const Side& s) { return s.input(role) == sides[0].input(role); });
  if (same_name) out.push_back({files[0]->file + " (hash)", hashes});
  std::vector<Leaves> leaves;
  for (const SideFile* f : files) leaves.push_back(leaves_of(*f));
  Leaves keys;
  for (const Leaves& l : leaves) {
    if (l.empty()) return;
    keys.insert(l.begin(), l.end());
  }
  for (const auto& [key, ignored] : keys) {
    InputDifference d{sides[0].input(role) + ": " + key, {}};
    for (const Leaves& l : leaves) d.values.push_back(l.contains(key) ? l.at(key) : "");
    if (!all_same(d.values)) out.push_back(std::move(d));
  }
}

std::string list_of(const std::vector<Side>& sides, const std::string& key) {
  std::string out;
  for (const Side& s : sides) out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", s.name, s.input(key));
  return out;
}

}  // namespace

std::vector<InputDifference> input_differences(const std::vector<Side>& sides) {
  std::vector<InputDifference> out;
  std::vector<std::string> keys;
  for (const Side& s : sides)
    for (const auto& [key, value] : s.inputs)
      if (describes(key) && std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  for (const std::string& key : keys) {
    InputDifference d{key, {}};
    for (const Side& s : sides) d.values.push_back(s.input(key));
    if (!all_same(d.values)) out.push_back(std::move(d));
  }
  for (const char* role : kRoles) add_file(role, sides, out);
  return out;
}

std::string incomparable(const std::vector<Side>& sides) {
  std::vector<Side> known;  // a run that did not get as far has no inputs
  for (const Side& s : sides)
    if (!s.inputs.empty()) known.push_back(s);
  if (known.empty()) return {};
  for (const auto& [key, what] : {std::pair{"model", "models"}, {"batch.sequences", "batches"}, {"batch.context", "contexts"}}) {
    std::vector<std::string> values;
    for (const Side& s : known) values.push_back(s.input(key));
    if (!all_same(values)) return fmt::format("different {} ({})", what, list_of(known, key));
  }
  return {};
}

}  // namespace moe
