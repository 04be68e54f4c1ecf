// How long does a call take? CUDA-graph replays of many calls over data that rotates, until the median is known well.
//
//   Timing t = time_cold(stream, bytes_per_call, sets, [&](cudaStream_t s, int copy) { gemm.launch(s, x, w[copy], ...); });
//   t.us = 12.31, t.half_width_pct = 0.4, t.replays = 12
//
// One replay holds `calls` calls; call i uses copy i. Cold: calls x bytes is at least three times L2, so that nothing
// is left when a copy comes round again. Warm: one copy. Stream: the same calls, launched one by one.
#pragma once
#include <functional>
#include <vector>

#include "kernels/types.hpp"

namespace moe::bench {

using Call = std::function<void(cudaStream_t stream, int copy)>;

struct TimingOptions {
  double half_width_pct = 1;   ///< stop when the 95 % interval of the median is this narrow
  int least_replays = 5, most_replays = 60;
  double most_ms = 40;         ///< of measuring, for one point; three replays in any case
  int most_calls = 600;        ///< in one graph
};

struct Timing {
  double us = 0;               ///< median over replays of the time of one call
  double half_width_pct = 0;   ///< 95 % interval of the median, from the spread without outliers
  int replays = 0, outliers = 0;  ///< outliers: more than five robust deviations from the median, left out
  int calls = 0;               ///< in one replay
};

/// Copies that a cold measurement rotates over: three times L2, at least 2, at most options.most_calls.
int cold_copies(double bytes_per_call, const TimingOptions& options = {});

/// Graph replays over as many copies as make the data cold, at most most_copies.
Timing time_cold(cudaStream_t stream, double bytes_per_call, int most_copies, const Call& call,
                 const TimingOptions& options = {});
/// `calls` calls in one graph; call i gets copy i % copies.
Timing time_graph(cudaStream_t stream, int calls, int copies, const Call& call, const TimingOptions& options = {});
/// Launches one by one, no graph.
Timing time_stream(cudaStream_t stream, int calls, int copies, const Call& call, const TimingOptions& options = {});

/// Median and interval of samples in microseconds; outliers left out. Pure.
Timing summarise(std::vector<double> us);

}  // namespace moe::bench
