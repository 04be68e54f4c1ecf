#include "plan/memory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

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

}  // namespace

Memory memory_of(const Model& model, const Checkpoint& checkpoint, const Plan& plan, KvDtype kv, const Batch& batch,
                 const GpuSpec& gpu, double fraction, double reserve_bytes) {
  Memory out;
  double per_mean_sequence = 0;
  RankMemory rank;
  rank.weights_bytes = weights_on_rank(model, checkpoint, plan.tp, {}).total();
  rank.reserve_bytes = reserve_bytes;
  rank.budget_bytes = fraction * gpu.memory_bytes;
  for (const Layer& l : model.layers) {
    const Attention& a = model.attention_of(l);
    const KvLayer layer = kv_of_layer(a, kv, l.indexer);
    const double share = share_on_rank(a, plan.tp);
    const double tokens = layer.window > 0 ? batch.mean_capped(layer.window) : batch.mean_context();
    per_mean_sequence += share * (layer.bytes_per_token * tokens + layer.state_bytes);
    if (layer.window > 0) out.kv_fixed_per_sequence += share * layer.bytes_per_token * layer.window;
    else out.kv_bytes_per_token += share * layer.bytes_per_token;
    out.kv_fixed_per_sequence += share * layer.state_bytes;
  }
  rank.kv_bytes = per_mean_sequence * batch.sequences;
  out.ranks.assign(static_cast<std::size_t>(plan.gpus()), rank);
  const double left = rank.budget_bytes - rank.reserve_bytes - rank.weights_bytes;
  const double for_tokens = left - out.kv_fixed_per_sequence * batch.sequences;
  if (out.kv_bytes_per_token > 0) out.kv_capacity_tokens = std::max(0.0, std::floor(for_tokens / out.kv_bytes_per_token));
  if (per_mean_sequence > 0) out.largest_batch = std::max(0.0, std::floor(left / per_mean_sequence));
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
