// results.json and results.csv of a replay (docs/replay.md): written anew after every program, so a run may be stopped.
#pragma once
#include <string>

#include "replay/player.hpp"

namespace moe::bench {

class ReplayResults {
 public:
  /// folder/results.json; with `resume` the results that are there are kept.
  ReplayResults(std::string folder, bool resume);
  ~ReplayResults();
  ReplayResults(const ReplayResults&) = delete;
  ReplayResults& operator=(const ReplayResults&) = delete;
  /// Whether there is a result of this very program.
  bool has(const ReplayProgram& program) const;
  void add(const ReplayProgram& program, const Played& played);
  void refuse(const ReplayProgram& program, const std::vector<std::string>& reasons);

 private:
  void write() const;
  struct Document;
  std::string folder_;
  Document* document_;
};

}  // namespace moe::bench
