// What does every section of a run share? The folder, the stream, options, progress.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "harness/device_state.hpp"
#include "harness/results.hpp"

namespace moe::bench {

struct RunOptions {
  std::string out;                  ///< folder of the results
  std::vector<std::string> only;    ///< sections; empty: all
  bool quick = false;               ///< about a tenth of the points
  bool resume = false;              ///< keep rows that are there
  int device = 0;
};

/// One section of a run measures one thing: gemm, moe, gqa, ...
class Session {
 public:
  explicit Session(RunOptions options);
  ~Session();
  const RunOptions& options() const { return options_; }
  cudaStream_t stream() const { return stream_; }
  /// An empty result file, or the one there with --resume.
  Results results(const std::string& name, const Key& columns) const;

  void begin(const std::string& section, std::size_t points);
  /// Says on stderr (one line, rewritten) how far the section is; notes clocks in conditions.csv twice a second.
  void tick();
  void end();

 private:
  RunOptions options_;
  cudaStream_t stream_ = nullptr;
  std::string section_;
  std::size_t points_ = 0, done_ = 0;
  std::chrono::steady_clock::time_point start_, noted_;
  std::ofstream conditions_;
};

}  // namespace moe::bench
