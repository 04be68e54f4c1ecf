// elementwise.csv: the small kernels of a step. Their inputs were just written by the kernel before them: warm.
#include <functional>
#include <numeric>

#include "harness/buffer.hpp"
#include "kernels/routing.hpp"
#include "kernels/small.hpp"
#include "measure/points.hpp"
#include "measure/sections.hpp"

namespace moe::bench {
namespace {

/// rows x cols as the op counts them; run launches it on shared buffers.
struct Op {
  const char *path, *name;
  std::vector<int> cols;
  std::function<void(cudaStream_t, int rows, int cols)> run;
};

struct Data {
  Buffer x{512ull << 20, Fill::normal_bf16}, y{512ull << 20, Fill::normal_bf16}, w{1 << 20, Fill::normal_bf16};
  Buffer positions{4096}, table{1 << 20, Fill::scale_f32}, state{1 << 20, Fill::zero}, ids{1 << 20}, shares{1 << 20};
  Buffer logits{400ull << 20, Fill::normal_f32};
  Data() {
    std::vector<int> rows(1024);
    std::iota(rows.begin(), rows.end(), 0);
    BENCH_CHECK(cudaMemcpy(positions.as(), rows.data(), rows.size() * sizeof(int), cudaMemcpyHostToDevice));
  }
};

std::vector<Op> ops(const Data& d) {
  bf16 *x = d.x.as<bf16>(), *y = d.y.as<bf16>(), *z = y + (64 << 20);
  const bf16* w = d.w.as<bf16>();
  int *ids = d.ids.as<int>(), *rows = d.positions.as<int>();
  float *logits = d.logits.as<float>(), *shares = d.shares.as<float>(), *table = d.table.as<float>();
  float* out = d.y.as<float>();
  void* state = d.state.as();
  using Stream = cudaStream_t;
  const auto all = [](int r, int c) { return static_cast<long>(r) * c; };
  // Widths that no model has: what a replay executes is new to the fit (docs/replay.md).
  const std::vector<int> wide{544, 1600, 2176, 3264, 4352, 5312, 6272, 7360}, inside{160, 288, 416, 800, 1600, 2176, 3264, 6528, 20480};
  const std::vector<int> vocab{30720, 64512, 102400, 128256, 149504, 165888};
  return {
      {"row_reduction", "rmsnorm", {96, 160, 544, 1088, 1664, 2176, 4352, 7360}, [=](Stream s, int r, int c) { launch_rmsnorm(s, x, w, y, r, c); }},
      {"row_reduction", "add_rmsnorm", wide, [=](Stream s, int r, int c) { launch_add_rmsnorm(s, x, y, w, z, r, c); }},
      {"row_reduction", "quantise_rows", wide, [=](Stream s, int r, int c) { launch_quantise_rows(s, x, reinterpret_cast<fp8_bits*>(y), shares, r, c); }},
      {"elementwise", "silu_mul", inside, [=](Stream s, int r, int c) { launch_silu_mul(s, x, y, r, c); }},
      {"elementwise", "add", wide, [=](Stream s, int r, int c) { launch_add(s, x, y, z, all(r, c)); }},
      {"elementwise", "copy", {272, 608, 1088, 2176, 4352, 9472, 17408, 38912}, [=](Stream s, int r, int c) { launch_copy(s, x, y, all(r, c)); }},
      {"elementwise", "rope", {128, 640, 1152, 2304, 4736, 9088}, [=](Stream s, int r, int c) { launch_rope(s, x, rows, table, r, c / 128, 128); }},
      {"elementwise", "kv_write", {192, 448, 640, 1152, 2304}, [=](Stream s, int r, int c) { launch_kv_write(s, x, rows, y, r, c); }},
      {"topk", "topk8", {64, 128, 256, 384, 512}, [=](Stream s, int r, int c) { launch_topk(s, logits, r, c, 8, ids, shares); }},
      {"sampling", "argmax", vocab, [=](Stream s, int r, int c) { launch_sample(s, logits, r, c, 0, 1, ids, state); }},
      {"sampling", "gumbel", vocab, [=](Stream s, int r, int c) { launch_sample(s, logits, r, c, 1, 1, ids, state); }},
      {"sampling", "softmax", vocab, [=](Stream s, int r, int c) { launch_softmax(s, logits, out, r, c); }},
      {"sampling", "to_float", {8192, 20480, 65536, 151936}, [=](Stream s, int r, int c) { launch_to_float(s, x, out, all(r, c)); }}};
}

}  // namespace

void measure_small(Session& session) {
  const Data data;
  const std::vector<Op> all = ops(data);
  struct Point {
    const Op* op;
    int rows, cols;
  };
  std::vector<Point> points;
  for (const Op& op : all)
    for (const int cols : op.cols)
      for (const int rows : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 8192})
        // Norms of heads have many short rows: batch x heads.
        if (rows <= 512 || (std::string(op.name) == "rmsnorm" && cols < 200)) points.push_back({&op, rows, cols});
  Results results = session.results("elementwise.csv", {"path", "op", "rows", "cols"});
  const auto key = [](const Point& p) { return Key{std::string("suite-1/") + p.op->path, p.op->name, text(p.rows), text(p.cols)}; };
  measure_points(session, "small", results, thinned(points, session.options().quick), key, [&](const Point& p) {
    return time_graph(session.stream(), 60, 1, [&](cudaStream_t s, int) { p.op->run(s, p.rows, p.cols); });
  });
}

}  // namespace moe::bench
