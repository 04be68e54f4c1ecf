// The keys of an experiment file.
#include <fmt/core.h>

#include <algorithm>

#include "experiment/bind_claims.hpp"
#include "experiment/bind_routing.hpp"
#include "experiment/experiment.hpp"
#include "experiment/speculation.hpp"

namespace moe {
namespace {

void bind_names(Fields& f, Experiment& e) {
  int schema = 0;
  f.integer("schema", schema, Need::required, Range::between(1, 1), "version of this file format");
  f.text("question", e.question, Need::optional, "what this experiment wants to know, in one sentence");
  f.text("model", e.model, Need::required, "name of a file in models/, or a path");
  f.text("checkpoint", e.checkpoint, Need::optional, "id of one of the model's checkpoints; default: its first");
  f.text("machine", e.machine, Need::required, "name of a file in topologies/, or a path");
  f.text("profile", e.profile, Need::required, "name of a file in calibration/profiles/, or a path");
  f.text("stack", e.stack, Need::required, "name of a file in calibration/stacks/, or a path");
  f.integer("layers", e.layers, Need::optional, Range::between(1, 1000),
            "only the first layers of the model, so many: a part that fits into less memory; default: all");
  f.choice("kv_dtype", e.kv_dtype, {"bf16", "fp8"}, Need::optional, "number format of the KV cache");
}

/// gpus: 8, or gpus: [0, 1, 4, 5].
void bind_gpus(Fields& f, Experiment& e) {
  const Node* node = f.raw("gpus", "count or list", Need::optional,
                           "GPUs of the machine that take part; default: the first ones that the plan needs");
  if (node == nullptr) return;
  const std::vector<Node> single{*node};
  for (const Node& item : node->is_list() ? node->items : single) {
    const Parsed parsed = parse_quantity(item.text, Unit::count);
    if (!item.is_scalar() || !parsed.problem.empty() || parsed.value < 0 || parsed.value > 4096)
      return f.error("gpus", fmt::format("invalid GPU number or count `{}`", item.text), "write `8` or `[0, 1, 2, 3]`");
    const int gpu = static_cast<int>(parsed.value);
    if (node->is_scalar()) {
      if (gpu == 0) return f.error("gpus", "`gpus` must be at least 1");
      for (int i = 0; i < gpu; ++i) e.gpus.push_back(i);
    } else if (std::find(e.gpus.begin(), e.gpus.end(), gpu) != e.gpus.end()) {
      return f.error("gpus", fmt::format("GPU {} is listed twice", gpu));
    } else {
      e.gpus.push_back(gpu);
    }
  }
}

void bind_batch(Fields& f, Experiment& e) {
  f.section("batch", Need::required, "the running batch", [&](Fields& g) {
    g.integer("sequences", e.batch.sequences, Need::required, Range::between(1, 1 << 20), "sequences in the step");
    g.numbers("context", e.batch.context, Unit::count, Need::required, Range::between(0, 1 << 28),
              "cached tokens before the step: one number, or one per sequence (k = 1024)");
    g.quantity("shared_prefix", e.batch.shared_prefix, Unit::count, Need::optional, Range::not_negative(),
               "of these: first tokens that all sequences have in common, cached once and read once from DRAM");
    if (e.batch.context.empty()) g.error("context", "`context` is empty");
    else if (e.batch.shared_prefix > *std::min_element(e.batch.context.begin(), e.batch.context.end()))
      g.error("shared_prefix", "`shared_prefix` is longer than the shortest `context`");
    if (e.batch.context.size() > 1 && static_cast<int>(e.batch.context.size()) != e.batch.sequences)
      g.error("context", fmt::format("`context` lists {} sequences, `sequences` is {}", e.batch.context.size(),
                                     e.batch.sequences));
    g.numbers("remaining", e.batch.remaining, Unit::count, Need::optional, Range::at_least(1),
              "tokens that every sequence still has to write, one number or one per sequence: how long until the batch has drained");
    if (e.batch.remaining.size() > 1 && static_cast<int>(e.batch.remaining.size()) != e.batch.sequences)
      g.error("remaining", fmt::format("`remaining` lists {} sequences, `sequences` is {}", e.batch.remaining.size(),
                                       e.batch.sequences));
  });
}

void bind_what_if(Fields& f, Experiment& e) {
  f.list("what_if", Need::optional, "further questions, each the same step with one change", [&](Fields& g, std::size_t) {
    WhatIfRequest w;
    g.text("name", w.name, Need::required, "what the report calls it");
    bind_set(g, "set", w.set, "keys to change");
    if (const Node* faster = g.raw("faster", "map of category: factor", Need::optional,
                                   "breakdown categories, memory or links, and how many times as fast")) {
      std::vector<std::string> parts(kCategoryKeys.begin(), kCategoryKeys.end());
      parts.insert(parts.end(), {"memory", "links"});
      if (!faster->is_map()) g.error("faster", "`faster` must be a map of category: factor");
      for (const Entry& entry : faster->entries) {
        const Parsed factor = parse_number(entry.value.text);
        if (std::find(parts.begin(), parts.end(), entry.key) == parts.end())
          g.error("faster", fmt::format("nothing called `{}` can be faster", entry.key), suggestion(entry.key, parts));
        else if (!factor.problem.empty() || factor.value <= 0)
          g.error("faster", fmt::format("`{}` needs a factor above 0", entry.key));
        else w.faster.emplace_back(entry.key, factor.value);
      }
    }
    if (w.set.empty() && w.faster.empty() && !g.describing())
      g.error("name", fmt::format("what-if `{}` changes nothing", w.name), "give `set` or `faster`");
    e.what_if.push_back(std::move(w));
  });
}

void bind_unknown(Fields& f, Experiment& e) {
  f.list("unknown", Need::optional, "what nobody states about machine or build; widens the interval", [&](Fields& g, std::size_t) {
    Unknown u;
    g.text("what", u.what, Need::required, "in one sentence");
    g.quantity("spread", u.spread, Unit::share, Need::required, Range::between(0, 1), "how far it may move the step: standard deviation of ln(time)");
    e.unknown.push_back(std::move(u));
  });
}

void bind_degrade(Fields& f, Experiment& e) {
  f.list("degrade", Need::optional, "what is wrong with the machine at hand", [&](Fields& g, std::size_t) {
    Degradation d;
    g.integer("gpu", d.gpu, Need::optional, Range::between(0, 4096), "GPU of the machine");
    g.quantity("speed", d.speed, Unit::share, Need::optional, Range::between(0.05, 2), "of its kernels, 1: nominal (power cap, clocks)");
    g.quantity("link", d.link, Unit::share, Need::optional, Range::between(0.01, 1), "share of its port's bandwidth (x8 or Gen4: 50 %)");
    bool p2p = true;
    g.flag("p2p", p2p, Need::optional, "false: GPUs talk through host memory only");
    d.p2p_off = !p2p;
    const bool of_gpu = d.speed != 1 || d.link != 1;
    if (of_gpu && d.gpu < 0) g.error("gpu", "`speed` and `link` need a `gpu`");
    if (!of_gpu && !d.p2p_off && !g.describing()) g.error("gpu", "this entry changes nothing", "give `speed`, `link` or `p2p: false`");
    e.degrade.push_back(d);
  });
}

}  // namespace

void bind_experiment(Fields& f, Experiment& e) {
  bind_names(f, e);
  f.section("plan", Need::required, "degrees of parallelism", [&](Fields& g) { bind_plan(g, e.plan); });
  bind_gpus(f, e);
  bind_batch(f, e);
  bind_routing(f, e.routing);
  bind_speculation(f, e.speculation);
  bind_placement(f, e.placement, e.plan);
  f.integer("steps", e.steps, Need::optional, Range::between(1, 10000), "steps to simulate with fresh routing");
  if (e.routing.temporal > 0 && e.steps == 1 && !f.describing())
    f.warning("routing", "`temporal` has no effect on a single step", "set `steps`");
  f.section("memory", Need::optional, "GPU memory for weights and KV cache", [&](Fields& g) {
    g.quantity("fraction", e.memory_fraction, Unit::share, Need::optional, Range::between(0.01, 1),
               "share of GPU memory the engine takes; default: the stack's");
    g.quantity("reserve", e.memory_reserve_bytes, Unit::bytes, Need::optional, Range::not_negative(),
               "of that: graphs and workspace; default: the stack's");
  });
  f.raw("override", "map of dotted key: value", Need::optional,
        "changes to the named files, e.g. stack.launch.graph: eager");
  bind_degrade(f, e);
  bind_unknown(f, e);
  bind_what_if(f, e);
  f.raw("sweep", "map of dotted key: values", Need::optional,
        "axes of `moe-sim sweep`, crossed: lists or ranges like 1..256x2; `zip` holds maps of keys that go together");
  bind_claims(f, e.claims);
}

}  // namespace moe
