#include "sweep/progress.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "base/text.hpp"

namespace moe {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string duration_text(double s) {
  if (s < 90) return fmt::format("{:.0f} s", std::ceil(s));
  if (s < 5400) return fmt::format("{:.0f} min", s / 60);
  return fmt::format("{:.1f} h", s / 3600);
}

}  // namespace

std::string progress_line(double done, double total, double before, double seconds) {
  const double share = total > 0 ? done / total : 1;
  const double rate = seconds > 0 ? (done - before) / seconds : 0;
  std::string line = fmt::format("  {}/{}  {}", grouped(done), grouped(total), pad_right(bar(share, 24), 24));
  if (rate > 0) line += fmt::format("  {} points/s  about {} left", rate >= 100 ? grouped(rate) : fmt::format("{:.3g}", rate), duration_text((total - done) / rate));
  return line;
}

ProgressLine::ProgressLine(std::ostream& out, bool shown, double total, double before)
    : out_(out), shown_(shown), total_(total), before_(before), start_seconds_(now_seconds()) {}

void ProgressLine::update(double done) {
  if (!shown_) return;
  const std::string line = progress_line(done, total_, before_, now_seconds() - start_seconds_);
  out_ << "\r" << pad_right(line, width_) << std::flush;
  width_ = display_width(line);
}

void ProgressLine::clear() {
  if (shown_ && width_ > 0) out_ << "\r" << std::string(width_, ' ') << "\r" << std::flush;
  width_ = 0;
}

}  // namespace moe
