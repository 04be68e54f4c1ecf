#include "plan/memory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"

namespace moe {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

/// Part of a layer's cache that one rank of a tensor-parallel group holds. The latent of MLA has no heads: whole on
/// every rank. KV heads are divided, and repeated when there are fewer than ranks.
double share_on_rank(const Attention& a, int tp) {
  switch (a.kind) {
    case Attention::Kind::gqa: return std::max(1.0, static_cast<double>(a.kv_heads) / tp) / a.kv_heads;
    case Attention::Kind::gdn:
    case Attention::Kind::mamba2: return 1.0 / tp;
    default: return 1;
  }
}

/// What the cache of one stage costs a rank: per token, per sequence, and per sequence of the batch's mean length.
struct StageKv {
  double per_token = 0, fixed = 0, per_mean_sequence = 0;
  double shared = 0;  ///< bytes of the prefix that all sequences have in common: held once
  double bytes(int sequences) const { return sequences > 0 ? shared + sequences * (per_mean_sequence - shared) : 0; }
};

StageKv kv_of_stage(const Model& model, const Layout& layout, int stage, KvDtype kv, const Batch& batch, const DraftShare& draft) {
  StageKv out;
  if (stage == layout.pp - 1) {
    out.per_token = draft.kv_per_token;
    out.fixed = draft.kv_fixed;
    out.per_mean_sequence = draft.kv_per_token * batch.mean_context() + draft.kv_fixed;
  }
  for (int i = layout.first_layer[static_cast<std::size_t>(stage)]; i < layout.first_layer[static_cast<std::size_t>(stage) + 1]; ++i) {
    const Layer& l = model.layers[static_cast<std::size_t>(i)];
    const Attention& a = model.attention_of(l);
    KvLayer layer = kv_of_layer(a, kv, l.indexer);
    if (a.kind == Attention::Kind::gdn) layer.state_bytes *= draft.state_copies;
    const double share = share_on_rank(a, layout.tp);
    const double split = layer.window > 0 ? 1 : layout.dcp;  // windows stay whole
    const double tokens = layer.window > 0 ? batch.mean_capped(layer.window) : batch.mean_context();
    out.per_mean_sequence += share * (layer.bytes_per_token * tokens / split + layer.state_bytes);
    if (layer.window > 0) out.fixed += share * layer.bytes_per_token * layer.window;
    else out.per_token += share * layer.bytes_per_token / split;
    out.fixed += share * layer.state_bytes;
  }
  out.shared = out.per_token * batch.shared_prefix;
  return out;
}

/// The fullest group's share of the batch.
Batch largest_group(const Batch& batch, int groups) {
  Batch fullest = slice(batch, 0, groups);
  for (int g = 1; g < groups; ++g) {
    const Batch other = slice(batch, g, groups);
    if (other.total_context() > fullest.total_context()) fullest = other;
  }
  return fullest;
}

}  // namespace

DraftShare draft_share(const Model& draft, const Checkpoint& weights, const Layout& layout, KvDtype kv, int tp, int copies,
                       int fused, bool own_embedding, bool own_head) {
  RankOptions body;
  body.embedding = body.head = false;
  if (tp == layout.tp) body.expert_ranks = layout.moe_tp * layout.moe_ep;
  DraftShare out;
  const double once = weights_on_rank(draft, weights, tp, body).total();
  RankOptions whole = body;
  whole.embedding = own_embedding || layout.pp > 1;  // the last stage does not hold the target's embedding
  whole.head = own_head;
  const double outside = weights_on_rank(draft, weights, tp, whole).total() - once;
  const double h = draft.hidden;
  const double fusion = fused * h * h * bytes_per_element(weights.format[index(TensorClass::mtp_proj)]);
  out.weights_bytes = copies * (once + fusion) + outside;
  for (const Layer& l : draft.layers) {
    const KvLayer layer = kv_of_layer(draft.attention_of(l), kv, l.indexer);
    const double share = share_on_rank(draft.attention_of(l), tp);
    if (layer.window > 0) out.kv_fixed += copies * share * layer.bytes_per_token * layer.window;
    else out.kv_per_token += copies * share * layer.bytes_per_token / (tp == layout.tp ? layout.dcp : 1);
    out.kv_fixed += copies * share * layer.state_bytes;
  }
  return out;
}

Memory memory_of(const Model& model, const Checkpoint& checkpoint, const Layout& layout, KvDtype kv, const Batch& batch,
                 const GpuSpec& gpu, double fraction, double reserve_bytes, const DraftShare& draft) {
  Memory out;
  out.kv_capacity_tokens = out.largest_batch = std::numeric_limits<double>::infinity();
  const Batch fullest = largest_group(batch, layout.dp);
  for (int s = 0; s < layout.pp; ++s) {
    RankOptions options;
    options.expert_ranks = layout.moe_tp * layout.moe_ep;
    options.first_layer = layout.first_layer[static_cast<std::size_t>(s)];
    options.end_layer = layout.first_layer[static_cast<std::size_t>(s) + 1];
    options.embedding = s == 0;
    options.head = s == layout.pp - 1;
    RankMemory rank;
    rank.weights = weights_on_rank(model, checkpoint, layout.tp, options);
    rank.weights_bytes = rank.weights.total() + (options.head ? draft.weights_bytes : 0);
    rank.reserve_bytes = reserve_bytes;
    rank.budget_bytes = fraction * gpu.memory_bytes;
    const double left = rank.budget_bytes - rank.reserve_bytes - rank.weights_bytes;
    const StageKv most = kv_of_stage(model, layout, s, kv, fullest, draft);
    if (most.per_token > 0)
      out.kv_capacity_tokens = std::min(out.kv_capacity_tokens,
                                        layout.dp * std::floor((left - most.fixed * fullest.sequences) / most.per_token));
    if (most.per_mean_sequence > most.shared)
      out.largest_batch = std::min(out.largest_batch, layout.dp * std::floor((left - most.shared) / (most.per_mean_sequence - most.shared)));
    if (most.per_token > out.kv_bytes_per_token) out.kv_bytes_per_token = most.per_token;
    if (most.fixed > out.kv_fixed_per_sequence) out.kv_fixed_per_sequence = most.fixed;
    for (int g = 0; g < layout.dp; ++g) {
      const Batch group = slice(batch, g, layout.dp);
      rank.kv_bytes = kv_of_stage(model, layout, s, kv, group, draft).bytes(group.sequences);
      out.ranks.insert(out.ranks.end(), static_cast<std::size_t>(layout.tp), rank);
    }
  }
  for (double* v : {&out.kv_capacity_tokens, &out.largest_batch}) *v = std::isfinite(*v) ? std::max(0.0, *v) : 0;
  return out;
}

void check_fits(const Memory& memory, const std::vector<int>& gpus) {
  for (std::size_t r = 0; r < memory.ranks.size(); ++r) {
    const RankMemory& m = memory.ranks[r];
    const double over = m.total() - m.budget_bytes;
    if (over <= 0) continue;
    throw Infeasible("memory",
                     fmt::format("does not fit: GPU {} needs {:.2f} GiB (weights {:.2f}, KV cache {:.2f}, reserve {:.2f}) "
                                 "and has {:.2f} GiB for the engine, {:.2f} GiB too little",
                                 gpus[r], m.total() / kGiB, m.weights_bytes / kGiB, m.kv_bytes / kGiB,
                                 m.reserve_bytes / kGiB, m.budget_bytes / kGiB, over / kGiB));
  }
}

}  // namespace moe
