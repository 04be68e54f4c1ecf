// What is asked? One YAML names model, machine, profile, stack and plan, the batch, and optionally what the answer
// is expected to be. `load_case` reads it and every file it names.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cost/profile.hpp"
#include "machine/machine.hpp"
#include "model/model.hpp"
#include "model/sizes.hpp"
#include "plan/plan.hpp"
#include "stack/stack.hpp"
#include "workload/batch.hpp"
#include "workload/placement.hpp"
#include "workload/routing.hpp"
#include "workload/speculation.hpp"

namespace moe {

/// `--set key=value`, what-ifs and claims: dotted experiment keys with their new text.
using Overrides = std::vector<std::pair<std::string, std::string>>;

/// A statement about the result, checked after the run. A refuted claim is an answer, not an error.
struct Claim {
  std::string metric;         ///< a key of result.json, dotted: step_ms, breakdown_ms.all_reduce, share.cast, gain.tokens_per_s, ...
  double value = 0;           ///< of a range: its middle
  double tolerance = 0;       ///< allowed distance; a share of |value| when relative; of a range: half its width
  bool tolerance_is_relative = true;
  std::string source, note;
  std::string text{};         ///< the statement in words; "": the metric's name
  bool is_range = false;      ///< given as `between: [low, high]`
  bool is_open = false;       ///< no value is claimed: the simulation predicts
  std::string only_under{};   ///< conditions of this experiment that are not the published ones; "": as published
  Overrides set{};            ///< keys changed for this claim
  Overrides against{};        ///< gain.*: keys changed for what it is compared with
};

/// One change that the user wants to see beside the plain answer.
struct WhatIfRequest {
  std::string name;
  Overrides set;                                            ///< experiment keys, dotted, with new values
  std::vector<std::pair<std::string, double>> faster;       ///< category or resource -> factor
};

/// What is wrong with the machine at hand: a slow GPU, a link at x8 or Gen4, no direct traffic between GPUs.
struct Degradation {
  int gpu = -1;           ///< machine GPU number
  double speed = 1;       ///< of its kernels: power cap, clocks
  double link = 1;        ///< share of its port's bandwidth that is left
  bool p2p_off = false;   ///< of the whole machine
};

/// Something about machine or build that nobody states, and how far it may move the step.
struct Unknown {
  std::string what;
  double spread = 0;      ///< standard deviation of ln(step time)
};

struct Experiment {
  std::string name;           ///< file name without .yaml
  std::string file;
  std::string question;
  std::string model, checkpoint, machine, profile, stack;
  std::vector<int> gpus;      ///< machine GPU numbers that take part; size = plan.gpus()
  KvDtype kv_dtype = KvDtype::bf16;
  int layers = 0;             ///< only the first so many layers of the model; 0: all
  Plan plan;
  Batch batch;
  Routing routing;
  Speculation speculation;
  Placement placement;
  int steps = 1;              ///< steps to simulate, with fresh routing draws
  double memory_fraction = 0; ///< 0: the stack's
  double memory_reserve_bytes = -1;  ///< -1: the stack's
  std::vector<Degradation> degrade;
  std::vector<WhatIfRequest> what_if;
  std::vector<Claim> claims;
  std::vector<Unknown> unknown;
};

/// What drafts tokens: an MTP layer, a draft head or a model of its own, as a model of few layers.
struct Draft {
  Model model;
  std::size_t checkpoint = 0;
  int copies = 1;                 ///< layers of which one is used per pass (MTP modules): held in memory
  int fused_states = 0;           ///< states of width `target hidden` joined by a projection: MTP 2, EAGLE-3 3
  bool fused_each_pass = false;   ///< MTP: in every pass; EAGLE-3: once per step
  bool own_embedding = false, own_head = false;
  std::string target;             ///< model it was made for; "": any
  const Checkpoint& weights() const { return model.checkpoints[checkpoint]; }
};

/// An experiment with everything it names, and where it all came from.
struct Case {
  Experiment experiment;
  Model model;
  std::size_t checkpoint = 0;           ///< position in model.checkpoints
  std::shared_ptr<const Machine> machine;
  std::shared_ptr<const Routes> routes; ///< of *machine
  std::shared_ptr<const Profile> profile;  ///< shared by every case that names it: its tables are large
  Stack stack;
  std::shared_ptr<const Draft> draft;   ///< null: no speculation, or none that runs on the GPU
  Overrides overrides;                  ///< that were applied to the file
  std::vector<FieldInfo> resolved;      ///< every experiment key with its value
  std::vector<std::pair<std::string, std::string>> files;  ///< path and hash of every file read

  const Checkpoint& weights() const { return model.checkpoints[checkpoint]; }
};

/// What a claim may be about: dotted keys of result.json, share.<category> of the step (0 to 1), gap_to_min. Beyond these,
/// calls.<kernel path>, and gain.<metric>: with the claim's `set` over that with its
/// `against` (default: the experiment as it stands), minus 1.
std::vector<std::string> known_metrics();

/// The machine as the experiment degrades it.
Machine degraded(Machine machine, const std::vector<Degradation>& degrade);

/// The declarations of an experiment file.
void bind_experiment(Fields& f, Experiment& e);
/// Reads an experiment and every file it names. All errors of all files are collected, then thrown as InputError;
/// warnings stay in `warnings`. A plan that is legal but not simulated yet throws Infeasible("not-simulated-yet").
/// With a `cache` (experiment/cache.hpp) files that it holds are not read again.
struct CaseCache;
Case load_case(const std::string& file, const Overrides& overrides, Diagnostics& warnings, CaseCache* cache = nullptr);
/// The same for an experiment in memory; the files it names are looked for relative to `doc.file`.
Case load_case(const Document& doc, const Overrides& overrides, Diagnostics& warnings, CaseCache* cache = nullptr);

}  // namespace moe
