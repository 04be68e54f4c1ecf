#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace moe {

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t w = display_width(text);
  return std::string(text) + std::string(width > w ? width - w : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t w = display_width(text);
  return std::string(width > w ? width - w : 0, ' ') + std::string(text);
}

std::string TextTable::render(std::string_view indent) const {
  std::vector<std::size_t> width;
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i >= width.size()) width.push_back(0);
      width[i] = std::max(width[i], display_width(row[i]));
    }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += i < align_.size() && align_[i] == 'r' ? pad_left(row[i], width[i]) : pad_right(row[i], width[i]);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::vector<std::string> rounded_parts(const std::vector<double>& parts, int decimals) {
  const double scale = std::pow(10.0, decimals);
  std::vector<double> floors;
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const double p : parts) floors.push_back(std::floor(p * scale));
  const double total = std::round(std::accumulate(parts.begin(), parts.end(), 0.0) * scale);
  auto missing = static_cast<std::size_t>(std::max(0.0, total - std::accumulate(floors.begin(), floors.end(), 0.0)));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return parts[a] * scale - floors[a] > parts[b] * scale - floors[b];
  });
  for (std::size_t i = 0; i < std::min(missing, order.size()); ++i) floors[order[i]] += 1;
  std::vector<std::string> out;
  for (const double f : floors) out.push_back(fmt::format("{:.{}f}", f / scale, decimals));
  return out;
}

std::string bar(double share, std::size_t width) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(
      std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width) * 8));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out + kEighths[eighths % 8];
}

std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", std::abs(value));
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, " ");
  return (value < 0 && digits != "0" ? "-" : "") + digits;
}

std::string significant(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:.0f}", value);
  // The exponent after rounding to four digits: 9.9996 is 10.00, not 10.000.
  const std::string rounded = fmt::format("{:.3e}", value);
  const int digits = std::stoi(rounded.substr(rounded.find('e') + 1));
  return fmt::format("{:.{}f}", value, std::clamp(3 - digits, 0, 12));
}

std::string signed_number(double value) {
  if (value == 0) return "0";
  return (value < 0 ? "−" : "+") + significant(std::abs(value));
}

}  // namespace moe
