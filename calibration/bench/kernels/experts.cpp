// The routed experts of one layer, put together from routing, casts, activation and the grouped GEMM.
#include "kernels/experts.hpp"

#include <algorithm>

#include "harness/check.hpp"
#include "kernels/grouped_gemm.hpp"
#include "kernels/small.hpp"

namespace moe::bench {
namespace {

/// Where everything lies in the workspace. With a null base only the size is of use.
struct Workspace {
  int* ids;
  float* shares;
  SortedRows rows;
  fp8_bits* x8;         ///< fp8: the tokens, quantised
  float* x8_scale;
  bf16* first;          ///< [rows][2 intermediate]
  void* middle;         ///< [rows][intermediate], bf16 or e4m3
  float* middle_scale;
  bf16* second;         ///< [rows][hidden]
  std::size_t bytes;
};

Workspace layout(Format format, const ExpertShape& s, void* base) {
  const std::size_t rows = static_cast<std::size_t>(s.tokens) * static_cast<std::size_t>(s.topk);
  const std::size_t tokens = static_cast<std::size_t>(s.tokens), h = static_cast<std::size_t>(s.hidden),
                    i = static_cast<std::size_t>(s.intermediate);
  const std::size_t tiles = rows;  // at least as many as max_tiles for any tile size
  const bool fp8 = format == Format::fp8;
  Workspace w{};
  char* at = static_cast<char*>(base);
  const auto take = [&](std::size_t bytes) {
    const std::size_t padded = (bytes + 255) / 256 * 256;
    char* here = at;
    if (at != nullptr) at += padded;
    w.bytes += padded;
    return static_cast<void*>(here);
  };
  w.ids = static_cast<int*>(take(rows * 4));
  w.shares = static_cast<float*>(take(rows * 4));
  w.rows.count = static_cast<int*>(take(8));
  w.rows.row_of = static_cast<int*>(take(rows * 4));
  w.rows.token_of = static_cast<int*>(take(rows * 4));
  w.rows.tile_expert = static_cast<int*>(take(tiles * 4));
  w.rows.tile_row = static_cast<int*>(take(tiles * 4));
  w.rows.tile_rows = static_cast<int*>(take(tiles * 4));
  w.x8 = static_cast<fp8_bits*>(take(fp8 ? tokens * h : 0));
  w.x8_scale = static_cast<float*>(take(fp8 ? tokens * 4 : 0));
  w.first = static_cast<bf16*>(take(rows * 2 * i * 2));
  w.middle = take(rows * i * (fp8 ? 1 : 2));
  w.middle_scale = static_cast<float*>(take(fp8 ? rows * 4 : 0));
  w.second = static_cast<bf16*>(take(rows * h * 2));
  return w;
}

}  // namespace

const char* const kExpertStageNames[kExpertStages] = {"topk",       "sort",  "quantise", "first_gemm",
                                                      "activation", "second_gemm", "combine"};

std::size_t w13_bytes(Format format, const ExpertShape& s) {
  return static_cast<std::size_t>(s.local_experts) * packed_bytes(format, 2 * s.intermediate, s.hidden);
}
std::size_t w2_bytes(Format format, const ExpertShape& s) {
  return static_cast<std::size_t>(s.local_experts) * packed_bytes(format, s.hidden, s.intermediate);
}

std::size_t experts_workspace_bytes(Format format, const ExpertShape& shape) {
  return layout(format, shape, nullptr).bytes;
}

void launch_expert_stage(int stage, cudaStream_t stream, Format format, const ExpertShape& s, const bf16* x,
                         const float* logits, const ExpertWeights& weights, bf16* y, void* workspace) {
  const Workspace w = layout(format, s, workspace);
  const bool fp8 = format == Format::fp8;
  const int rows = s.tokens * s.topk, tile = tile_rows_for(s.tokens, s.topk, s.experts);
  GroupedGemm g{2 * s.intermediate, s.hidden, tile, max_tiles(s.tokens, s.topk, s.local_experts, tile), s.tokens,
                w.rows.count + 1, w.rows, w.rows.token_of};
  switch (stage) {
    case 0: return launch_topk(stream, logits, s.tokens, s.experts, s.topk, w.ids, w.shares);
    case 1:
      return launch_sort_rows(stream, w.ids, s.tokens, s.topk, s.first_expert, s.local_experts, tile, w.rows);
    case 2:
      if (fp8) launch_quantise_rows(stream, x, w.x8, w.x8_scale, s.tokens, s.hidden);
      return;
    case 3:
      return launch_grouped_gemm(stream, format, g, fp8 ? static_cast<const void*>(w.x8) : x, w.x8_scale,
                                 weights.w13, weights.scale13, w.first);
    case 4:
      if (fp8)
        return launch_silu_mul_quantise(stream, w.first, static_cast<fp8_bits*>(w.middle), w.middle_scale, rows,
                                        s.intermediate, w.rows.count);
      return launch_silu_mul(stream, w.first, static_cast<bf16*>(w.middle), rows, s.intermediate, w.rows.count);
    case 5:
      g.n = s.hidden;
      g.k = s.intermediate;
      g.gather = nullptr;
      return launch_grouped_gemm(stream, format, g, w.middle, w.middle_scale, weights.w2, weights.scale2, w.second);
    case 6:
      return launch_combine(stream, w.second, w.rows.row_of, w.shares, s.tokens, s.topk, s.hidden, y);
    default: throw BenchError("no such stage of the routed experts");
  }
}

void launch_experts(cudaStream_t stream, Format format, const ExpertShape& shape, const bf16* x, const float* logits,
                    const ExpertWeights& weights, bf16* y, void* workspace) {
  for (int stage = 0; stage < kExpertStages; ++stage)
    launch_expert_stage(stage, stream, format, shape, x, logits, weights, y, workspace);
}

}  // namespace moe::bench
