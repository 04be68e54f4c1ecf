// The keys of `speculation:`, of a draft file and of an acceptance file.
#include <fmt/core.h>

#include <algorithm>

#include "experiment/speculation.hpp"
#include "model/load.hpp"

namespace moe {
namespace {

using Method = Speculation::Method;

void check_positions(Fields& g, const std::vector<double>& s) {
  for (std::size_t i = 1; i < s.size(); ++i)
    if (s[i] > s[i - 1])
      return g.error("per_position", "`per_position` must not rise: a position counts only when all before it were accepted",
                     "engines print this as per-position acceptance rate; for conditional rates give their running products");
}

/// mean_length and per_position, of all batches or of one entry.
void bind_lengths(Fields& g, double& mean, std::vector<double>& per_position) {
  g.number("mean_length", mean, Need::optional, Range::between(1, 65), "tokens per step, the bonus token counted");
  g.numbers("per_position", per_position, Unit::share, Need::optional, Range::between(0, 1),
            "share of steps in which drafts 1..i were all accepted, for i = 1, 2, ...");
  check_positions(g, per_position);
  if (mean > 0 && !per_position.empty()) g.error("mean_length", "give `mean_length` or `per_position`, not both");
}

void bind_known_acceptance(Fields& g, Acceptance& a) {
  bind_lengths(g, a.mean_length, a.per_position);
  g.integer("drafts", a.drafts, Need::optional, Range::between(1, 64),
            "draft tokens per step with which `mean_length` was measured; default: k");
  if (!a.per_position.empty() && g.has("drafts")) g.warning("drafts", "`drafts` has no effect with `per_position`");
  std::vector<double> interval;
  g.numbers("interval", interval, Unit::number, Need::optional, Range::between(1, 65), "90 % interval of the mean length: [low, high]");
  if (interval.size() == 2 && interval[0] <= interval[1]) a.low = interval[0], a.high = interval[1];
  else if (!interval.empty()) g.error("interval", "`interval` is [low, high]");
  g.number("spread", a.spread, Need::optional, Range::between(0, 16), "standard deviation of the mean length between sequences");
  g.list("by_batch", Need::optional, "acceptance that depends on the batch, ascending", [&](Fields& h, std::size_t) {
    BatchAcceptance b;
    h.integer("max_batch", b.max_batch, Need::required, Range::at_least(1), "largest batch of this entry");
    bind_lengths(h, b.mean_length, b.per_position);
    if (b.mean_length <= 0 && b.per_position.empty() && !h.describing())
      h.error("max_batch", "this entry says nothing", "give `mean_length` or `per_position`");
    if (!a.by_batch.empty() && a.by_batch.back().max_batch >= b.max_batch) h.error("max_batch", "`max_batch` must ascend");
    a.by_batch.push_back(std::move(b));
  });
}

void bind_acceptance(Fields& f, Speculation& s) {
  Acceptance& a = s.acceptance;
  const bool needed = s.k > 0 && s.method != Method::none;
  f.section("acceptance", needed && !f.describing() ? Need::required : Need::optional, "how many drafts are accepted", [&](Fields& g) {
    bind_known_acceptance(g, a);
    g.text("trace", a.trace, Need::optional, "CSV with a column `accepted` per step, and `sequence`");
    g.text("library", a.library, Need::optional, "name of a file in calibration/acceptance");
    const int ways = (a.mean_length > 0 || !a.per_position.empty() || !a.by_batch.empty() ? 1 : 0) + (a.trace.empty() ? 0 : 1) + (a.library.empty() ? 0 : 1);
    if (ways != 1 && !g.describing())
      g.error("library", ways == 0 ? "`acceptance` says nothing" : "acceptance is given in several ways",
              "give one of mean_length, per_position, trace, library");
  });
}

void bind_tree_and_adaptive(Fields& f, Speculation& s) {
  f.section("tree", Need::optional, "several candidates per position", [&](Fields& g) {
    g.integer("budget", s.tree_budget, Need::required, Range::between(2, 1024), "tokens verified per sequence, the root counted");
    g.integer("width", s.tree_width, Need::optional, Range::between(1, 64), "candidates that a draft pass extends");
  });
  if (s.tree_budget > 0 && s.tree_budget < s.k + 1)
    f.error("tree", fmt::format("a budget of {} tokens cannot hold {} drafts and the root", s.tree_budget, s.k));
  f.list("adaptive", Need::optional, "fewer drafts in larger batches, ascending; above the last entry: k", [&](Fields& g, std::size_t) {
    AdaptiveDrafts a;
    g.integer("max_batch", a.max_batch, Need::required, Range::at_least(1), "largest batch of this entry");
    g.integer("k", a.k, Need::required, Range::between(0, 16), "draft tokens per step");
    if (!s.adaptive.empty() && s.adaptive.back().max_batch >= a.max_batch) g.error("max_batch", "`max_batch` must ascend");
    s.adaptive.push_back(a);
  });
}

void check_inert(Fields& f, const Speculation& s) {
  const auto method = kSpeculationNames[static_cast<int>(s.method)];
  const auto inert = [&](const char* key, bool used) {
    if (f.has(key) && !used) f.warning(key, fmt::format("`{}` has no effect with `method: {}`", key, method));
  };
  const bool external = s.method == Method::model, from_file = external || s.method == Method::eagle3 || s.method == Method::block;
  inert("draft", from_file);
  inert("checkpoint", external);
  inert("draft_tp", external);
  inert("captured", from_file || s.method == Method::mtp);
  for (const char* key : {"k", "acceptance", "tree", "adaptive", "token_overlap"}) inert(key, s.method != Method::none);
  if (from_file && s.draft.empty() && !f.describing())
    f.error("method", fmt::format("`method: {}` needs a `draft`", method), external ? "name a file of models/" : "name a file of models/drafts/");
}

}  // namespace

void bind_speculation(Fields& f, Speculation& s) {
  f.section("speculation", Need::optional, "draft tokens that one step verifies together (docs/speculation.md)", [&](Fields& g) {
    g.choice("method", s.method, {std::begin(kSpeculationNames), std::end(kSpeculationNames)}, Need::required, "what drafts");
    g.integer("k", s.k, Need::optional, Range::between(0, 16), "draft tokens per step; 0: no speculation");
    g.text("draft", s.draft, Need::optional, "draft head (models/drafts) or draft model (models)");
    g.text("checkpoint", s.checkpoint, Need::optional, "checkpoint of a draft model");
    g.integer("draft_tp", s.tp, Need::optional, Range::between(1, 4096), "GPUs that share a draft model: 1 (each runs it whole) or the plan's tp");
    g.flag("captured", s.captured, Need::optional, "draft passes are CUDA graphs");
    g.quantity("token_overlap", s.token_overlap, Unit::share, Need::optional, Range::between(0, 0.99),
               "probability, beyond chance, that a token of a sequence uses an expert of the token before it");
    bind_acceptance(g, s);
    bind_tree_and_adaptive(g, s);
    check_inert(g, s);
  });
}

void bind_draft(Fields& f, Draft& draft) {
  bind_model(f, draft.model);
  f.section("draft", Need::required, "how the head hangs on its target", [&](Fields& g) {
    g.text("target", draft.target, Need::optional, "model that it was trained for");
    g.integer("fused_states", draft.fused_states, Need::optional, Range::between(0, 16),
              "hidden states of the target that one projection joins, once per step");
    g.flag("own_embedding", draft.own_embedding, Need::optional, "false: shares the target's");
    g.flag("own_head", draft.own_head, Need::optional, "false: shares the target's");
  });
}

void bind_acceptance_entry(Fields& f, Acceptance& a) {
  int schema = 0;
  f.integer("schema", schema, Need::required, Range::between(1, 1), "version of this file format");
  f.text("source", a.source, Need::required, "where the numbers come from");
  bind_known_acceptance(f, a);
  if (!a.given() && !f.describing()) f.error("source", "the entry says nothing", "give `mean_length`, `per_position` or `by_batch`");
}

}  // namespace moe
