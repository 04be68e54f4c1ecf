// mla_bmm.csv, cast.csv and linear_attention.csv.
#include <algorithm>

#include "harness/buffer.hpp"
#include "kernels/dense_gemm.hpp"
#include "kernels/linear_attention.hpp"
#include "kernels/small.hpp"
#include "measure/points.hpp"
#include "measure/sections.hpp"

namespace moe::bench {
namespace {

std::size_t size(long a, long b, long c = 1) { return static_cast<std::size_t>(a * b * c); }

}  // namespace

void measure_bmm(Session& session) {
  struct Point {
    bool pre;
    int tokens, heads;
  };
  std::vector<Point> points;
  for (const bool pre : {true, false})
    for (const int heads : {4, 8, 12, 16, 24, 40, 48, 72, 96, 128})
      for (const int tokens : {1, 2, 4, 8, 16, 32, 64, 96, 128, 256, 512}) points.push_back({pre, tokens, heads});
  Results results = session.results("mla_bmm.csv", {"path", "op", "dtype", "tokens", "heads"});
  Arena arena(4ull << 30, Fill::small_bf16);
  const auto key = [](const Point& p) {
    return Key{"suite-1/cublaslt_batched", p.pre ? "mla_gen_pre" : "mla_gen_post", "bfloat16", text(p.tokens), text(p.heads)};
  };
  measure_points(session, "bmm", results, thinned(points, session.options().quick), key, [&](const Point& p) {
    arena.reset();
    const BatchedGemm gemm(p.pre ? mla_pre(p.tokens, p.heads) : mla_post(p.tokens, p.heads));
    void* scratch = arena.take_bytes(gemm.workspace_bytes());
    const std::size_t weights = size(p.heads, 512, 128);
    const bf16* x = arena.take<bf16>(size(p.tokens, p.heads, 512));
    bf16* y = arena.take<bf16>(size(p.tokens, p.heads, 512));
    const double bytes = 2 * static_cast<double>(weights);
    const int copies = std::min(cold_copies(bytes), static_cast<int>(arena.left() / (2 * weights)) - 1);
    const bf16* w = arena.take<bf16>(weights * static_cast<std::size_t>(copies));
    return time_cold(session.stream(), bytes, copies, [&](cudaStream_t s, int copy) {
      gemm.launch(s, x, w + weights * static_cast<std::size_t>(copy), y, scratch);
    });
  });
}

void measure_cast(Session& session) {
  struct Point {
    int m, k;
  };
  std::vector<Point> points;
  for (const int k : {256, 512, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 12288, 16384})
    for (const int m : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}) points.push_back({m, k});
  Results results = session.results("cast.csv", {"path", "op", "dtype", "m", "k"});
  const Buffer x(512 * 16384 * 2, Fill::normal_bf16), y(512 * 16384);
  const auto key = [](const Point& p) { return Key{"suite-1/cast", "scale_matrix", "fp8", text(p.m), text(p.k)}; };
  measure_points(session, "cast", results, thinned(points, session.options().quick), key, [&](const Point& p) {
    return time_graph(session.stream(), 60, 1, [&](cudaStream_t s, int) {
      launch_quantise(s, x.as<bf16>(), 1.0f / 64, y.as<fp8_bits>(), static_cast<long>(p.m) * p.k);
    });
  });
}

void measure_linear(Session& session) {
  struct Point {
    bool conv;
    int batch, k_heads, v_heads;
  };
  std::vector<Point> points;
  for (const bool conv : {true, false})
    for (const auto& [k, v] : {std::pair{2, 4}, {4, 8}, {4, 16}, {8, 16}, {8, 32}, {16, 32}, {16, 64}, {12, 24}})
      for (const int batch : {1, 2, 4, 8, 16, 32, 64, 128, 256}) points.push_back({conv, batch, k, v});
  Results results = session.results("linear_attention.csv", {"path", "batch", "d_model", "d_conv", "num_k_heads", "head_k_dim", "num_v_heads", "head_v_dim"});
  constexpr int kDim = 128;
  const Buffer state(10ull << 30, Fill::zero), small(512ull << 20, Fill::small_bf16), out(256ull << 20);
  const Buffer beta(256 * 64 * 4, Fill::scale_f32), decay(256 * 64 * 4, Fill::zero);
  const auto key = [](const Point& p) {
    return Key{p.conv ? "suite-1/causal_conv1d_update" : "suite-1/delta_update", text(p.batch), text(p.v_heads * kDim), "4",
               text(p.k_heads), text(kDim), text(p.v_heads), text(kDim)};
  };
  measure_points(session, "linear", results, thinned(points, session.options().quick), key, [&](const Point& p) {
    const int channels = (2 * p.k_heads + p.v_heads) * kDim;
    const std::size_t bytes = p.conv ? size(p.batch, channels, 8) : size(p.batch, p.v_heads, kDim * kDim * 4);
    const int copies = std::min(cold_copies(static_cast<double>(bytes)), static_cast<int>(state.bytes() / bytes));
    return time_cold(session.stream(), static_cast<double>(bytes), copies, [&](cudaStream_t s, int copy) {
      char* at = state.as<char>() + bytes * static_cast<std::size_t>(copy);
      const bf16* in = small.as<bf16>();
      if (p.conv)
        launch_conv_update(s, in, in, reinterpret_cast<bf16*>(at), out.as<bf16>(), p.batch, channels);
      else
        launch_delta_update(s, {p.batch, p.k_heads, p.v_heads}, in, in + (4 << 20), in + (8 << 20), decay.as<float>(), beta.as<float>(), reinterpret_cast<float*>(at), out.as<bf16>());
    });
  });
}

}  // namespace moe::bench
