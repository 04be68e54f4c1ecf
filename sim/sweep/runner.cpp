#include "sweep/runner.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <malloc.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

namespace moe {
namespace {

/// Collects rows and hands them over when they are old enough.
class RowBatch {
 public:
  RowBatch(const RowSink& sink, int milliseconds) : sink_(sink), limit_(milliseconds) {}
  void add(Row&& row) {
    const std::lock_guard lock(mutex_);
    rows_.push_back(std::move(row));
    if (std::chrono::steady_clock::now() - since_ >= limit_) flush();
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    flush();
  }

 private:
  void flush() {
    since_ = std::chrono::steady_clock::now();
    sink_(std::exchange(rows_, {}));
  }
  const RowSink& sink_;
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::vector<Row> rows_;
};

/// A point allocates and frees some megabytes; keeping them in the process saves a page fault per page and point.
void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

}  // namespace

int thread_count(const RunnerOptions& options) {
  return options.threads > 0 ? options.threads : oneapi::tbb::info::default_concurrency();
}

void run_points(const Study& study, const std::vector<std::uint64_t>& todo, CaseCache& cache, const RowSink& sink,
                const RunnerOptions& options) {
  keep_memory();
  RowBatch batch(sink, options.batch_milliseconds);
  std::atomic<std::size_t> next{0};
  const int threads = thread_count(options);
  oneapi::tbb::task_arena arena(threads);
  arena.execute([&] {
    // Every worker takes the next point, so points finish roughly in order whatever they cost.
    oneapi::tbb::parallel_for(0, threads, [&](int) {
      for (std::size_t i = next++; i < todo.size(); i = next++) batch.add(evaluate_point(study, todo[i], cache));
    });
  });
  batch.finish();
}

}  // namespace moe
