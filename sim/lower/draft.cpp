#include "lower/draft.hpp"

#include <algorithm>

namespace moe {
namespace {

using Method = Speculation::Method;
constexpr int kDraftSeed = 1024, kFurtherPass = 512;  // beyond the positions of a model's MLP blocks

Case with_draft_model(const Case& target) {
  Case c = target;
  if (target.draft == nullptr) return c;
  c.model = target.draft->model;
  c.checkpoint = target.draft->checkpoint;
  c.experiment.speculation.method = Method::none;
  c.stack.extra_cast = {};  // what ails the target's layers is not the draft's
  return c;
}

/// A head or an MTP layer lives on the target's ranks as a layer does. A model of its own is divided over all lanes, or
/// run whole by each of them.
Layout draft_layout(const Case& c, Layout l) {
  if (c.experiment.speculation.method != Method::model) return l;
  if (c.experiment.speculation.tp == 1) l.tp = 1;
  l.moe_tp = l.tp;
  l.moe_ep = 1;
  l.experts_across_groups = false;
  return l;
}

}  // namespace

Drafter::Drafter(const Case& target, const LowerOptions& options, Writer& writer, const Layout& layout, int batch)
    : case_(with_draft_model(target)), layout_(draft_layout(target, layout)), writer_(writer) {
  const Speculation& s = target.experiment.speculation;
  if (target.draft == nullptr) return;
  const double k = s.drafts(batch);
  const bool block = s.method == Method::block;
  passes_ = block ? 1 : static_cast<int>(k);
  first_ = std::make_unique<Step>(case_, options, writer, layout_, StepShape{k + 1, block ? k : 1.0, kDraftSeed});
  const double width = s.tree_budget > 0 ? s.tree_width : 1;
  if (passes_ > 1)
    later_ = std::make_unique<Step>(case_, options, writer, layout_, StepShape{width, width, kDraftSeed + kFurtherPass});
}

void Drafter::write(int stage, int micro) {
  writer_.book_as(Category::draft);
  // Halves of one batch are prepared together.
  const bool prepares = layout_.pp > 1 || micro + 1 == layout_.micro_batches;
  if (prepares)
    for (const int r : writer_.stage_ranks(stage)) writer_.host_gap(r, micro, case_.stack.launch.host_per_draft_us);
  const bool captured = case_.experiment.speculation.captured;
  const int fused = case_.draft != nullptr ? case_.draft->fused_states : 0;
  for (int i = 0; i < passes_; ++i)
    (i == 0 ? *first_ : *later_).draft_pass(stage, micro, fused > 0, fused > 0 && (i == 0 || case_.draft->fused_each_pass), captured);
  writer_.book_as(std::nullopt);
}

}  // namespace moe
