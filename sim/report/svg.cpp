#include "report/svg.hpp"

#include <fmt/core.h>

namespace moe {
namespace {

std::string num(double v) {
  std::string t = fmt::format("{:.2f}", v);
  while (t.back() == '0') t.pop_back();
  if (t.back() == '.') t.pop_back();
  return t == "-0" ? "0" : t;
}

std::string close(const std::string& tag, const std::string& tip) {
  return tip.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escaped(tip), tag);
}

constexpr std::size_t kHues = 14;

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

void Svg::rect(double x, double y, double w, double h, const std::string& style, const std::string& tip) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" style=\"{}\"", num(x), num(y), num(w), num(h), style) + close("rect", tip);
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& style, const std::string& tip) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" style=\"{}\"", num(x1), num(y1), num(x2), num(y2), style) + close("line", tip);
}

void Svg::path(const std::vector<std::pair<double, double>>& points, const std::string& style) {
  if (points.size() < 2) return;
  std::string d;
  for (const auto& [x, y] : points) d += (d.empty() ? "M" : "L") + num(x) + " " + num(y);
  body_ += fmt::format("<path d=\"{}\" style=\"fill:none;{}\"/>\n", d, style);
}

void Svg::circle(double x, double y, double r, const std::string& style, const std::string& tip) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" style=\"{}\"", num(x), num(y), num(r), style) + close("circle", tip);
}

void Svg::text(double x, double y, std::string_view text, Anchor anchor, const std::string& style) {
  const char* side = anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" style=\"fill:var(--ink);{}\">{}</text>\n", num(x), num(y), side, style, escaped(text));
}

void Svg::vertical_text(double x, double y, std::string_view text) {
  body_ += fmt::format("<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\" style=\"fill:var(--ink)\">{}</text>\n", num(x), num(y), escaped(text));
}

void Svg::begin_group(const std::string& name) { body_ += fmt::format("<g class=\"series\" data-series=\"{}\">\n", escaped(name)); }
void Svg::end_group() { body_ += "</g>\n"; }

std::string Svg::element() const {
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" font-family=\"system-ui,sans-serif\" font-size=\"12\">\n{2}</svg>\n",
                     num(width_), num(height_), body_);
}

std::string Svg::document() const {
  std::string e = element();
  const std::size_t body = e.find('\n') + 1;
  e.insert(body, "<style>" + svg_colours() + "</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n");
  return e;
}

std::string fill_of(std::size_t i) { return fmt::format("fill:var(--c{})", i % kHues); }
std::string stroke_of(std::size_t i) { return fmt::format("stroke:var(--c{});stroke-width:2", i % kHues); }

std::string svg_colours() {
  // One hue per breakdown category, in the order of kCategoryNames; told apart by position and label, never by hue alone.
  static constexpr const char* light[kHues] = {"#3b6fb6", "#d9822b", "#e8b76b", "#b5344f", "#7a3e9d", "#c471b5", "#8c564b",
                                               "#2a9d8f", "#8fa3b0", "#5fa8d3", "#94c973", "#4f8a10", "#c0a000", "#6c757d"};
  static constexpr const char* dark[kHues] = {"#6ea2ea", "#f0a050", "#f3cf93", "#ee6d86", "#b583d6", "#e39ad5", "#c79083",
                                              "#52c7b8", "#a9bac6", "#8ccbf0", "#b4dd99", "#8cc63f", "#e5c838", "#a0a8ae"};
  std::string a = "--paper:#ffffff;--ink:#1d2733;--grid:#d8dee4;--soft:#eef1f4;", b = "--paper:#14191f;--ink:#e3e8ee;--grid:#38424d;--soft:#222a33;";
  for (std::size_t i = 0; i < kHues; ++i) a += fmt::format("--c{}:{};", i, light[i]), b += fmt::format("--c{}:{};", i, dark[i]);
  return ":root{" + a + "}@media (prefers-color-scheme:dark){:root{" + b + "}}";
}

}  // namespace moe
