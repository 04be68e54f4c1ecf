// moe-sim list models|topologies|profiles|stacks|experiments: what is there, with its key figures.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cost/load_profile.hpp"
#include "experiment/experiment.hpp"
#include "experiment/files.hpp"
#include "machine/load.hpp"
#include "model/load.hpp"
#include "report/list_machines.hpp"
#include "report/list_models.hpp"
#include "stack/load.hpp"

namespace moe {
namespace {

/// Reads every file of a data folder; files with errors are reported and left out.
template <class Value, class Load>
std::vector<Value> load_all(const char* folder, const Streams& s, Load load) {
  std::vector<Value> out;
  for (const std::string& name : data_names(folder, "")) {
    Diagnostics found;
    const std::string file = find_data(folder, name, "");
    Value value = load(file, found);
    if (found.has_errors()) s.err << found.render(true);
    else out.push_back(std::move(value));
  }
  return out;
}

using Row = std::vector<std::string>;

void print(const Streams& s, bool json, const Row& keys, const std::vector<Row>& rows) {
  if (json) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const Row& row : rows) {
      nlohmann::ordered_json item;
      for (std::size_t i = 0; i < keys.size(); ++i) item[keys[i]] = row[i];
      out.push_back(item);
    }
    s.out << out.dump(2) << "\n";
    return;
  }
  TextTable table("lll");
  table.row(keys);
  for (const Row& row : rows) table.row(row);
  s.out << table.render("");
}

int list_profiles(bool json, const Streams& s) {
  std::vector<Row> rows;
  for (const Profile& p : load_all<Profile>(kProfiles, s, [](const std::string& f, Diagnostics& d) { return load_profile(f, d); }))
    rows.push_back({p.name, p.gpu.name,
                    fmt::format("{} dense, {} expert, {} attention, {} other paths", p.dense_gemm.size(), p.moe.size(),
                                p.attention.size(), p.elementwise.size())});
  print(s, json, {"profile", "gpu", "kernel paths"}, rows);
  return kAnswered;
}

int list_stacks(bool json, const Streams& s) {
  std::vector<Row> rows;
  for (const Stack& k : load_all<Stack>(kStacks, s, [](const std::string& f, Diagnostics& d) { return load_stack(f, d); }))
    rows.push_back({k.name, k.documented ? "documented" : "partly known", k.engine});
  print(s, json, {"stack", "facts", "engine"}, rows);
  return kAnswered;
}

int list_experiments(bool json, const Streams& s) {
  std::vector<Row> rows;
  for (const std::string& name : data_names(kExperiments, "")) {
    Diagnostics found;
    Experiment e;
    const Document doc = load_document(find_data(kExperiments, name, ""), found);
    read_map(doc.root, "", found, [&](Fields& f) { bind_experiment(f, e); });
    if (found.has_errors()) s.err << found.render(true);
    rows.push_back({name, fmt::format("{} on {}", e.model, e.machine), e.question});
  }
  print(s, json, {"experiment", "what", "question"}, rows);
  return kAnswered;
}

}  // namespace

int list_command(const std::string& what, bool json, const Streams& s) {
  if (what == "models") {
    const auto all = load_all<Model>(kModels, s, [](const std::string& f, Diagnostics& d) { return load_model(f, d); });
    if (json) s.out << models_json(all).dump(2) << "\n";
    else s.out << models_table(all);
    return kAnswered;
  }
  if (what == "topologies") {
    const auto all = load_all<Machine>(kTopologies, s, [](const std::string& f, Diagnostics& d) { return load_machine(f, d); });
    if (json) s.out << machine_json(all).dump(2) << "\n";
    else s.out << machine_table(all);
    return kAnswered;
  }
  if (what == "profiles") return list_profiles(json, s);
  if (what == "stacks") return list_stacks(json, s);
  if (what == "experiments") return list_experiments(json, s);
  throw InputError(fmt::format("unknown list `{}`\n  = help: {}", what,
                               suggestion(what, {"models", "topologies", "profiles", "stacks", "experiments"})));
}

}  // namespace moe
