// Measurement files that can be continued: rows that a file already has are not measured again.
//
//   Results gemm(out, "gemm.csv", {"path", "dtype", "m", "n", "k"});
//   if (!gemm.has({"suite-1/cublaslt", "bfloat16", "8", "4096", "7168"})) gemm.add(key, timing);
//
// A row is written and flushed as soon as it is known, so a run may be stopped at any time. details.csv beside it has
// file, key, half width, replays and outliers of every row; skipped.csv the reason of every point without a time.
#pragma once
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "harness/timing.hpp"

namespace moe::bench {

using Key = std::vector<std::string>;

class Results {
 public:
  /// Opens folder/name, reads what it has, writes the header of a new one: columns, then latency_us. `fresh` empties
  /// the file. Throws BenchError when an existing file has other columns.
  Results(const std::string& folder, const std::string& name, const Key& columns, bool fresh);
  bool has(const Key& key) const;
  void add(const Key& key, const Timing& timing);
  void skip(const Key& key, const std::string& reason);
  std::size_t added() const { return added_; }

 private:
  std::string name_;
  std::ofstream rows_, details_, skipped_;
  std::set<std::string> known_;
  std::size_t added_ = 0;
};

}  // namespace moe::bench
