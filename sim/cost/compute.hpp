// How long does a kernel take? Pure functions of sizes and fitted constants. Times in microseconds.
//
// Notation (kernels.md 2): smax(a, b; p) = (a^p + b^p)^(1/p); wave(x; w) = w ceil(x) + (1-w) max(1, x);
// hit(F) = 1 / (1 + (F/C)^s), the share of a footprint F that repeated reads find in L2 (C, s from GpuSpec).
// A decode step uses every weight once, so the simulator calls these with reuse_bytes = kCold: no L2 hits.
#pragma once
#include <limits>
#include <vector>

#include "cost/profile.hpp"

namespace moe {

/// Bytes touched between two uses of the same data. kCold: never used again within a step.
inline constexpr double kCold = std::numeric_limits<double>::infinity();
/// Written by the kernel before: still in L2. For activations, which no decode step reads from DRAM.
inline constexpr double kInL2 = 0;

/// A cost with its parts. time_us is what the simulator charges; the parts explain it.
struct KernelCost {
  double time_us = 0;
  double launch_us = 0;   ///< fixed part, and per-token or per-expert bookkeeping
  double memory_us = 0;   ///< what the bytes alone would take
  double compute_us = 0;  ///< what the tiles alone would take, in waves over the SMs
  double dram_bytes = 0;  ///< read or written beyond L2
  double flop = 0;        ///< useful: multiply and add of the asked rows, no padding
  ComputeType compute = ComputeType::bf16;
  double waves = 0;       ///< tiles (x splits) over SMs
  double factor = 1;      ///< residual table of the path, contained in time_us only
  double spread = 0;      ///< standard deviation of ln(measured/predicted), from the fit's residuals
  bool in_range = true;   ///< all sizes inside the fitted range
};

/// y[m,n] = x[m,k] w[k,n].
///   t = t0 + cq m k 1e-6 + smax(memory, tiles; p)
///   memory = n k b [(1-h)/(e BW) + h/BW_L2] + 2 m (k+n)/BW_L2
///   tiles  = wave(T S/SM; w) (k/S tau + eps) + [S>1] split, T = ceil(m/bm) ceil(n/bn), S = split-K
///            least over the regime's tiles, and over splitting or not
KernelCost dense_gemm(const GpuSpec& gpu, const DenseGemmPath& path, double m, double n, double k,
                      double reuse_bytes = kCold);

/// How the library cuts a dense GEMM, and what the tiles alone take.
struct GemmTile {
  int bm = 0, bn = 0;
  double tiles = 0, splits = 1, waves = 0, time_us = 0;
};
GemmTile gemm_tile(const GpuSpec& gpu, const DenseGemmPath& path, double m, double n, double k);

/// Sizes of one GPU's share of the routed experts of a layer.
struct MoeShape {
  double tokens = 0;        ///< of the whole communicator that routes together (the global batch)
  double hidden = 0;        ///< input width of the experts
  double intermediate = 0;  ///< on this GPU: expert width / moe_tp
  int topk = 0;
  int experts = 0;          ///< of the layer
  int local_experts = 0;    ///< on this GPU: experts / moe_ep
  bool gated = true;
};

/// What the router sent to this GPU: everything the cost needs of it.
struct ExpertLoad {
  double active = 0;        ///< local experts with at least one row (A)
  double rows = 0;          ///< rows over all local experts (R)
  double tokens_here = 0;   ///< tokens with at least one local expert
  /// M tiles for a tile of `bm` rows: sum over experts of ceil(rows/bm); bm = 8, 16, 32, 64, 128, 256.
  double tiles[6] = {};
  double tiles_for(int bm) const;
};
/// Counts per local expert -> load.
ExpertLoad load_of(const std::vector<int>& rows_per_expert, double tokens_here);

/// Rows of one M tile under the path's rule.
int tile_rows(const TileRule& rule, const MoeShape& shape, const ExpertLoad& load);

/// The routed experts of one layer: both grouped GEMMs and everything in path.includes (kernels.md 2).
/// reuse_bytes: kCold, or for benchmark rows the expert bytes touched between two uses.
KernelCost grouped_experts(const GpuSpec& gpu, const MoePath& path, const MoeShape& shape, const ExpertLoad& load,
                           double reuse_bytes = kCold);
/// The same split into stages that add up to grouped_experts().time_us: routing (top-k), permute and quantise,
/// first GEMM, second GEMM and combine.
struct ExpertStages {
  double route_us = 0, permute_us = 0, gemm1_us = 0, gemm2_us = 0;
};
ExpertStages expert_stages(const GpuSpec& gpu, const MoePath& path, const MoeShape& shape, const ExpertLoad& load);

/// Decode attention over cached tokens. For MLA: kv_heads = 1, q_head_bytes and row bytes of the latent.
struct AttentionShape {
  double sequences = 0;
  double context = 0;        ///< cached tokens that are read, mean over sequences (window applied by the caller)
  double shared_context = 0; ///< of `context`: tokens that all sequences have in common, read from DRAM once
  double queries = 1;        ///< query tokens per sequence (1 + drafts in a verify step)
  double heads = 0;          ///< query heads on this GPU
  double kv_heads = 1;       ///< on this GPU
  double head_dim = 0;       ///< of the output (MLA: latent rank)
  double score_dim = 0;      ///< of the dot product; 0: head_dim (MLA: rank + rope)
  double kv_row_bytes = 0;   ///< bytes of one cached token on this GPU, all local KV heads, K and V
};
KernelCost decode_attention(const GpuSpec& gpu, const AttentionPath& path, const AttentionShape& shape,
                            double reuse_bytes = kCold);

/// A whole MLA attention block (query and latent projections, absorbed products, core, output projection):
///   t = core(t0, ...) + smax(c x, W [(1-h)/(e_w BW) + h/BW_L2]; p)
///   W = shared + heads x per_head   [B];  x = 2e-9 B queries (shared + heads per_head elements)   [GFLOP]
/// No step is charged with it (its parts are): it holds the parts against a measured whole.
KernelCost mla_module(const GpuSpec& gpu, const MlaModulePath& path, const AttentionShape& shape,
                      double reuse_bytes = kCold);

/// t = t0 + smax(c x, bytes [(1-h)/(e BW) + h/BW_L2]; p). The path says what x and bytes count (x_unit, bytes_of).
/// Norms, RoPE, casts and activations work on what the kernel before wrote: call them with kInL2. State updates and
/// batched weights stream from DRAM: kCold.
KernelCost elementwise(const GpuSpec& gpu, const ElementwisePath& path, double x, double bytes,
                       double reuse_bytes = kCold);

}  // namespace moe
