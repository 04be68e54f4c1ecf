#include "fit/samples.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/hash.hpp"
#include "cost/kernel_math.hpp"
#include "fit/routing_statistics.hpp"

namespace moe {
namespace {

constexpr double kLatentRank = 512, kRopeDim = 64, kNopeDim = 128;  // MLA of DeepSeek-V3, the tables' model
constexpr double kColdFrom = 1.25;

std::uint64_t shape_of(Op op, const Point& p) {
  static const std::map<Op, std::vector<std::size_t>> columns{
      {Op::gemm, {1, 2}}, {Op::moe, {1, 2, 3, 4, 5, 6}}, {Op::gqa, {2, 3, 4, 5}},
      {Op::mla, {0, 2}},  {Op::mla_module, {0, 2}},      {Op::bmm, {0, 1}},
      {Op::cast, {1}},    {Op::linear, {1, 3, 5}}};
  std::uint64_t h = fnv1a(op_class(op).name);
  for (const std::size_t c : columns.at(op))
    h = fnv1a(static_cast<std::uint64_t>(std::llround(p.size[c])), h);
  return h;
}

double row_bytes(const std::string& kv_dtype) { return kv_dtype == "fp8" ? 1 : 2; }

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

void fill_attention(Sample& s, const Point& p, const PathData& path) {
  const double b = row_bytes(path.dtype);
  AttentionShape& a = s.attention;
  if (path.op == Op::gqa) {
    a = {p.size[0], p.size[1], 1, p.size[2], p.size[3], p.size[4], 0, 2 * p.size[3] * p.size[4] * b};
    if (p.size[5] > 0) a.context = std::min(a.context, p.size[5]);
  } else {
    a = {p.size[2],
         p.size[3],
         1,
         p.size[0],
         1,
         kLatentRank,
         kLatentRank + kRopeDim,
         (kLatentRank + kRopeDim) * b};
  }
  s.rows = a.sequences;
  s.reuse_bytes =
      path.protocol->copies > 0 ? path.protocol->copies * a.sequences * a.context * a.kv_row_bytes : kCold;
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
  } else if (kernel.find("conv1d") != std::string::npos) {
    s.b = 4 * p.size[2] * p.size[0] * (2 * p.size[3] * p.size[4] + p.size[5] * p.size[6]);
    reused = 0.5;
  } else {
    s.b = 8 * p.size[0] * p.size[5] * p.size[4] * p.size[6];
    reused = 0.5;
  }
  s.reuse_bytes = path.protocol->copies > 0 ? path.protocol->copies * reused * s.b : kCold;
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
  } else if (kernel.find("conv1d") != std::string::npos) {
    d.bytes_of = "16 B x sequences x local channels (state in and out, input, output, 16 bit)";
  } else {
    d.bytes_of =
        "fp32 state of local value heads, in and out: 8 B x sequences x heads x head_k_dim x head_v_dim";
  }
}

const char* section_of(Op op) {
  switch (op) {
    case Op::gemm: return "dense_gemm";
    case Op::moe: return "moe";
    case Op::gqa:
    case Op::mla:
    case Op::mla_module: return "attention_decode";
    default: return "elementwise_and_state";
  }
}

std::string dtype_of(const Series& s) {
  const bool first = s.op == Op::gemm || s.op == Op::moe || s.op == Op::gqa || s.op == Op::mla;
  return s.tags.empty() ? "-" : s.tags[first ? 0 : 1];
}

/// A series joins the path of its name, or begins it.
void add_series(std::vector<PathData>& paths, const Series& s, std::size_t position, const PathProtocol& rule,
                const Protocol& protocol) {
  if (!rule.skip.empty()) return;
  const std::string name = path_name(rule, s);
  const auto same = std::find_if(paths.begin(), paths.end(), [&](const PathData& d) {
    return d.op == s.op && d.name == name && d.protocol == &rule;
  });
  if (same != paths.end()) {
    same->series.push_back(static_cast<std::uint32_t>(position));
    return;
  }
  PathData d;
  d.name = name;
  d.op = s.op;
  d.section = section_of(s.op);
  d.dtype = dtype_of(s);
  if (s.op == Op::gemm || s.op == Op::moe || s.op == Op::bmm)
    d.format = protocol.format(rule.format.empty() ? d.dtype : rule.format);
  d.protocol = &rule;
  d.series = {static_cast<std::uint32_t>(position)};
  if (d.section == "elementwise_and_state") describe_elementwise(d, s.path);
  paths.push_back(d);
}

}  // namespace

