#include "fit/samples.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/hash.hpp"
#include "cost/kernel_math.hpp"

namespace moe {
namespace {

constexpr double kColdFrom = 1.25;

std::uint64_t shape_of(Op op, const Point& p) {
  static const std::map<Op, std::vector<std::size_t>> columns{
      {Op::gemm, {1, 2}}, {Op::moe, {1, 2, 3, 4, 5, 6}}, {Op::gqa, {2, 3, 4, 5}},
      {Op::mla, {0, 2}},  {Op::mla_module, {0, 2}},      {Op::bmm, {0, 1}},
      {Op::cast, {1}},    {Op::linear, {1, 3, 5}},       {Op::dsa, {1, 3}},
      {Op::small, {0, 1}}};
  std::uint64_t h = fnv1a(op_class(op).name);
  for (const std::size_t c : columns.at(op))
    h = fnv1a(static_cast<std::uint64_t>(std::llround(p.size[c])), h);
  return h;
}

const char* section_of(const Series& s) {
  switch (s.op) {
    case Op::gemm: return "dense_gemm";
    case Op::moe: return "moe";
    case Op::gqa:
    case Op::mla: return "attention_decode";
    case Op::mla_module: return "mla_module";
    case Op::dsa: return s.tags[0] == "sparse_mla" ? "attention_decode" : "elementwise_and_state";
    default: return "elementwise_and_state";
  }
}

std::string dtype_of(const Series& s) {
  switch (s.op) {
    case Op::gemm:
    case Op::moe:
    case Op::gqa:
    case Op::mla: return s.tags[0];
    case Op::mla_module: return s.tags[2] + "/kv_" + s.tags[1];
    case Op::bmm:
    case Op::cast:
    case Op::dsa: return s.tags[1];
    case Op::small: return "-";
    default: return "-";
  }
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
  d.section = section_of(s);
  d.dtype = dtype_of(s);
  if (s.op == Op::gemm || s.op == Op::moe || s.op == Op::bmm)
    d.format = protocol.format(rule.format.empty() ? d.dtype : rule.format);
  if (s.op == Op::mla_module) {
    d.format = protocol.format(rule.format.empty() ? s.tags[2] : rule.format);
    d.model = protocol.model(s.tags[0]);
  }
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
      fill_sample(s, p, path, series.path, gpu);
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
KernelCost cost_of(const GpuSpec& gpu, const MlaModulePath& path, const Sample& s) {
  return mla_module(gpu, path, s.attention, s.reuse_bytes);
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
  if (section == "attention_decode" || section == "mla_module")
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
