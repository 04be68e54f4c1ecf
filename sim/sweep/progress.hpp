// How far is it? One line on a terminal, rewritten in place, with rate and time left:
//
//   4 312/10 000  ████████▋             1 950 points/s  about 3 s left
#pragma once
#include <ostream>
#include <string>

namespace moe {

/// The text of the line after `seconds`; pure, so that tests need no clock. `before`: points that were there already.
std::string progress_line(double done, double total, double before, double seconds);

class ProgressLine {
 public:
  /// Writes nothing unless `shown`.
  ProgressLine(std::ostream& out, bool shown, double total, double before);
  void update(double done);
  void clear();

 private:
  std::ostream& out_;
  bool shown_;
  double total_, before_;
  double start_seconds_;
  std::size_t width_ = 0;
};

}  // namespace moe
