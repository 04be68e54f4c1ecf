// Points and lines over two axes, once for a page (SVG) and once for a terminal.
//
//   tokens/s
//     1 200 |           b   b        a  TP 8
//       800 |     a b                b  TP 4 · replicas 2
//       400 | a b   a
//           +--------------------
//             1   4    16   64       batch.sequences
#pragma once
#include <string>
#include <vector>

namespace moe {

struct ChartPoint {
  double x = 0, y = 0;
  std::string tip;        ///< shown on hover
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
  bool joined = true;     ///< a line through the points
  bool marked = true;     ///< a dot at every point
};

struct Chart {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<ChartSeries> series;
};

std::string chart_svg(const Chart& chart, bool document, double width = 760, double height = 380);
std::string chart_text(const Chart& chart, std::size_t columns = 64, std::size_t rows = 16);

/// Positions of about `wanted` round values between low and high: 1, 2, 5 steps, or decades and powers of two when
/// logarithmic.
std::vector<double> ticks(double low, double high, bool logarithmic, int wanted = 6);

}  // namespace moe
