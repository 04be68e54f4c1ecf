// Reads an experiment and the files it names, and checks what only makes sense across files.
#include <fmt/core.h>

#include <algorithm>

#include "base/check.hpp"
#include "config/override.hpp"
#include "cost/load_profile.hpp"
#include "experiment/cache.hpp"
#include "experiment/bind_routing.hpp"
#include "experiment/experiment.hpp"
#include "experiment/files.hpp"
#include "experiment/speculation.hpp"
#include "machine/load.hpp"
#include "model/load.hpp"
#include "stack/load.hpp"

namespace moe {
namespace {

class Loader {
 public:
  /// `given`: the experiment itself when it is in memory, else null.
  Loader(const std::string& file, const Document* given, Diagnostics& out, CaseCache& cache)
      : file_(file), given_(given), out_(out), cache_(cache) {
    case_.experiment.file = file;
  }

  Case load(const Overrides& overrides) {
    read_experiment(overrides);
    read_model();
    read_recorded_routing();
    read_machine();
    read_profile();
    read_stack();
    if (!out_.has_errors()) load_speculation(case_, [this](const std::string& key) { return place(key); }, out_);
    if (!out_.has_errors()) check_plan();
    return std::move(case_);
  }

 private:
  Experiment& e() { return case_.experiment; }
  Place place(const std::string& key) const {
    const Node* node = root_.find(key);
    return node != nullptr ? node->place : root_.place;
  }

  void read_experiment(const Overrides& overrides) {
    const auto doc = given_ != nullptr ? std::make_shared<const Document>(*given_) : document(file_, out_);
    note(file_, doc->hash);
    root_ = doc->root;
    const std::string base = file_.substr(file_.find_last_of('/') + 1);
    e().name = base.substr(0, base.rfind(".yaml"));
    Overrides all;
    const Node* inline_set = root_.find("override");
    if (inline_set != nullptr && !inline_set->is_map() && inline_set->kind != Node::Kind::null)
      out_.error("`override` must be a map of dotted key: value", inline_set->place, "override");
    if (inline_set != nullptr)
      for (const Entry& entry : inline_set->entries) {
        if (entry.value.is_scalar()) all.emplace_back(entry.key, entry.value.text);
        else out_.error(fmt::format("`{}` needs a plain value", entry.key), entry.value.place, "override");
      }
    all.insert(all.end(), overrides.begin(), overrides.end());
    case_.overrides = all;
    for (const auto& [key, value] : all) {
      if (key.starts_with("stack.")) stack_set_.emplace_back(key.substr(6), value);
      else if (!out_.has_errors()) set_value(root_, key, value, out_);
    }
    read_map(root_, "", out_, [&](Fields& f) { bind_experiment(f, e()); }, &case_.resolved);
  }

  void note(const std::string& path, const std::string& hash) { case_.files.emplace_back(path, hash); }

  std::shared_ptr<const Document> document(const std::string& path, Diagnostics& out) {
    return cache_.documents.get(path, out, [&](Diagnostics& d) { return load_document(path, d); });
  }

  /// Path of a named file, or "" after saying what exists.
  std::string find(const char* key, const char* folder, const std::string& name) {
    if (name.empty()) return {};
    const std::string found = *cache_.paths.get(std::string(folder) + "|" + name, out_,
                                                [&](Diagnostics&) { return find_data(folder, name, file_); });
    if (found.empty())
      out_.error(fmt::format("no file for {} `{}`", key, name), place(key), key,
                 suggestion(name, data_names(folder, file_)));
    return found;
  }

  /// Hash for provenance; the loaders read the file themselves.
  void note_file(const std::string& path) {
    Diagnostics ignored;
    note(path, document(path, ignored)->hash);
  }

  void read_model() {
    const std::string path = find("model", kModels, e().model);
    if (path.empty()) return;
    note_file(path);
    case_.model = *cache_.models.get(path, out_, [&](Diagnostics& d) { return load_model(path, d); });
    cut_layers();
    const auto& all = case_.model.checkpoints;
    if (e().checkpoint.empty() && !all.empty()) e().checkpoint = all[0].id;
    std::vector<std::string> ids;
    for (const Checkpoint& c : all) ids.push_back(c.id);
    const auto found = std::find(ids.begin(), ids.end(), e().checkpoint);
    if (found == ids.end() && !all.empty())
      out_.error(fmt::format("{} has no checkpoint `{}`", case_.model.name, e().checkpoint), place("checkpoint"),
                 "checkpoint", suggestion(e().checkpoint, ids));
    case_.checkpoint = static_cast<std::size_t>(found == ids.end() ? 0 : found - ids.begin());
    if (found != ids.end() && root_.find("kv_dtype") == nullptr)
      e().kv_dtype = all[case_.checkpoint].kv_dtype == "fp8" ? KvDtype::fp8 : KvDtype::bf16;
  }

  /// `layers`: the first ones alone.
  void cut_layers() {
    auto& layers = case_.model.layers;
    const auto wanted = static_cast<std::size_t>(e().layers), all = layers.size();
    if (wanted == 0 || wanted == all || all == 0) return;
    if (wanted > all)
      return out_.error(fmt::format("{} has {} layers, `layers` asks for {}", case_.model.name, all, wanted), place("layers"), "layers");
    layers.resize(wanted);
    out_.warning(fmt::format("only the first {} of the {} layers of {} are simulated", wanted, all, case_.model.name), place("layers"), "layers");
  }

