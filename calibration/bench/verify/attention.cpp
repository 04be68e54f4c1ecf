#include <fmt/core.h>

#include <cmath>

#include "kernels/attention.hpp"
#include "verify/checks.hpp"
#include "verify/reference.hpp"

namespace moe::bench {
namespace {

std::size_t size(long a, long b, long c = 1, long d = 1) { return static_cast<std::size_t>(a * b * c * d); }

double gqa_error(cudaStream_t stream, const GqaShape& s) {
  const std::size_t rows = size(s.sequences, s.queries, s.heads), tokens = size(s.sequences, s.kv_heads, s.context);
  const auto dim = static_cast<std::size_t>(s.head_dim);
  const Buffer q(rows * dim * 2, Fill::normal_bf16, 51), k(tokens * dim * 2, Fill::normal_bf16, 52), v(tokens * dim * 2, Fill::normal_bf16, 53);
  const Buffer y = poisoned(rows * dim * 2), good = poisoned(rows * dim * 2), scratch = poisoned(gqa_workspace_bytes(s));
  const Buffer scores(rows * static_cast<std::size_t>(s.context) * 4);
  launch_gqa(stream, s, q.as<bf16>(), k.as<bf16>(), v.as<bf16>(), y.as<bf16>(), scratch.as());
  const long head = static_cast<long>(s.context) * s.head_dim;
  const reference::Attention a{s.sequences, s.context, s.heads, s.kv_heads, s.queries, s.head_dim, s.head_dim,
                               s.head_dim, head, head * s.kv_heads, 1 / std::sqrt(static_cast<float>(s.head_dim))};
  reference::attention(stream, a, q.as<bf16>(), k.as<bf16>(), v.as<bf16>(), good.as<bf16>(), scores.as<float>());
  return relative_error(stream, y.as<bf16>(), good.as<bf16>(), rows * dim);
}

double mla_error(cudaStream_t stream, const MlaShape& s) {
  constexpr int kWidth = kLatent + kRope;
  const std::size_t rows = size(s.sequences, s.queries, s.heads), tokens = size(s.sequences, s.context);
  const Buffer q(rows * kWidth * 2, Fill::normal_bf16, 61), cache(tokens * kWidth * 2, Fill::normal_bf16, 62);
  const Buffer y = poisoned(rows * kLatent * 2), good = poisoned(rows * kLatent * 2), scratch = poisoned(mla_workspace_bytes(s));
  const Buffer scores(rows * static_cast<std::size_t>(s.context) * 4);
  launch_mla(stream, s, q.as<bf16>(), cache.as<bf16>(), y.as<bf16>(), scratch.as());
  const reference::Attention a{s.sequences, s.context, s.heads, 1, s.queries, kWidth, kLatent, kWidth, 0,
                               static_cast<long>(s.context) * kWidth, 1 / std::sqrt(192.0f)};
  reference::attention(stream, a, q.as<bf16>(), cache.as<bf16>(), cache.as<bf16>(), good.as<bf16>(), scores.as<float>());
  return relative_error(stream, y.as<bf16>(), good.as<bf16>(), rows * kLatent);
}

}  // namespace

std::vector<Check> attention_checks(bool small) {
  // sequences, context, heads, kv_heads, head_dim, queries
  const std::vector<GqaShape> gqa = small ? std::vector<GqaShape>{{1, 70, 6, 2, 128, 1}, {2, 300, 8, 1, 64, 3}}
                                          : std::vector<GqaShape>{{1, 1, 8, 1, 128, 1},     {1, 64, 8, 2, 128, 1},
                                                                  {3, 777, 12, 2, 128, 1},  {2, 4099, 16, 1, 128, 1},
                                                                  {5, 1000, 8, 1, 64, 1},   {2, 500, 8, 2, 256, 1},
                                                                  {64, 2050, 8, 8, 128, 1}, {4, 1029, 12, 1, 128, 4}};
  const std::vector<MlaShape> mla = small ? std::vector<MlaShape>{{1, 70, 16, 1}, {2, 100, 24, 2}}
                                          : std::vector<MlaShape>{{1, 1, 16, 1},     {1, 2000, 16, 1}, {3, 777, 8, 1},
                                                                  {2, 1500, 32, 1},  {2, 999, 128, 1}, {40, 130, 16, 1},
                                                                  {2, 515, 16, 4}};
  std::vector<Check> checks;
  for (const GqaShape& s : gqa)
    checks.push_back({fmt::format("gqa {} x {} tokens, {} heads on {}, {} wide, {} queries", s.sequences, s.context,
                                  s.heads, s.kv_heads, s.head_dim, s.queries),
                      1e-2, [=](cudaStream_t stream) { return gqa_error(stream, s); }});
  for (const MlaShape& s : mla)
    checks.push_back({fmt::format("mla {} x {} tokens, {} heads, {} queries", s.sequences, s.context, s.heads, s.queries),
                      1e-2, [=](cudaStream_t stream) { return mla_error(stream, s); }});
  return checks;
}

}  // namespace moe::bench
