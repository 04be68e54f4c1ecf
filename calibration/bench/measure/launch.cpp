// What a launch costs from the host and as a graph node (kernels that do nothing), and what changing the kernel adds.
#include "harness/buffer.hpp"
#include "kernels/small.hpp"
#include "measure/points.hpp"
#include "measure/sections.hpp"

namespace moe::bench {

namespace {

/// Unlike kernels in turn against each of them repeated: what changing the kernel costs, per launch. Small ones, whose
/// own time is short against it.
Timing time_switch(cudaStream_t stream) {
  const Buffer x{8 << 20, Fill::normal_bf16}, y{8 << 20, Fill::normal_bf16}, w{1 << 20, Fill::normal_bf16};
  const Buffer table{1 << 20, Fill::scale_f32}, state{1 << 20, Fill::zero}, ids{1 << 20, Fill::zero};
  const bf16* in = x.as<bf16>();
  bf16* out = y.as<bf16>();
  int* rows = ids.as<int>();
  constexpr int kWide = 4096;
  const std::vector<std::function<void(cudaStream_t)>> kernels{
      [&](cudaStream_t s) { launch_add_rmsnorm(s, in, out, w.as<bf16>(), x.as<bf16>() + kWide, 1, kWide); },
      [&](cudaStream_t s) { launch_silu_mul(s, in, out, 1, kWide / 2); },
      [&](cudaStream_t s) { launch_rope(s, out, rows, table.as<float>(), 1, 32, 128); },
      [&](cudaStream_t s) { launch_rmsnorm(s, in, w.as<bf16>(), out, 32, 128); },
      [&](cudaStream_t s) { launch_kv_write(s, in, rows, out, 1, 1024); },
      [&](cudaStream_t s) { launch_copy(s, in, out, kWide); },
      [&](cudaStream_t s) { launch_to_float(s, in, y.as<float>(), kWide); },
      [&](cudaStream_t s) { launch_add(s, in, in, out, kWide); }};
  TimingOptions options;
  options.most_replays = 200;
  const int count = static_cast<int>(kernels.size());
  Timing mixed = time_graph(stream, 40 * count, count, [&](cudaStream_t s, int k) { kernels[static_cast<std::size_t>(k)](s); }, options);
  for (const auto& kernel : kernels)
    mixed.us -= time_graph(stream, 40 * count, 1, [&](cudaStream_t s, int) { kernel(s); }, options).us / count;
  return mixed;
}

}  // namespace

void measure_launch(Session& session) {
  Results results = session.results("launch.csv", {"path", "mode", "launches"});
  struct Point {
    const char* mode;
    int launches;
  };
  // One round trip of a single launch, and long rows of them: the difference is what one more costs.
  const std::vector<Point> points{{"graph", 1}, {"graph", 10}, {"graph", 100}, {"graph", 1000},
                                  {"stream", 1}, {"stream", 10}, {"stream", 100}, {"stream", 1000}, {"switch", 320}};
  const auto key = [](const Point& p) { return Key{p.mode[1] == 'w' ? "suite-1/unlike" : "suite-1/empty", p.mode, text(p.launches)}; };
  measure_points(session, "launch", results, points, key, [&](const Point& p) {
    if (p.mode[1] == 'w') return time_switch(session.stream());
    const Call call = [](cudaStream_t s, int) { launch_empty(s); };
    TimingOptions options;
    options.most_replays = 200;
    return p.mode[0] == 'g' ? time_graph(session.stream(), p.launches, 1, call, options)
                            : time_stream(session.stream(), p.launches, 1, call, options);
  });
}

}  // namespace moe::bench
