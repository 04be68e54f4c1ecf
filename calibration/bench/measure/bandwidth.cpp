// Memory and L2: read, write (memset) and copy, cold and warm. latency_us x rate = bytes.
#include <algorithm>

#include "harness/buffer.hpp"
#include "kernels/small.hpp"
#include "measure/points.hpp"
#include "measure/sections.hpp"

namespace moe::bench {

void measure_bandwidth(Session& session) {
  Results results = session.results("bandwidth.csv", {"path", "op", "state", "bytes"});
  struct Point {
    const char *op, *state;
    long bytes;
  };
  std::vector<Point> points;
  for (const char* op : {"read", "write", "copy"})
    for (long mib : {1L, 2L, 4L, 8L, 16L, 24L, 32L, 48L, 64L, 128L, 256L, 1024L})
      for (const char* state : {"cold", "warm"})
        if (state[0] == 'c' || mib <= 64) points.push_back({op, state, mib << 20});
  points = thinned(points, session.options().quick, 5);
  constexpr std::size_t kBytes = 4ull << 30;
  const Buffer data(kBytes, Fill::bits), sink(256, Fill::zero);
  const auto key = [](const Point& p) { return Key{"suite-1/bandwidth", p.op, p.state, text(p.bytes)}; };
  measure_points(session, "bandwidth", results, points, key, [&](const Point& p) {
    const auto bytes = static_cast<std::size_t>(p.bytes);
    char* base = data.as<char>();
    const std::size_t step = p.op[0] == 'c' ? 2 * bytes : bytes;  // a copy reads one piece and writes the next
    const Call call = [&](cudaStream_t s, int copy) {
      char* at = base + static_cast<std::size_t>(copy) * step;
      if (p.op[0] == 'r') launch_read(s, at, bytes, sink.as<unsigned>());
      else if (p.op[0] == 'w') BENCH_CHECK(cudaMemsetAsync(at, 1, bytes, s));
      else launch_copy(s, reinterpret_cast<const bf16*>(at), reinterpret_cast<bf16*>(at + bytes), p.bytes / 2);
    };
    if (p.state[0] == 'w') return time_graph(session.stream(), 30, 1, call);
    return time_cold(session.stream(), static_cast<double>(step), static_cast<int>(kBytes / step), call);
  });
}

}  // namespace moe::bench
