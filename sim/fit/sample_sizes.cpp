#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "cost/kernel_math.hpp"
#include "fit/routing_statistics.hpp"
#include "fit/samples.hpp"

namespace moe {
namespace {

constexpr double kLatentRank = 512, kRopeDim = 64, kNopeDim = 128;  // MLA of DeepSeek-V3, Kimi and GLM-5
constexpr double kIndexRowBytes = 128 + 4;  // DSA index cache: 128 values in FP8, one fp32 scale

double row_bytes(const std::string& kv_dtype) { return kv_dtype.ends_with("fp8") ? 1 : 2; }

/// Statistics are shared by all engines; each key is drawn once.
RoutingStatistics statistics(const RoutingKey& key) {
  static std::map<RoutingKey, RoutingStatistics> known;
  static std::mutex lock;
  {
    const std::lock_guard guard(lock);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  const RoutingStatistics drawn = routing_statistics(key);
  const std::lock_guard guard(lock);
  return known.emplace(key, drawn).first->second;
}

void fill_gemm(Sample& s, const Point& p, const PathData& path, const GpuSpec& gpu) {
  s.a = s.rows = p.size[0];
  s.b = p.size[1];
  s.c = p.size[2];
  const double weights = s.b * s.c * path.format.bytes_per_weight;
  double copies = path.protocol->copies;
  if (path.protocol->fill_l2 > 0)
    copies = std::clamp(std::ceil(gpu.l2_bytes / weights), 1.0, path.protocol->fill_l2);
  s.reuse_bytes = copies > 0 ? copies * weights : kCold;
}

void fill_moe(Sample& s, const Point& p, const PathData& path) {
  const auto whole = [&](std::size_t i) { return static_cast<int>(p.size[i]); };
  s.rows = p.size[0];
  const RoutingStatistics r = statistics({p.size[7], whole(0), whole(4), whole(3), whole(6)});
  bool gated = true;
  for (const Where& w : path.protocol->ungated) gated = gated && !w.matches(Op::moe, p);
  s.moe = {p.size[0], p.size[1], p.size[2] / p.size[5], whole(3), whole(4), whole(4) / whole(6), gated};
  s.load = r.load;
  if (path.protocol->clamped) std::copy(std::begin(r.clamped_tiles), std::end(r.clamped_tiles), s.load.tiles);
  const double expert_bytes =
      (gated ? 3 : 2) * s.moe.hidden * s.moe.intermediate * path.format.bytes_per_weight;
  s.reuse_bytes = path.protocol->copies > 0 ? path.protocol->copies * r.union5 * expert_bytes : kCold;
}

/// FP8 rows of the sparse kernels: the latent in FP8, a scale per 128, the rotary part in bf16 (656 B); else 16 bit.
double sparse_row_bytes(double element_bytes) {
  return element_bytes == 1 ? kLatentRank + 4 * kLatentRank / 128 + 2 * kRopeDim : 2 * (kLatentRank + kRopeDim);
}

void fill_attention(Sample& s, const Point& p, const PathData& path) {
  const double b = row_bytes(path.dtype);
  AttentionShape& a = s.attention;
  if (path.op == Op::gqa) {
    a = {.sequences = p.size[0], .context = p.size[1], .heads = p.size[2], .kv_heads = p.size[3],
         .head_dim = p.size[4], .kv_row_bytes = 2 * p.size[3] * p.size[4] * b};
    if (p.size[5] > 0) a.context = std::min(a.context, p.size[5]);
  } else if (path.op == Op::dsa) {
    a = {.sequences = p.size[1], .context = std::min(p.size[2], p.size[3]), .heads = p.size[0],
         .head_dim = kLatentRank, .score_dim = kLatentRank + kRopeDim, .kv_row_bytes = sparse_row_bytes(b)};
  } else {
    a = {.sequences = p.size[2], .context = p.size[3], .heads = p.size[0],
         .head_dim = kLatentRank, .score_dim = kLatentRank + kRopeDim, .kv_row_bytes = (kLatentRank + kRopeDim) * b};
  }
  s.rows = a.sequences;
  double touched = a.sequences * a.context * a.kv_row_bytes;
  if (path.op == Op::mla_module)
    touched += path.format.bytes_per_weight * (path.model.shared_weights() + a.heads * path.model.head_weights()) +
               2 * a.heads * path.model.absorbed_weights();
  s.reuse_bytes = path.protocol->copies > 0 ? path.protocol->copies * touched : kCold;
}

/// Bytes of a small kernel per value of its result, as a lowered step counts them: 16 bit in and out, or fp32 in.
double bytes_per_value(const std::string& path) {
  const std::string op = path.substr(path.rfind('/') + 1);
  if (op == "silu_mul" || op == "add" || op == "to_float") return 6;
  return op == "softmax" ? 8 : op == "quantise_rows" ? 3 : 4;
}

/// x and bytes as the profile's paths declare them (x_unit, bytes_of).
void fill_elementwise(Sample& s, const Point& p, const PathData& path, const std::string& kernel) {
  s.rows = p.size[0];
  double reused = 1;  // share of the bytes that the next call uses again
  if (path.op == Op::cast) {
    const double elements = p.size[0] * p.size[1];
    s.a = elements * 1e-6;
    s.b = elements * (path.name.ends_with("/absmax") ? 2 : 3);
  } else if (path.op == Op::bmm) {
    const double weights = p.size[1] * kLatentRank * kNopeDim;
    s.a = 2e-9 * p.size[0] * weights;
    s.b = path.format.bytes_per_weight * weights + 2 * p.size[0] * p.size[1] * (kLatentRank + kNopeDim);
  } else if (path.op == Op::dsa) {
    s.rows = p.size[1];
    s.b = (path.name.ends_with("indexer_topk") ? 16 : kIndexRowBytes + 4) * p.size[1] * p.size[2];
  } else if (path.op == Op::small) {
    s.a = path.x_unit.empty() ? 0 : 1e-3 * p.size[1];
    s.b = bytes_per_value(path.name) * p.size[0] * p.size[1];
  } else if (kernel.find("conv1d") != std::string::npos) {
    s.b = 4 * p.size[2] * p.size[0] * (2 * p.size[3] * p.size[4] + p.size[5] * p.size[6]);
    reused = 0.5;
  } else {
    s.b = 8 * p.size[0] * p.size[5] * p.size[4] * p.size[6];
    reused = 0.5;
  }
  s.reuse_bytes = path.protocol->copies > 0 ? path.protocol->copies * reused * s.b : kCold;
}

}  // namespace

/// What a row touches: sizes, load, footprint.
void fill_sample(Sample& s, const Point& p, const PathData& path, const std::string& kernel, const GpuSpec& gpu) {
  if (path.op == Op::gemm)
    fill_gemm(s, p, path, gpu);
  else if (path.op == Op::moe)
    fill_moe(s, p, path);
  else if (path.section == "attention_decode" || path.section == "mla_module")
    fill_attention(s, p, path);
  else
    fill_elementwise(s, p, path, kernel);
}

void describe_elementwise(PathData& d, const std::string& kernel) {
  if (d.op == Op::cast) {
    d.x_unit = "million elements";
    d.bytes_of =
        d.name.ends_with("/absmax") ? "16 bit in: 2 B x elements" : "16 bit in, 8 bit out: 3 B x elements";
  } else if (d.op == Op::bmm) {
    d.x_unit = "GFLOP: 2e-9 x tokens x heads x latent rank x head dim";
    d.bytes_of = "local weights, input, output: " + std::string(d.format.bytes_per_weight < 2 ? "1" : "2") +
                 " B x heads x rank x dim + 2 B x tokens x heads x (rank + dim)";
  } else if (d.op == Op::dsa) {
    d.bytes_of = d.name.ends_with("indexer_topk")
                     ? "fp32 logits, read once per 8 of their bits: 16 B x sequences x cached tokens"
                     : "index rows (128 in fp8, one scale) and fp32 logits: 136 B x sequences x cached tokens";
  } else if (d.op == Op::small) {
    if (d.name.ends_with("norm")) d.x_unit = "thousand values of a row";
    d.bytes_of = "as counted when a step is lowered: what the operation reads and writes once";
  } else if (kernel.find("conv1d") != std::string::npos) {
    d.bytes_of = "16 B x sequences x local channels (state in and out, input, output, 16 bit)";
  } else {
    d.bytes_of =
        "fp32 state of local value heads, in and out: 8 B x sequences x heads x head_k_dim x head_v_dim";
  }
}

}  // namespace moe
