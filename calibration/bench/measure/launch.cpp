// What a launch costs from the host and as a graph node (kernels that do nothing), and what changing the kernel adds.
#include "harness/buffer.hpp"
#include "kernels/small.hpp"
#include "measure/points.hpp"
#include "measure/sections.hpp"

namespace moe::bench {

namespace {

/// Unlike kernels in turn against each of them repeated: what changing the kernel costs, per launch. Small ones, whose
/// own time is short against it. swept: before each turn the L2 is read over, as the weights of a layer do it.
Timing time_switch(cudaStream_t stream, bool swept) {
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
  const std::size_t sweep = swept ? 3 * static_cast<std::size_t>(device_facts().l2_bytes) / 16 * 16 : 16;
  const Buffer swept_over{sweep, Fill::zero};
  const auto turn = [&](cudaStream_t s, const auto& kernel_of) {
    if (swept) launch_read(s, swept_over.as(), sweep, state.as<unsigned>());
    for (std::size_t k = 0; k < kernels.size(); ++k) kernels[kernel_of(k)](s);
  };
  const double count = static_cast<double>(kernels.size());
  Timing mixed = time_graph(stream, 40, 1, [&](cudaStream_t s, int) { turn(s, [](std::size_t k) { return k; }); }, options);
  for (std::size_t one = 0; one < kernels.size(); ++one)
    mixed.us -= time_graph(stream, 40, 1, [&](cudaStream_t s, int) { turn(s, [&](std::size_t) { return one; }); }, options).us / count;
  mixed.us /= swept ? count - 1 : count;  // after a sweep the first kernel of a turn is cold in both
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
                                  {"stream", 1}, {"stream", 10}, {"stream", 100}, {"stream", 1000}, {"switch", 320}, {"switch_cold", 320}};
  const auto key = [](const Point& p) { return Key{p.mode[1] == 'w' ? "suite-1/unlike" : "suite-1/empty", p.mode, text(p.launches)}; };
  measure_points(session, "launch", results, points, key, [&](const Point& p) {
    if (p.mode[1] == 'w') return time_switch(session.stream(), std::string(p.mode) == "switch_cold");
    const Call call = [](cudaStream_t s, int) { launch_empty(s); };
    TimingOptions options;
    options.most_replays = 200;
    return p.mode[0] == 'g' ? time_graph(session.stream(), p.launches, 1, call, options)
                            : time_stream(session.stream(), p.launches, 1, call, options);
  });
}

}  // namespace moe::bench
