// Charts: round ticks, well-formed SVG, the same data as text.
#include "catch.hpp"
#include <algorithm>

#include "report/chart.hpp"
#include "report/svg.hpp"

using namespace moe;

TEST_CASE("ticks are round values inside the range", "[unit]") {
  CHECK(ticks(0, 10, false, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(ticks(1, 256, true) == std::vector<double>{1, 2, 4, 8, 16, 32, 64, 128, 256});
  CHECK(ticks(1, 10000, true) == std::vector<double>{1, 10, 100, 1000, 10000});
}

TEST_CASE("text in a picture cannot end it", "[unit]") {
  CHECK(escaped("a<b & \"c\"") == "a&lt;b &amp; &quot;c&quot;");
  Svg s(10, 10);
  s.text(1, 1, "<script>");
  CHECK(s.element().find("<script>") == std::string::npos);
}

TEST_CASE("a series is drawn once per point, in SVG and as text", "[unit]") {
  Chart c{"t", "x", "y", false, false, {{"one", {{1, 1, "p"}, {2, 4, "q"}, {3, 9, "r"}}, true, true}}};
  const std::string svg = chart_svg(c, true);
  std::size_t dots = 0;
  for (std::size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at) ++dots;
  CHECK(dots == 3);
  CHECK(svg.find("prefers-color-scheme:dark") != std::string::npos);
  const std::string text = chart_text(c, 30, 8);
  CHECK(std::count(text.begin(), text.end(), '*') == 3);
}
