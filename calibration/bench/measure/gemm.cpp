// gemm.csv: dense multiplies of the decode range, cold weights.
#include <algorithm>

#include "harness/buffer.hpp"
#include "kernels/dense_gemm.hpp"
#include "measure/grid.hpp"
#include "measure/points.hpp"
#include "measure/sections.hpp"

namespace moe::bench {
namespace {

struct Point {
  Format format;
  int m, n, k;
};

/// Shapes by space filling over what TP1 to TP8 leaves of 2k to 16k wide models, and some as wide as a vocabulary.
std::vector<Point> grid(const std::vector<Format>& formats, bool quick) {
  constexpr int kShapes = 100, kHeads = 8;
  constexpr int kRows[] = {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512};
  std::vector<Point> points;
  for (const Format f : formats)
    for (int i = 0; i < kShapes + kHeads; ++i) {
      const bool head = i >= kShapes;
      const int n = head ? log_between(halton(i, 2), 19000, 155000, 64) : log_between(halton(i, 2), 128, 18432, 64);
      const int k = head ? log_between(halton(i, 3), 2048, 7680, 64) : log_between(halton(i, 3), 192, 18432, 64);
      if (static_cast<double>(n) * k < kLeastColdBytes) continue;
      if (quick && i % 11 != 0) continue;
      for (const int m : kRows)
        if (!quick || m == 1 || m == 16 || m == 64 || m == 256) points.push_back({f, m, n, k});
    }
  return points;
}

}  // namespace

void measure_gemm(Session& session) {
  Results results = session.results("gemm.csv", {"path", "dtype", "m", "n", "k"});
  std::vector<Format> formats{Format::bf16, Format::fp8};
  if (device_facts().major >= 10) formats.push_back(Format::nvfp4);
  else results.skip({"suite-1/cublaslt", "nvfp4", "*", "*", "*"}, "the device has no FP4 tensor cores");
  Arena arena(6ull << 30, Fill::none);
  Format filled = Format::int4;
  const auto key = [](const Point& p) {
    return Key{"suite-1/cublaslt", dtype_name(p.format), text(p.m), text(p.n), text(p.k)};
  };
  measure_points(session, "gemm", results, grid(formats, session.options().quick), key, [&](const Point& p) {
    const DenseGemm gemm(p.format, p.m, p.n, p.k);
    arena.reset();
    if (filled != p.format) {
      const std::size_t all = arena.left();
      fill(session.stream(), arena.take_bytes(all), all, p.format == Format::bf16 ? Fill::small_bf16 : Fill::normal_e4m3, 7);
      filled = p.format;
      arena.reset();
    }
    void* scratch = arena.take_bytes(gemm.workspace_bytes());
    const auto m = static_cast<std::size_t>(p.m);
    bf16* y = arena.take<bf16>(m * static_cast<std::size_t>(p.n));
    bf16* x = arena.take<bf16>(m * static_cast<std::size_t>(p.k));
    fill(session.stream(), x, m * static_cast<std::size_t>(p.k) * 2, Fill::normal_bf16, 8);
    const double bytes = static_cast<double>(gemm.weight_bytes());
    const std::size_t padded = (gemm.weight_bytes() + 255) / 256 * 256;
    const int copies = std::min(cold_copies(bytes), static_cast<int>(arena.left() / padded));
    char* w = static_cast<char*>(arena.take_bytes(padded * static_cast<std::size_t>(copies)));
    const Timing t = time_cold(session.stream(), bytes, copies, [&](cudaStream_t s, int copy) {
      gemm.launch(s, x, w + static_cast<std::size_t>(copy) * padded, y, scratch);
    });
    return t;
  });
}

}  // namespace moe::bench
