#include <fmt/core.h>

#include <charconv>

#include "cost/profile_fields.hpp"

namespace moe {
namespace {

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> names{"dense_gemm", "moe", "attention_decode", "mla_module",
                                              "elementwise_and_state"};
  return names;
}

/// Numbers up to the next `;`. False when something else stands there.
bool read_point(std::string_view text, std::size_t& at, std::vector<double>& numbers) {
  numbers.clear();
  while (at < text.size() && text[at] != ';') {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc{}) return false;
    numbers.push_back(value);
    at = static_cast<std::size_t>(end - text.data());
  }
  ++at;
  return true;
}

void read_points(Fields& f, const std::string& text, ResidualTable& table) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at < text.size();) {
    if (!read_point(text, at, numbers))
      return f.error("points", "`points` holds something that is not a number");
    if (numbers.empty()) continue;
    if (numbers.size() != table.weights.size() + 1)
      return f.error("points",
                     fmt::format("point {} has {} numbers, not {}", table.value.size() + 1, numbers.size(),
                                 table.weights.size() + 1),
                     "one per axis, then 1000 ln(measured/model)");
    AxisValues where{};
    std::copy(numbers.begin(), numbers.end() - 1, where.begin());
    table.where.push_back(where);
    table.value.push_back(numbers.back() * 1e-3);
  }
}

}  // namespace

/// Tested: tests/property/residual_table.cpp, tests/unit/profile_load.cpp.
void bind_residuals(Fields& f, std::string& section, std::string& path, ResidualTable& table) {
  int position = 0;
  f.choice("section", position, section_names(), Need::required, "section that has the path");
  section = section_names()[static_cast<std::size_t>(position)];
  f.text("path", path, Need::required, "the path whose time is corrected");
  f.texts("axes", table.axes, Need::required, "what the coordinates of a point are");
  f.numbers("weights", table.weights, Unit::number, Need::required, Range::not_negative(),
            "of the axes, in distances");
  f.integer("neighbours", table.neighbours, Need::required, Range::between(1, 16),
            "points that are averaged");
  f.number("reach", table.reach, Need::required, Range::positive(),
           "distance at which a correction has faded to 1/e");
  std::string points;
  f.text("points", points, Need::required, "axes and 1000 ln(measured/model) of every point, `;` after each");
  if (f.describing() || table.axes.empty()) return;
  if (table.axes != residual_axes(section))
    return f.error("axes", fmt::format("`axes` are not those of `{}`", section));
  if (table.weights.size() != table.axes.size())
    return f.error("weights", fmt::format("{} weights for {} axes", table.weights.size(), table.axes.size()));
  read_points(f, points, table);
}

}  // namespace moe
