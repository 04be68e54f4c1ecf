// What a launch costs from the host and as a graph node (kernels that do nothing), and what changing the kernel adds.
#include <algorithm>

#include "harness/buffer.hpp"
#include "harness/check.hpp"
#include "kernels/small.hpp"
#include "measure/points.hpp"
#include "measure/sections.hpp"

namespace moe::bench {

namespace {

constexpr std::size_t kNear = 512ull << 20;  // bytes

/// 24 GB, or half of what a smaller card has left.
std::size_t far() {
  std::size_t free = 0, all = 0;
  BENCH_CHECK(cudaMemGetInfo(&free, &all));
  return std::min<std::size_t>(24ull << 30, free / 2);
}

/// Small kernels of a decode step: their own time is short against what changing them costs.
/// mode `switch`: unlike ones in turn against each of them repeated. `after_read`: each after a kernel that reads three times
/// the L2, as the weights of a layer are read, against both repeated by themselves; `read_room` is what is read, piece by
/// piece: once it is large, pages do not come round again soon either.
Timing time_unlike(cudaStream_t stream, std::size_t read_room) {
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
  using Launch = std::function<void(cudaStream_t, int)>;
  const auto time_us = [&](int calls, const Launch& launch) { return time_graph(stream, calls, calls, launch, options); };
  const auto count = static_cast<int>(kernels.size());
  double alone_us = 0;
  for (const auto& k : kernels) alone_us += time_us(320, [&](cudaStream_t s, int) { k(s); }).us / count;
  if (read_room == 0) {
    Timing mixed = time_us(320, [&](cudaStream_t s, int i) { kernels[static_cast<std::size_t>(i % count)](s); });
    mixed.us -= alone_us;
    return mixed;
  }
  const std::size_t piece = 3 * static_cast<std::size_t>(device_facts().l2_bytes) / 4096 * 4096, pieces = read_room / piece;
  const Buffer room{read_room, Fill::zero};
  const auto read = [&](cudaStream_t s, int i) { launch_read(s, room.as<char>() + static_cast<std::size_t>(i) % pieces * piece, piece, state.as<unsigned>()); };
  Timing mixed = time_us(96, [&](cudaStream_t s, int i) {
    read(s, i);
    kernels[static_cast<std::size_t>(i % count)](s);
  });
  mixed.us -= time_us(96, read).us + alone_us;
  return mixed;
}

}  // namespace

void measure_launch(Session& session) {
  Results results = session.results("launch.csv", {"path", "mode", "launches"});
  struct Point {
    const char* mode;
    int launches;
    bool unlike = false;
  };
  // One round trip of a single launch, and long rows of them: the difference is what one more costs.
  const std::vector<Point> points{{"graph", 1}, {"graph", 10}, {"graph", 100}, {"graph", 1000},
                                  {"stream", 1}, {"stream", 10}, {"stream", 100}, {"stream", 1000}, {"switch", 320, true}, {"after_read", 96, true}, {"after_far_read", 96, true}};
  const auto key = [](const Point& p) { return Key{p.unlike ? "suite-1/unlike" : "suite-1/empty", p.mode, text(p.launches)}; };
  measure_points(session, "launch", results, points, key, [&](const Point& p) {
    const std::string mode = p.mode;
    if (p.unlike) return time_unlike(session.stream(), mode == "switch" ? 0 : mode == "after_read" ? kNear : far());
    const Call call = [](cudaStream_t s, int) { launch_empty(s); };
    TimingOptions options;
    options.most_replays = 200;
    return mode == "graph" ? time_graph(session.stream(), p.launches, 1, call, options)
                            : time_stream(session.stream(), p.launches, 1, call, options);
  });
}

}  // namespace moe::bench
