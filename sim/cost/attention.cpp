#include <algorithm>

#include "cost/compute.hpp"
#include "cost/kernel_math.hpp"
#include "cost/split_kv.hpp"

namespace moe {

/// Decode attention core: KV streamed once per sequence, whatever the number of query tokens.
///
///   t = t0 + cb log2(B queries) + cq (qo + 2 parts) 1e-6 + [S>1] join + smax(memory, compute; p)
///   memory  = (B (L-P) + P) row [(1-h)/(e BW) + h/BW_L2] + (B-1) P row/BW_L2 + qo/BW_L2
///   P       = shared_context: blocks of a common prefix; the sequences of a wave read them one after the other from L2,
///             at the GPU's own L2 rate where that is known
///   compute = wave(tiles S/(occ SM); w) (chunk tau units head_dim/128 + eps)      chunk: tokens of the longest block, L/S
///   join    = cred log2(1+S);  of kernels whose cut is known: cred + csplit S, a kernel that goes through the S parts
///   qo      = B queries heads head_dim 2 x 2        [B]    query in, output out, 16 bit
///   flop    = 2 B queries heads L (score_dim + head_dim)
///
/// tiles, S, chunk, units, occ and parts: split_kv.hpp. The tables' context column counts the new token: L = context as given there.
/// Tested: tests/analytic/attention.cpp, tests/validation/attention_rows.cpp.
KernelCost decode_attention(const GpuSpec& gpu, const AttentionPath& path, const AttentionShape& shape,
                            double reuse_bytes) {
  KernelCost cost;
  cost.spread = spread_of(path.quality, shape.sequences);
  if (shape.sequences <= 0 || shape.heads <= 0) return cost;
  const SplitKv s = split_kv(gpu, path, shape);
  const ReadRate rate = read_rate(gpu, path.dram_eff, path.l2_tbps, reuse_bytes);
  const double rows = shape.sequences * shape.queries * shape.heads;
  const double qo_bytes = rows * shape.head_dim * 2 * 2;
  const double repeated_bytes = (shape.sequences - 1) * std::min(shape.shared_context, shape.context) * shape.kv_row_bytes;
  const double kv_bytes = shape.sequences * shape.context * shape.kv_row_bytes - repeated_bytes;
  const double score_dim = shape.score_dim > 0 ? shape.score_dim : shape.head_dim;
  const double token_us = path.tau_us_per_token * s.tile_units * shape.head_dim / 128;

  cost.waves = s.tiles * s.splits / (s.per_sm * gpu.sm);
  cost.launch_us = path.t0_us + path.cq_us_per_MB * (qo_bytes + 2 * s.part_bytes) * 1e-6;
  cost.launch_us += path.batch_us * std::log2(std::max(1.0, shape.sequences * shape.queries));
  if (s.splits > 1)
    cost.launch_us += path.split_us > 0 ? path.reduce_us + path.split_us * s.splits
                                        : path.reduce_us * std::log2(1 + s.splits);
  const double repeated_us = gpu.l2_Bps > 0 ? std::min(rate.l2_us, 1e6 / gpu.l2_Bps) : rate.l2_us;
  cost.memory_us = kv_bytes * rate.mixed_us + repeated_bytes * repeated_us + qo_bytes * rate.l2_us;
  cost.compute_us = wave(cost.waves, path.wave_quant) * (s.chunk * token_us + path.eps_us);
  if (!path.residuals.empty())
    cost.factor = path.residuals.factor({axis(shape.sequences), axis(shape.context), axis(shape.heads),
                                         axis(shape.kv_heads), axis(shape.head_dim), 1 - rate.miss});
  cost.time_us = cost.factor * (cost.launch_us + smax(cost.memory_us, cost.compute_us, path.p));
  cost.dram_bytes = kv_bytes * rate.miss;
  cost.flop = 2 * rows * shape.context * (score_dim + shape.head_dim);
  cost.in_range = within(path.quality, "sequences", shape.sequences) &&
                  within(path.quality, "context", shape.context) && within(path.quality, "heads", shape.heads) &&
                  within(path.quality, "group", shape.heads / shape.kv_heads) &&
                  within(path.quality, "head_dim", shape.head_dim);
  return cost;
}

}  // namespace moe
