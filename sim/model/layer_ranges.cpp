#include "model/layer_ranges.hpp"

#include <fmt/core.h>

#include <charconv>

namespace moe {
namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

/// A plain layer number; -1 when the text is anything else.
int number(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value >= 0 && value < kMostLayers ? value : -1;
}

/// Appends `a`, `a..b` or `a..b+s`.
void append_part(std::string_view part, LayerRanges& out) {
  const std::size_t dots = part.find("..");
  const std::size_t plus = part.find('+');
  const bool is_range = dots != std::string_view::npos;
  const bool has_step = plus != std::string_view::npos && is_range && plus > dots;
  const int first = number(trim(part.substr(0, dots)));
  const int last = is_range ? number(trim(part.substr(dots + 2, has_step ? plus - dots - 2 : plus))) : first;
  const int step = has_step ? number(trim(part.substr(plus + 1))) : 1;
  if (first < 0 || last < 0 || step < 1)
    out.problem = fmt::format("`{}` is not a layer or a range of layers", part);
  else if (last < first)
    out.problem = fmt::format("`{}` ends before it starts", part);
  else
    for (int i = first; i <= last; i += step) out.layers.push_back(i);
}

}  // namespace

LayerRanges parse_layer_ranges(std::string_view text) {
  LayerRanges out;
  while (out.problem.empty()) {
    const std::size_t comma = text.find(',');
    append_part(trim(text.substr(0, comma)), out);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return out;
}

std::string layer_ranges_text(const std::vector<int>& layers) {
  std::string out;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i;
    while (end + 1 < layers.size() && layers[end + 1] == layers[end] + 1) ++end;
    if (!out.empty()) out += ", ";
    out += end == i ? std::to_string(layers[i]) : fmt::format("{}..{}", layers[i], layers[end]);
    i = end + 1;
  }
  return out;
}

}  // namespace moe
