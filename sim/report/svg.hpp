// Pictures without a library: shapes and text collected into one SVG element, readable in light and dark.
//
//   Svg s(640, 200);
//   s.rect(10, 10, 100, 20, "fill:var(--c1)", "experts 1.2 ms");     // the last argument is shown on hover
//   s.text(10, 50, "experts");
//   std::string inside_a_page = s.element();
//   std::string file = s.document();                                 // stand-alone, brings its own colours
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace moe {

enum class Anchor { start, middle, end };

class Svg {
 public:
  Svg(double width, double height) : width_(width), height_(height) {}
  void rect(double x, double y, double w, double h, const std::string& style, const std::string& tip = {});
  void line(double x1, double y1, double x2, double y2, const std::string& style, const std::string& tip = {});
  void path(const std::vector<std::pair<double, double>>& points, const std::string& style);
  void circle(double x, double y, double r, const std::string& style, const std::string& tip = {});
  void text(double x, double y, std::string_view text, Anchor anchor = Anchor::start, const std::string& style = {});
  void vertical_text(double x, double y, std::string_view text);
  /// Shapes until `end_group` belong to one series that the page can hide; `name` is shown by the legend.
  void begin_group(const std::string& name);
  void end_group();
  std::string element() const;
  std::string document() const;

 private:
  double width_, height_;
  std::string body_;
};

/// & < > " as entities.
std::string escaped(std::string_view text);
/// Style of the `i`-th series or category: one hue each, the same in every picture and both themes.
std::string fill_of(std::size_t i);
std::string stroke_of(std::size_t i);
/// The custom properties that pictures use, for light and dark.
std::string svg_colours();

}  // namespace moe
