#include "report/program.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/hash.hpp"
#include "engine/engine.hpp"
#include "network/pcie_rule.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

/// Calls that take part: the idle gap of a graph node is no call of its own.
bool is_executed(const Call& call) { return call.shape.op_class != "gap"; }

/// By call: the calls that end before it may start, found through ops that are no calls.
std::vector<std::vector<std::size_t>> predecessors(const Lowered& l) {
  constexpr std::size_t kNone = ~std::size_t{0};
  const Program& p = l.program;
  std::vector<std::size_t> call_of(p.size(), kNone);
  for (std::size_t c = 0; c < l.calls.size(); ++c)
    if (is_executed(l.calls[c]))
      for (const OpId op : l.calls[c].ops) call_of[index(op)] = c;
  std::vector<std::vector<std::size_t>> before_op(p.size()), before(l.calls.size());
  for (std::size_t i = 0; i < p.size(); ++i)
    for (const OpId next : p.successors[OpId(i)]) before_op[index(next)].push_back(i);
  for (std::size_t c = 0; c < l.calls.size(); ++c) {
    if (!is_executed(l.calls[c])) continue;
    std::vector<std::size_t> open = before_op[index(l.calls[c].ops.front())];
    while (!open.empty()) {
      const std::size_t op = open.back();
      open.pop_back();
      if (call_of[op] == kNone) open.insert(open.end(), before_op[op].begin(), before_op[op].end());
      else before[c].push_back(call_of[op]);
    }
    std::sort(before[c].begin(), before[c].end());
    before[c].erase(std::unique(before[c].begin(), before[c].end()), before[c].end());
  }
  return before;
}

bool has_weights(const Call& call) {
  const std::string& k = call.shape.op_class;
  return k == "dense" || k == "experts" || k == "absorb";
}
bool has_cache(const Call& call) {
  const std::string& k = call.shape.op_class;
  return k == "gqa" || k == "mla" || k == "sparse_mla";
}

/// What is executed: the part of an op that a replay has to follow, and that its hash is of.
Json executed(const Call& call) {
  Json op;
  op["rank"] = call.rank;
  op["layer"] = call.layer;
  op["name"] = call.name;
  op["class"] = call.shape.op_class;
  if (!call.shape.format.empty()) op["format"] = call.shape.format;
  if (call.group.empty() && !call.path.empty()) op["path"] = call.path;
  op["stream"] = call.stream;
  Json sizes = Json::object();
  for (const auto& [name, value] : call.shape.sizes) sizes[name] = value;
  op["sizes"] = sizes;
  const std::string place = call.layer >= 0 ? fmt::format("L{}.{}", call.layer, call.name) : call.name;
  if (has_weights(call)) op["weights"] = place;
  if (has_cache(call)) op["cache"] = place;
  if (!call.group.empty()) op["group"] = call.group;
  if (!call.rows.empty()) op["rows_per_expert"] = call.rows;
  return op;
}

[[noreturn]] void refuse(const char* what) {
  throw InputError(fmt::format("a program with {} cannot be replayed\n  = help: {}\n", what,
                               "one stage, no drafts, no half batches, and a stack with `launch.graph: full`"));
}

}  // namespace

RecordedStep recorded_step(const Case& c) {
  if (c.experiment.plan.pp > 1) refuse("pipeline stages");
  if (c.experiment.plan.overlap != Overlap::none) refuse("overlapping batches");
  if (c.draft != nullptr || c.experiment.speculation.method != Speculation::Method::none) refuse("speculation");
  LowerOptions options;
  options.fold = false;
  options.record = true;
  RecordedStep out;
  out.lowered = lower_step(c, options);
  if (out.lowered.graph != GraphMode::full) refuse("launches outside of a full CUDA graph");
  PcieRule rule(*c.machine);
  out.timeline = run(out.lowered.program, out.lowered.resources, Sharing::max_min, &rule);
  std::uint64_t h = kFnvOffset;
  for (const Call& call : out.lowered.calls) {
    Time sum{0};
    for (const OpId op : call.ops) sum += out.timeline.end[op] - out.timeline.start[op];
    out.call_us.push_back(to_ms(sum) * 1e3);
    out.category.push_back(out.lowered.program.category[call.ops.back()]);
    if (is_executed(call)) h = fnv1a(executed(call).dump(), h);
  }
  out.hash = hex64(h);
  return out;
}

nlohmann::ordered_json program_json(const Case& c, const RecordedStep& step, const std::string& name) {
  const Experiment& e = c.experiment;
  Json out;
  out["schema"] = 1;
  out["kind"] = "moe-sim program";
  out["name"] = name;
  out["hash"] = step.hash;
  Json set = Json::array();
  for (const auto& [key, value] : c.overrides)
    if (key != "profile") set.push_back({key, value});  // what a kernel costs does not change what runs
  out["experiment"] = {{"file", e.file}, {"set", set}};
  out["model"] = c.model.name;
  out["checkpoint"] = c.weights().id;
  out["layers"] = c.model.layers.size();
  out["stack"] = c.stack.name;
  out["plan"] = {{"tp", e.plan.tp}, {"ep", e.plan.ep}, {"dp", e.plan.dp}};
  out["gpus"] = e.gpus;
  out["ranks"] = step.lowered.ranks;
  out["batch"] = {{"sequences", e.batch.sequences}, {"mean_context", e.batch.mean_context()}};
  out["simulated"] = {{"profile", c.profile.name}, {"step_us", to_ms(step.timeline.makespan) * 1e3}};
  out["ops"] = Json::array();
  const auto before = predecessors(step.lowered);
  for (std::size_t i = 0; i < step.lowered.calls.size(); ++i) {
    const Call& call = step.lowered.calls[i];
    if (!is_executed(call)) continue;
    Json op = {{"id", i}, {"category", name_of(step.category[i])}};
    op.update(executed(call));
    op["dram_bytes"] = call.dram_bytes;
    op["simulated_us"] = step.call_us[i];
    op["after"] = before[i];
    out["ops"].push_back(op);
  }
  return out;
}

std::string program_text(const nlohmann::ordered_json& program) {
  std::string text = "{\n";
  for (const auto& [key, value] : program.items())
    if (key != "ops") text += fmt::format(" {}: {},\n", Json(key).dump(), value.dump());
  text += " \"ops\": [\n";
  const Json& ops = program["ops"];
  for (std::size_t i = 0; i < ops.size(); ++i) text += "  " + ops[i].dump() + (i + 1 < ops.size() ? ",\n" : "\n");
  return text + " ]\n}\n";
}

}  // namespace moe
