// What does the engine build run? Which kernel path each op uses, what is fused, how steps are launched, and how
// ranks talk. Two builds on one GPU differ only here. Files: calibration/stacks/*.yaml, read by stack/load.cpp.
//
// Example: vllm-0.24 runs bf16 dense GEMMs by `vllm-0.24.0/bfloat16`, INT4 experts by its Marlin path, replays full
// CUDA graphs captured at 1, 2, 4, 8, 16, ... rows, and all-reduces by NCCL.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "cost/collective.hpp"
#include "model/model.hpp"

namespace moe {

enum class GraphMode { full, piecewise, eager };

/// How a step is launched. Times in microseconds.
struct Launch {
  GraphMode mode = GraphMode::full;
  std::vector<int> capture_sizes;     ///< rows; a batch is padded up to the next one; empty: no padding
  bool sizes_are_sequences = false;   ///< capture_sizes count sequences; a verify step has several rows of each
  double host_per_step_us = 0;        ///< gap between two steps that the GPU sees in graph mode
  double host_per_draft_us = 0;       ///< speculation: host and preparation kernels between a step and its drafts
  double node_gap_us = 0;             ///< idle per graph node, for ops that were timed alone
  double cold_kernel_us = 0;          ///< per kernel: its code and small data left the L2 since the layer before
  double host_per_layer_us = 0;       ///< eager: host time to launch one layer, whatever the batch
  double host_per_eager_attention_us = 0;  ///< piecewise: host time per layer to launch eager attention
};

/// Measured one-shot kernel of a rank count: T = t0 + (n-1) bytes / rate.
struct OneShot {
  int ranks = 0;
  double t0_us = 0;
  double rate_GBps = 0;
};

struct Communication {
  CollectivePolicy policy;            ///< cut-offs and protocols; one-shot constants are filled per rank count
  std::vector<OneShot> one_shot;
  bool embedding_all_reduce = true;   ///< vocab-parallel embedding: one more all-reduce per step
  bool fused_with_norm = false;       ///< all-reduce, residual add and norm in one kernel
  bool dispatch_all_to_all = false;   ///< routed tokens travel by all-to-all; false: all-gather and reduce-scatter
  double dispatch_bytes = 2;          ///< per element on the way to the experts; they return in 2
  double sm_share = 0.04;             ///< share of the SMs that a collective takes from compute beside it
  double pipeline_us = 0;             ///< host time of a hand-off between pipeline stages
};

/// A pathological cast that some build runs once per layer over a buffer that is not the step's own data.
struct ExtraCast {
  double bytes = 0;                   ///< moved per call; 0: none
  std::string layers = "all";         ///< all, moe or dense
};

/// Published steps of a build over the simulated ones, for batches up to `up_to` (the last entry: any larger one): the
/// 5th and 95th percentile of measured / simulated. Widens the interval, never moves the prediction.
struct PublishedSpread {
  int up_to = 0;
  double low = 1, high = 1;
};

struct Stack {
  std::string name;
  std::string engine;
  bool documented = false;            ///< described by logs or recipes (a validation regime)
  std::vector<std::string> sources, unknown;
  std::vector<PublishedSpread> published, published_with_drafts;  ///< ascending; empty: no published step
  /// Kernel paths of the profile by op class, then by number format: kernels["dense"]["bf16"].
  /// Op classes: dense, experts, mla, sparse_mla, gqa, absorb, elementwise, reduction, cast, sampling,
  /// indexer_logits, indexer_topk, gdn_recurrent, gdn_conv, mhc. Small kernels may have paths of their own, by the names
  /// of kFusable and embedding; those that do not are `reduction` (norms) or `elementwise`.
  std::map<std::string, std::map<std::string, std::string>> kernels;
  std::vector<std::string> fused;     ///< small kernels that do not run on their own here (see kFusable)
  bool shared_experts_stream = false; ///< shared expert on a second stream
  bool l2_prefetch = false;           ///< fetches the next weights into L2 while a collective runs
  bool cast_free = false;             ///< casts and quantisations run inside their neighbours
  bool persistent_experts = false;    ///< grouped GEMM without partial waves
  double expert_sparsity = 1;         ///< share of expert weights that is read (2:4 structured: 0.5 + index bits)
  bool sparse_attention = true;       ///< runs DSA where the model has it; false: dense attention over all tokens
  int sampling_kernels = 8;
  double sampling_passes = 5;         ///< fp32 passes over batch x vocabulary
  Launch launch;
  Communication comm;
  ExtraCast extra_cast;
  double memory_fraction = 0.92;      ///< of GPU memory that the engine takes
  double reserve_bytes = 0;           ///< of that: graphs, workspace, activations

  bool fuses(std::string_view kernel) const;
  /// Path for an op class and format; empty when the stack names none.
  std::string path(const std::string& op, const std::string& format) const;
  /// Rows after padding to a captured size; 0 when the batch exceeds the largest one.
  int padded_rows(int rows) const;
  /// The same for a batch of sequences with `queries` rows each, whatever the sizes count.
  int padded_rows(int sequences, int queries) const;
};

/// Small kernels that a stack may fuse away.
inline constexpr std::array<std::string_view, 8> kFusable{"add_norm", "qk_norm", "rope", "kv_write", "q_concat",
                                                          "activation", "shared_add", "output_gate"};

/// Kernel family of a weight format: fp8_b128 -> fp8_block, int4_g32 -> int4, ...
std::string kernel_format(Format format);

}  // namespace moe
