// Does it fit? Weights, KV cache and reserve of every GPU, and how many tokens the KV cache can hold.
//
// Example (Kimi-K2.5 INT4, TP8, fp8 KV, 96 GB GPUs): 72.0 GiB of weights per GPU; the latent KV is repeated on every
// rank, 35 136 B per token, so what is left holds some 400 000 tokens in total, not per GPU.
#pragma once
#include <string>
#include <vector>

#include "model/sizes.hpp"
#include "plan/plan.hpp"

namespace moe {

struct RankMemory {
  double weights_bytes = 0;
  RankWeights weights;          ///< the same by tensor class, without a draft
  double kv_bytes = 0;          ///< of the running batch
  double reserve_bytes = 0;     ///< graphs, workspace, activations
  double budget_bytes = 0;      ///< share of the GPU's memory that the engine takes
  double total() const { return weights_bytes + kv_bytes + reserve_bytes; }
};

struct Memory {
  std::vector<RankMemory> ranks;
  double kv_bytes_per_token = 0;    ///< on the fullest rank, layers that keep every token
  double kv_fixed_per_sequence = 0; ///< on the fullest rank: windows once full, recurrent state
  double kv_capacity_tokens = 0;    ///< that the cache holds for the running number of sequences; 0: none
  double largest_batch = 0;         ///< sequences of the batch's mean context that fit
};

/// What speculation adds to every rank of the last stage, and to the recurrent state of every layer.
struct DraftShare {
  double weights_bytes = 0;
  double kv_per_token = 0;        ///< of the draft's own cache, this rank's share
  double kv_fixed = 0;            ///< per sequence: windows, states
  double state_copies = 1;        ///< recurrent state is kept after every token that may be rejected: drafts + 1
};

/// Share of a draft model of few layers on one rank: weights divided over `tp`, embedding and head where they are its own
/// (or where the last stage of a pipeline does not hold the target's), `copies` times its layers and `fused` h x h blocks
/// of the projection that joins it to the target.
DraftShare draft_share(const Model& draft, const Checkpoint& weights, const Layout& layout, KvDtype kv, int tp, int copies,
                       int fused, bool own_embedding, bool own_head);

/// Memory of every rank of one replica (stage by stage, group by group). `fraction` of `gpu.memory_bytes` is the
/// engine's, `reserve_bytes` of that is not for weights or KV. `batch` is that of the replica.
///   weights   of the stage's layers, divided as the plan says (model/sizes.hpp, weights_on_rank)
///   KV        of the group's sequences: MLA latent whole, KV heads divided by tp; tokens divided by dcp
///   capacity  tokens of all groups together, limited by the rank with the least room; dcp multiplies it
Memory memory_of(const Model& model, const Checkpoint& checkpoint, const Layout& layout, KvDtype kv, const Batch& batch,
                 const GpuSpec& gpu, double fraction, double reserve_bytes, const DraftShare& draft = {});

/// Throws Infeasible("memory") that says by how much and on which GPU the batch does not fit.
void check_fits(const Memory& memory, const std::vector<int>& gpus);

}  // namespace moe
