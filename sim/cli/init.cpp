// moe-sim init: a commented experiment to start from. Asks on a terminal for what was not given.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/study_commands.hpp"
#include "cost/load_profile.hpp"
#include "experiment/files.hpp"
#include "machine/load.hpp"
#include "model/load.hpp"
#include "search/plans.hpp"
#include "report/result.hpp"
#include "base/check.hpp"

namespace moe {
namespace {

std::string chosen(const std::string& given, const char* what, const char* folder, const Streams& s) {
  const std::vector<std::string> known = data_names(folder, "");
  std::string name = given;
  if (name.empty() && isatty(STDIN_FILENO) != 0) {
    s.err << fmt::format("{} (", what);
    for (std::size_t i = 0; i < known.size(); ++i) s.err << (i == 0 ? "" : ", ") << known[i];
    s.err << "): " << std::flush;
    std::getline(std::cin, name);
  }
  if (name.empty()) throw InputError(fmt::format("no {} given\n  = help: --{} NAME; moe-sim list {}", what, what, std::string(folder) == kModels ? "models" : "topologies"));
  if (find_data(folder, name, "").empty()) throw InputError(fmt::format("no file for {} `{}`\n  = help: {}", what, name, suggestion(name, known)));
  return name;
}

/// The profile that was fitted for the machine's GPU.
std::string profile_for(const Machine& machine) {
  for (const std::string& name : data_names(kProfiles, "")) {
    Diagnostics ignored;
    if (load_profile(find_data(kProfiles, name, ""), ignored).gpu.name == machine.gpu) return name;
  }
  throw Infeasible("profile", fmt::format("no profile for {}: measure one with moe-calibrate, then moe-sim fit", machine.gpu));
}

std::string text_of(const std::string& model, const std::string& checkpoint, const std::string& machine, const std::string& profile,
                    const std::string& stack, int tp) {
  return fmt::format(R"(# {model} on {machine}. `moe-sim explain KEY` says what a key means; `moe-sim run` this file for the answer.
schema: 1
question: how fast does {model} decode on {machine}?
model: {model:<28} # moe-sim list models
checkpoint: {checkpoint}
machine: {machine:<26} # moe-sim list topologies
profile: {profile:<26} # kernel and communication costs of the machine's GPU
stack: {stack:<28} # moe-sim list stacks
plan: {{tp: {tp}}}                        # also ep, dp, pp, dcp, replicas; `moe-sim search` tries them all
batch: {{sequences: 8, context: 4k}}  # sequences in the step, tokens cached before it (k = 1024)
routing: {{kind: power_law, alpha: 1.2, seed: 1}}   # how unevenly tokens choose experts
sweep:                        # axes of `moe-sim sweep`, crossed
  batch.sequences: 1..256x2
  batch.context: [1k, 8k, 64k]
)", fmt::arg("model", model), fmt::arg("checkpoint", checkpoint), fmt::arg("machine", machine), fmt::arg("profile", profile),
                     fmt::arg("stack", stack), fmt::arg("tp", tp));
}

struct Choice {
  std::string checkpoint, stack;
  int tp = 0;
};

/// The first checkpoint, stack and largest tensor-parallel degree that have an answer.
Choice that_runs(const InitArguments& a, const std::string& model_name, const std::string& machine_name, const std::string& profile,
                 const Model& model, const Machine& machine, const std::string& file) {
  std::string why = "no checkpoint";
  for (const Checkpoint& c : model.checkpoints)
    for (const std::string& stack : data_names(kStacks, "")) {
      if ((!a.checkpoint.empty() && a.checkpoint != c.id) || (!a.stack.empty() && a.stack != stack)) continue;
      for (int tp = static_cast<int>(machine.gpus.size()); tp >= 1; --tp) {
        Plan plan;
        plan.tp = tp;
        if (!broken_rules(plan, model, c).empty()) continue;
        write_text_file(file, text_of(model_name, c.id, machine_name, profile, stack, tp));
        try {
          Diagnostics warnings;
          const Case loaded = load_case(file, {}, warnings);
          EvaluateOptions options;
          options.what_if = options.detail = false;
          evaluate(loaded, options);
          return {c.id, stack, tp};
        } catch (const InputError& e) {
          why = e.diagnostics.all().empty() ? e.what() : e.diagnostics.all().front().message;
        } catch (const Infeasible& e) {
          why = e.what();
        }
        break;  // a smaller tp needs more memory per GPU
      }
    }
  std::filesystem::remove(file);
  throw Infeasible("init", "no checkpoint and stack of " + model_name + " has an answer here; the last reason: " + why);
}

}  // namespace

int init_command(const InitArguments& a, const Streams& s) {
  const std::string model_name = chosen(a.model, "model", kModels, s), machine_name = chosen(a.machine, "machine", kTopologies, s);
  Diagnostics found;
  const Model model = load_model(find_data(kModels, model_name, ""), found);
  const Machine machine = load_machine(find_data(kTopologies, machine_name, ""), found);
  if (found.has_errors()) throw InputError(std::move(found));
  const std::string file = a.out.empty() ? model_name + "-on-" + machine_name + ".yaml" : a.out;
  if (std::filesystem::exists(file)) throw InputError(fmt::format("`{}` exists\n  = help: name another file with --out", file));
  const Choice c = that_runs(a, model_name, machine_name, profile_for(machine), model, machine, file);
  s.out << fmt::format("wrote {}: {} {} with {} on {} GPUs\nnext   moe-sim search {} --plot pareto.svg   or   moe-sim run {}\n", file, model_name,
                       c.checkpoint, c.stack, c.tp, file, file);
  return kAnswered;
}

}  // namespace moe
