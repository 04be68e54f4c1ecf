// What a launch costs from the host and as a graph node: kernels that do nothing.
#include "kernels/small.hpp"
#include "measure/points.hpp"
#include "measure/sections.hpp"

namespace moe::bench {

void measure_launch(Session& session) {
  Results results = session.results("launch.csv", {"path", "mode", "launches"});
  struct Point {
    const char* mode;
    int launches;
  };
  // One round trip of a single launch, and long rows of them: the difference is what one more costs.
  const std::vector<Point> points{{"graph", 1}, {"graph", 10}, {"graph", 100}, {"graph", 1000},
                                  {"stream", 1}, {"stream", 10}, {"stream", 100}, {"stream", 1000}};
  const auto key = [](const Point& p) { return Key{"suite-1/empty", p.mode, text(p.launches)}; };
  measure_points(session, "launch", results, points, key, [&](const Point& p) {
    const Call call = [](cudaStream_t s, int) { launch_empty(s); };
    TimingOptions options;
    options.most_replays = 200;
    return p.mode[0] == 'g' ? time_graph(session.stream(), p.launches, 1, call, options)
                            : time_stream(session.stream(), p.launches, 1, call, options);
  });
}

}  // namespace moe::bench
