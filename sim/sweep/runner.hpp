// Who computes the points? All cores (oneTBB), one engine per thread; rows reach the sink in batches, in any order.
#pragma once
#include <functional>
#include <vector>

#include "sweep/point.hpp"

namespace moe {

/// Receives finished rows; called by one thread at a time.
using RowSink = std::function<void(std::vector<Row>&&)>;

struct RunnerOptions {
  int threads = 0;            ///< 0: all cores
  int batch_milliseconds = 100;  ///< a batch is handed over when it is this old
};

/// Computes the points `todo` of a study. The first exception of the sink ends the run and is thrown again.
void run_points(const Study& study, const std::vector<std::uint64_t>& todo, CaseCache& cache, const RowSink& sink,
                const RunnerOptions& options = {});

/// Threads that `options` mean on this machine.
int thread_count(const RunnerOptions& options);

}  // namespace moe