  void read_recorded_routing() {
    if (case_.model.layers.empty()) return;  // said already
    const auto [path, hash] = read_routing(e(), case_.model, root_.find("routing"), out_);
    if (!path.empty()) note(path, hash);
  }

  void read_machine() {
    const std::string path = find("machine", kTopologies, e().machine);
    if (path.empty()) return;
    note_file(path);
    const auto both = cache_.machines.get(path, out_, [&](Diagnostics& d) {
      MachineAndRoutes made{std::make_shared<const Machine>(load_machine(path, d)), nullptr};
      if (!d.has_errors()) made.routes = std::make_shared<const Routes>(*made.machine);
      return made;
    });
    case_.machine = both->machine;
    case_.routes = both->routes;
    if (!e().degrade.empty() && both->routes != nullptr) degrade();
  }

  void degrade() {
    const std::size_t present = case_.machine->gpus.size();
    for (const Degradation& d : e().degrade)
      if (d.gpu >= static_cast<int>(present))
        return out_.error(fmt::format("machine `{}` has {} GPUs, none is number {}", e().machine, present, d.gpu), place("degrade"), "degrade");
    case_.machine = std::make_shared<const Machine>(degraded(*case_.machine, e().degrade));
    case_.routes = std::make_shared<const Routes>(*case_.machine);
  }

  void read_profile() {
    const std::string path = find("profile", kProfiles, e().profile);
    if (path.empty()) return;
    note_file(path);
    case_.profile = cache_.profiles.get(path, out_, [&](Diagnostics& d) { return load_profile(path, d); });
    if (case_.machine != nullptr && !case_.profile->gpu.name.empty() && case_.profile->gpu.name != case_.machine->gpu)
      out_.error(fmt::format("profile `{}` is for {}, machine `{}` has {}", e().profile, case_.profile->gpu.name,
                             e().machine, case_.machine->gpu),
                 place("profile"), "profile");
  }

  void read_stack() {
    const std::string path = find("stack", kStacks, e().stack);
    if (path.empty()) return;
    const auto doc = document(path, out_);
    note(path, doc->hash);
    std::string key = path;
    for (const auto& [name, value] : stack_set_) key += "|" + name + "=" + value;
    case_.stack = *cache_.stacks.get(key, out_, [&](Diagnostics& d) {
      Document changed = *doc;
      for (const auto& [name, value] : stack_set_) set_value(changed.root, name, value, d);
      return moe::read_stack(changed, d);
    });
  }

  void check_plan() {
    const int needed = e().plan.gpus();
    if (e().gpus.empty())
      for (int i = 0; i < needed; ++i) e().gpus.push_back(i);
    if (static_cast<int>(e().gpus.size()) != needed)
      out_.error(fmt::format("the plan needs {} GPUs, `gpus` gives {}", needed, e().gpus.size()), place("gpus"), "gpus");
    const int present = static_cast<int>(case_.machine->gpus.size());
    for (const int gpu : e().gpus)
      if (gpu >= present) {
        out_.error(fmt::format("machine `{}` has {} GPUs, the plan uses GPU {}", e().machine, present, gpu),
                   place(root_.find("gpus") != nullptr ? "gpus" : "plan"), "gpus",
                   fmt::format("GPUs are numbered 0 to {}", present - 1));
        break;
      }
    if (e().batch.max_context() > case_.model.max_context && case_.model.max_context > 0)
      out_.warning(fmt::format("context {:.0f} is beyond the {} tokens that {} supports", e().batch.max_context(),
                               case_.model.max_context, case_.model.name),
                   place("batch"), "batch.context");
    const std::string later = not_simulated(e().plan, case_.model);
    if (!out_.has_errors() && !later.empty()) throw Infeasible("not-simulated-yet", later);
    for (const std::string& rule : broken_rules(e().plan, case_.model, case_.weights()))
      out_.error("illegal plan: " + rule, place("plan"), "plan");
  }

  std::string file_;
  const Document* given_;
  Diagnostics& out_;
  CaseCache& cache_;
  Case case_;
  Node root_;
  Overrides stack_set_;
};

}  // namespace

Machine degraded(Machine machine, const std::vector<Degradation>& degrade) {
  for (const Degradation& d : degrade) {
    if (d.p2p_off) machine.p2p_level = P2pLevel::off;
    if (d.gpu < 0) continue;
    const auto gpu = static_cast<std::size_t>(d.gpu);
    machine.gpu_speed.resize(std::max(machine.gpu_speed.size(), machine.gpus.size()), 1.0);
    machine.gpu_speed[gpu] *= d.speed;
    for (Link& link : machine.links)
      if (link.from == machine.gpus[gpu] || link.to == machine.gpus[gpu]) link.capacity = link.capacity * d.link;
  }
  return machine;
}

namespace {

Case load(const std::string& file, const Document* given, const Overrides& overrides, Diagnostics& warnings, CaseCache* cache) {
  Diagnostics all;
  CaseCache own;
  Case loaded = Loader(file, given, all, cache != nullptr ? *cache : own).load(overrides);
  if (all.has_errors()) throw InputError(std::move(all));
  warnings.merge(all);
  return loaded;
}

}  // namespace

Case load_case(const std::string& file, const Overrides& overrides, Diagnostics& warnings, CaseCache* cache) {
  return load(file, nullptr, overrides, warnings, cache);
}

Case load_case(const Document& doc, const Overrides& overrides, Diagnostics& warnings, CaseCache* cache) {
  return load(doc.file, &doc, overrides, warnings, cache);
}

}  // namespace moe