std::vector<PathData> paths_of(const Measurements& m, const Protocol& protocol) {
  std::vector<PathData> paths;
  for (std::size_t i = 0; i < m.series.size(); ++i)
    for (const PathProtocol* rule : protocol.rules_of(m.series[i]))
      add_series(paths, m.series[i], i, *rule, protocol);
  std::stable_sort(paths.begin(), paths.end(), [](const PathData& x, const PathData& y) {
    return x.op != y.op ? x.op < y.op : x.name < y.name;
  });
  return paths;
}

std::vector<Sample> samples_of(const Measurements& m, const PathData& path, const Protocol& protocol,
                               const GpuSpec& gpu, const std::vector<Where>& leave_out) {
  std::vector<Sample> samples;
  for (const std::uint32_t i : path.series) {
    const Series& series = m.series[i];
    for (std::size_t k = 0; k < series.points.size(); ++k) {
      const Point& p = series.points[k];
      if (p.us <= 0 || &protocol.of(series, p) != path.protocol || !protocol.scored(series, p)) continue;
      Sample s;
      s.us = p.us;
      s.series = i;
      s.point = static_cast<std::uint32_t>(k);
      s.shape = shape_of(path.op, p);
      s.held_out = (s.shape >> 17) % static_cast<std::uint64_t>(protocol.hold_out) == 0;
      for (const Where& w : leave_out) s.held_out = s.held_out || w.matches(path.op, p);
      if (path.op == Op::gemm)
        fill_gemm(s, p, path, gpu);
      else if (path.op == Op::moe)
        fill_moe(s, p, path);
      else if (path.section == "attention_decode")
        fill_attention(s, p, path);
      else
        fill_elementwise(s, p, path, series.path);
      s.cold = s.reuse_bytes > kColdFrom * gpu.l2_resident_bytes;
      samples.push_back(s);
    }
  }
  return samples;
}

KernelCost cost_of(const GpuSpec& gpu, const DenseGemmPath& path, const Sample& s) {
  return dense_gemm(gpu, path, s.a, s.b, s.c, s.reuse_bytes);
}
KernelCost cost_of(const GpuSpec& gpu, const MoePath& path, const Sample& s) {
  return grouped_experts(gpu, path, s.moe, s.load, s.reuse_bytes);
}
KernelCost cost_of(const GpuSpec& gpu, const AttentionPath& path, const Sample& s) {
  return decode_attention(gpu, path, s.attention, s.reuse_bytes);
}
KernelCost cost_of(const GpuSpec& gpu, const ElementwisePath& path, const Sample& s) {
  return elementwise(gpu, path, s.a, s.b, s.reuse_bytes);
}

AxisValues axes_of(const GpuSpec& gpu, const std::string& section, const Sample& s) {
  const double warm = hit(gpu, s.reuse_bytes);
  const MoeShape& m = s.moe;
  const AttentionShape& t = s.attention;
  if (section == "dense_gemm") return {axis(s.a), axis(s.b), axis(s.c), warm};
  if (section == "moe")
    return {axis(m.tokens),
            axis(m.hidden),
            axis(m.intermediate),
            axis(m.local_experts),
            axis(m.topk),
            axis(m.experts),
            axis(s.load.active > 0 ? s.load.rows / s.load.active : 0),
            warm};
  if (section == "attention_decode")
    return {axis(t.sequences), axis(t.context), axis(t.heads), axis(t.kv_heads), axis(t.head_dim), warm};
  return {axis(1e6 * s.a), axis(s.b), warm};
}

std::size_t bucket_of(double rows) {
  return rows <= 1 ? 0 : rows <= 16 ? 1 : rows <= 128 ? 2 : rows <= 512 ? 3 : 4;
}
const std::vector<std::string>& bucket_names() {
  static const std::vector<std::string> names{"1", "2-16", "17-128", "129-512", "513-"};
  return names;
}

}  // namespace moe
