// The MLP half of a layer, and what stands outside the layers.
#include "base/check.hpp"
#include "lower/recipe.hpp"

namespace moe {
namespace {

void cook_pair(Cook& c, const char* up, const char* down, TensorClass weights, double width, double input, bool gated) {
  const double local = width / c.tp(), parts = gated ? 2 : 1;
  c.dense(up, weights, parts * local, input, false,
          weights == TensorClass::shared_experts ? Category::shared_experts : Category::dense_gemm);
  c.elementwise("activation", "activation", 2 * (parts + 1) * c.rows() * local,
                weights == TensorClass::shared_experts ? Category::shared_experts : Category::small_kernels);
  c.dense(down, weights, input, local, false,
          weights == TensorClass::shared_experts ? Category::shared_experts : Category::dense_gemm);
}

void cook_moe(Cook& c, const Mlp& m) {
  const double h = c.inputs().model.hidden;
  const bool travels = c.layout().experts_across_groups, overlaps = c.layout().overlap == Overlap::single_batch;
  const bool second_stream = m.shared_experts > 0 && (c.inputs().stack.shared_experts_stream || overlaps);
  const std::size_t from = c.size();
  if (m.shared_experts > 0) {
    cook_pair(c, "shared gate_up", "shared down", TensorClass::shared_experts, m.shared_intermediate, h, m.gated);
    if (m.shared_gate) c.elementwise("shared gate", "", 4 * c.rows() * h, Category::shared_experts);
    if (second_stream) c.move_to_aux(from);
  }
  c.dense("router", TensorClass::router, m.experts, h, true);
  if (m.latent > 0) c.dense("latent down", TensorClass::latent_proj, m.latent, h, true);
  if (travels) c.mark(Item::What::dispatch);
  c.mark(Item::What::routed_experts);
  if (second_stream && !(travels && overlaps)) c.mark(Item::What::join_streams);
  if (travels) c.mark(Item::What::combine);
  if (second_stream && travels && overlaps) c.mark(Item::What::join_streams);
  if (m.latent > 0) c.dense("latent up", TensorClass::latent_proj, h, m.latent, true);
  if (m.shared_experts > 0) c.elementwise("shared add", "shared_add", 6 * c.rows() * h, Category::shared_experts);
}

}  // namespace

void cook_mlp(Cook& c, const Mlp& m) {
  if (m.kind == Mlp::Kind::none) return;
  cook_residual(c);
  c.reduction("add+norm", "add_norm", c.inputs().model.hidden);
  if (m.kind == Mlp::Kind::dense)
    cook_pair(c, "gate_up", "down", TensorClass::dense_mlp, m.intermediate, c.inputs().model.hidden, m.gated);
  else cook_moe(c, m);
  // Tokens that came back from other groups are whole; slices inside the group still have to be added up.
  c.all_reduce("all-reduce mlp");
}

void cook_embedding(Cook& c) {
  c.elementwise("embedding", "embedding", 4 * c.rows() * c.inputs().model.hidden);
  if (c.inputs().stack.comm.embedding_all_reduce) c.all_reduce("all-reduce embedding");
}

namespace {

void cook_logits(Cook& c) {
  const Model& model = c.inputs().model;
  const double rows = c.head_rows(), vocab = model.vocab;
  c.reduction("final norm", "add_norm", model.hidden);
  c.dense("lm_head", TensorClass::lm_head, vocab / c.tp(), model.hidden, false, Category::lm_head, rows);
  c.collective("all-gather logits", Category::all_gather, CollectiveOp::all_gather, Scope::group, rows * vocab * 2);
}

}  // namespace

void cook_head(Cook& c) {
  cook_logits(c);
  // Sampling: kernels with a fixed part each, and some fp32 passes over all logits (stack: sampling). A verify step
  // scores every position.
  const Stack& stack = c.inputs().stack;
  for (int i = 0; i < stack.sampling_kernels; ++i) {
    c.other("sampling", "sampling", "any", Category::sampling, 0,
            stack.sampling_passes / stack.sampling_kernels * 4 * c.head_rows() * c.inputs().model.vocab, kInL2, true);
    c.sized({{"rows", c.head_rows()}, {"vocab", static_cast<double>(c.inputs().model.vocab)}});
  }
}

void cook_draft_head(Cook& c) {
  cook_logits(c);
  c.other("argmax", "sampling", "any", Category::sampling, 0, 2 * c.head_rows() * c.inputs().model.vocab, kInL2, true);
}

/// MTP: eh_proj (M, h, 2h); EAGLE-3: fc (M, h, 3h). Replicated (ReplicatedLinear in vLLM and SGLang).
void cook_fusion(Cook& c, int fused, bool projects) {
  const double h = c.inputs().model.hidden;
  if (fused == 0) return;
  c.reduction("embedding norm", "draft_norm", h);
  c.reduction("hidden norm", "draft_norm", h);
  if (projects) c.dense("draft fusion", TensorClass::mtp_proj, h, fused * h, true);
}

}  // namespace moe
