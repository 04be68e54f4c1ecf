// attention_decode.csv and mla_decode.csv: cores of decode attention with their reduction, cold caches.
#include <algorithm>

#include "harness/buffer.hpp"
#include "kernels/attention.hpp"
#include "measure/grid.hpp"
#include "measure/points.hpp"
#include "measure/sections.hpp"

namespace moe::bench {
namespace {

constexpr std::size_t kCacheRoom = 16ull << 30;
constexpr double kMostCacheBytes = 4e9;  ///< of one call

std::vector<GqaShape> gqa_grid(bool quick) {
  // heads, kv_heads, head_dim of one GPU: groups of 2 to 16, as TP1 to TP8 leaves them.
  constexpr int kHeads[][3] = {{4, 1, 128},  {5, 1, 128},  {6, 1, 128},  {8, 1, 128},  {12, 1, 128}, {16, 1, 128}, {10, 2, 128},
                               {16, 2, 128}, {24, 2, 128}, {32, 2, 128}, {8, 4, 128},  {24, 4, 128}, {40, 4, 128}, {64, 4, 128},
                               {48, 8, 128}, {96, 8, 128}, {8, 1, 64},   {32, 4, 64},  {8, 8, 128},  {16, 8, 64}};
  constexpr int kPoints = 72;
  std::vector<GqaShape> points;
  for (std::size_t h = 0; h < std::size(kHeads); ++h)
    for (int i = 0; i < kPoints; ++i) {
      const int at = i + 7 * static_cast<int>(h);
      const int batch = log_between(halton(at, 2), 1, 256, 1), context = log_between(halton(at, 3), 128, 65536, 1);
      const double bytes = 4.0 * batch * context * kHeads[h][1] * kHeads[h][2];
      if (bytes < kLeastColdBytes || bytes > kMostCacheBytes) continue;
      points.push_back({batch, context, kHeads[h][0], kHeads[h][1], kHeads[h][2], 1});
    }
  return thinned(points, quick, 20);
}

std::vector<MlaShape> mla_grid(bool quick) {
  constexpr int kPoints = 110;
  std::vector<MlaShape> points;
  for (const int heads : {8, 16, 32, 64, 128})
    for (int i = 0; i < kPoints; ++i) {
      const int at = i + 5 * heads;
      const int batch = log_between(halton(at, 2), 1, 256, 1), context = log_between(halton(at, 3), 128, 65536, 1);
      const double bytes = 1152.0 * batch * context;
      if (bytes < kLeastColdBytes || bytes > kMostCacheBytes) continue;
      points.push_back({batch, context, heads, 1});
    }
  return thinned(points, quick, 20);
}

}  // namespace

void measure_gqa(Session& session) {
  Results results = session.results("attention_decode.csv", {"path", "kv_dtype", "batch", "context", "heads", "kv_heads", "head_dim", "window"});
  Arena arena(kCacheRoom, Fill::normal_bf16);
  const auto key = [](const GqaShape& s) {
    return Key{"suite-1/gqa_split", "bfloat16", text(s.sequences), text(s.context), text(s.heads), text(s.kv_heads), text(s.head_dim), "0"};
  };
  measure_points(session, "gqa", results, gqa_grid(session.options().quick), key, [&](const GqaShape& s) {
    arena.reset();
    const auto values = static_cast<std::size_t>(s.sequences) * static_cast<std::size_t>(s.context) * static_cast<std::size_t>(s.kv_heads * s.head_dim);
    const auto query = static_cast<std::size_t>(s.sequences) * static_cast<std::size_t>(s.heads * s.head_dim);
    const bf16* q = arena.take<bf16>(query);
    const int copies = std::min(cold_copies(4.0 * static_cast<double>(values)), static_cast<int>((12ull << 30) / (values * 4)));
    const bf16* cache = arena.take<bf16>(2 * values * static_cast<std::size_t>(copies));
    const Buffer out(query * 2), scratch(gqa_workspace_bytes(s));
    return time_cold(session.stream(), 4.0 * static_cast<double>(values), copies, [&](cudaStream_t on, int copy) {
      const bf16* k = cache + 2 * values * static_cast<std::size_t>(copy);
      launch_gqa(on, s, q, k, k + values, out.as<bf16>(), scratch.as());
    });
  });
}

void measure_mla(Session& session) {
  Results results = session.results("mla_decode.csv", {"path", "kv_dtype", "heads", "tp", "batch", "context"});
  Arena arena(kCacheRoom, Fill::normal_bf16);
  const auto key = [](const MlaShape& s) {
    return Key{"suite-1/mla_split", "bfloat16", text(s.heads), text(128 / s.heads), text(s.sequences), text(s.context)};
  };
  measure_points(session, "mla", results, mla_grid(session.options().quick), key, [&](const MlaShape& s) {
    arena.reset();
    constexpr std::size_t kWidth = kLatent + kRope;
    const std::size_t values = static_cast<std::size_t>(s.sequences) * static_cast<std::size_t>(s.context) * kWidth;
    const std::size_t rows = static_cast<std::size_t>(s.sequences) * static_cast<std::size_t>(s.heads);
    const bf16* q = arena.take<bf16>(rows * kWidth);
    const int copies = std::min(cold_copies(2.0 * static_cast<double>(values)), static_cast<int>((12ull << 30) / (values * 2)));
    const bf16* cache = arena.take<bf16>(values * static_cast<std::size_t>(copies));
    const Buffer out(rows * kLatent * 2), scratch(mla_workspace_bytes(s));
    return time_cold(session.stream(), 2.0 * static_cast<double>(values), copies, [&](cudaStream_t on, int copy) {
      launch_mla(on, s, q, cache + values * static_cast<std::size_t>(copy), out.as<bf16>(), scratch.as());
    });
  });
}

}  // namespace moe::bench
