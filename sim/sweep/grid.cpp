#include "sweep/grid.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "config/override.hpp"
#include "cost/load_profile.hpp"
#include "experiment/files.hpp"
#include "machine/load.hpp"
#include "model/load.hpp"
#include "stack/load.hpp"

namespace moe {
namespace {

struct FileKey {
  const char* key;
  const char* folder;
  std::string Experiment::*name;
};
const std::array<FileKey, 4> kFileKeys{{{"model", kModels, &Experiment::model},
                                        {"machine", kTopologies, &Experiment::machine},
                                        {"profile", kProfiles, &Experiment::profile},
                                        {"stack", kStacks, &Experiment::stack}}};

/// Reads the experiment with some keys changed; only what its own file says is checked here.
Experiment experiment_with(const Document& doc, const Overrides& set, const Overrides& point) {
  Diagnostics out;
  Node root = doc.root;
  for (const Overrides* list : {&set, &point})
    for (const auto& [key, value] : *list)
      if (!key.starts_with("stack.") && !out.has_errors()) set_value(root, key, value, out);
  Experiment e;
  read_map(root, "", out, [&](Fields& f) { bind_experiment(f, e); });
  if (out.has_errors()) throw InputError(std::move(out));
  return e;
}

void check_stack(const std::string& path, const Overrides& row) {
  Diagnostics out;
  Document doc = load_document(path, out);
  for (const auto& [key, value] : row)
    if (key.starts_with("stack.")) set_value(doc.root, key.substr(6), value, out);
  read_stack(doc, out);
  if (out.has_errors()) throw InputError(std::move(out));
}

Overrides row_of(const Axis& axis, std::size_t i) {
  Overrides out;
  for (std::size_t k = 0; k < axis.keys.size(); ++k) out.emplace_back(axis.keys[k], axis.values[i][k]);
  return out;
}

class Files {
 public:
  explicit Files(const std::string& file) : file_(file) {}
  std::string add(const FileKey& key, const std::string& name) {
    const std::string path = find_data(key.folder, name, file_);
    if (path.empty())
      throw InputError(fmt::format("no file for {} `{}`\n  = help: {}", key.key, name,
                                   suggestion(name, data_names(key.folder, file_))));
    if (known_.find(path) == known_.end()) read(key.folder, path);
    note(path);
    return path;
  }
  /// A file with errors ends the study before its first point.
  static void read(const std::string& folder, const std::string& path) {
    Diagnostics out;
    if (folder == kModels) load_model(path, out);
    if (folder == kTopologies) load_machine(path, out);
    if (folder == kProfiles) load_profile(path, out);
    if (folder == kStacks) load_stack(path, out);
    if (out.has_errors()) throw InputError(std::move(out));
  }
  void note(const std::string& path) {
    Diagnostics errors;
    if (known_.find(path) == known_.end()) known_[path] = load_document(path, errors).hash;
    if (errors.has_errors()) throw InputError(std::move(errors));
  }
  std::vector<std::pair<std::string, std::string>> all() const { return {known_.begin(), known_.end()}; }

 private:
  std::string file_;
  std::map<std::string, std::string> known_;
};

}  // namespace

std::uint64_t Grid::size() const {
  std::uint64_t n = 1;
  for (const Axis& a : axes) n *= a.values.size();
  return n;
}

Overrides Grid::point(std::uint64_t index) const {
  std::uint64_t left = size();
  Overrides out;
  for (const Axis& a : axes) {
    left /= a.values.size();
    const Overrides row = row_of(a, static_cast<std::size_t>(index / left % a.values.size()));
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

std::vector<std::string> Grid::keys() const {
  std::vector<std::string> out;
  for (const Axis& a : axes) out.insert(out.end(), a.keys.begin(), a.keys.end());
  return out;
}

std::string Grid::text() const {
  std::string out;
  for (const Axis& a : axes) {
    out += (out.empty() ? "" : " x ") + a.name() + "=";
    for (std::size_t i = 0; i < a.values.size(); ++i)
      for (std::size_t k = 0; k < a.keys.size(); ++k) out += (i + k == 0 ? "" : k > 0 ? ";" : ",") + a.values[i][k];
  }
  return out;
}

void check_study(Study& study) {
  Diagnostics out;
  const Document doc = load_document(study.file, out);
  if (out.has_errors()) throw InputError(std::move(out));
  Files files(study.file);
  files.note(study.file);
  std::string stack_path;
  auto check_row = [&](const Overrides& row) {
    const Experiment e = experiment_with(doc, study.set, row);
    for (const FileKey& key : kFileKeys) {
      const bool mine = row.empty() || std::any_of(row.begin(), row.end(), [&](auto& kv) { return kv.first == key.key; });
      if (!mine) continue;
      const std::string path = files.add(key, e.*key.name);
      if (std::string(key.key) == "stack") stack_path = path;
    }
    if (std::any_of(row.begin(), row.end(), [](auto& kv) { return kv.first.starts_with("stack."); })) check_stack(stack_path, row);
  };
  check_row({});
  for (const Axis& a : study.grid.axes)
    for (std::size_t i = 0; i < a.values.size(); ++i) check_row(row_of(a, i));
  study.files = files.all();
}

Study read_study(const std::string& file, const Overrides& set, const std::vector<std::string>& arguments) {
  Diagnostics out;
  const Document doc = load_document(file, out);
  if (out.has_errors()) throw InputError(std::move(out));
  const std::vector<std::string> known = sweepable_keys();
  Study study{file, set, {}, {}};
  if (const Node* sweep = doc.root.find("sweep")) study.grid.axes = axes_of(*sweep, known);
  for (const std::string& text : arguments) {
    Axis axis = parse_axis(text, known);
    // A key named on the command line takes the place of the file's axis.
    auto clash = [&](const Axis& a) {
      return std::any_of(a.keys.begin(), a.keys.end(), [&](auto& k) {
        return std::find(axis.keys.begin(), axis.keys.end(), k) != axis.keys.end();
      });
    };
    std::erase_if(study.grid.axes, clash);
    study.grid.axes.push_back(std::move(axis));
  }
  if (study.grid.axes.empty())
    throw InputError(fmt::format("`{}` has no `sweep:` and no --axis was given\n  = help: e.g. --axis plan.tp=1,2,4,8 --axis batch=1..256x2", file));
  check_study(study);
  return study;
}

}  // namespace moe
