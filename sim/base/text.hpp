// Text for people: aligned columns, bars, and numbers rounded so that shown parts add up to the shown total.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace moe {

/// Columns that a terminal needs for UTF-8 text (every code point counts one; no wide characters are used here).
std::size_t display_width(std::string_view text);
/// Pads with blanks on the right (left-aligned) or left (right-aligned) to a display width.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

/// Rows of equal length; columns as wide as their widest cell, two blanks between. A column is right-aligned when its
/// letter in `align` is 'r'.
class TextTable {
 public:
  explicit TextTable(std::string align) : align_(std::move(align)) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::string render(std::string_view indent = "  ") const;

 private:
  std::string align_;
  std::vector<std::vector<std::string>> rows_;
};

/// Rounds to `decimals` so that the rounded parts add up to the rounded total (largest remainders go up).
std::vector<std::string> rounded_parts(const std::vector<double>& parts, int decimals);

/// A bar of `width` columns at share 1, in eighths of a column.
std::string bar(double share, std::size_t width);

/// 1234567 -> "1 234 567"
std::string grouped(double value);
/// Four significant digits: 26.08, 0.1235, 1235.
std::string significant(double value);
/// The same with its sign: +0.1235, −26.08, 0.
std::string signed_number(double value);

}  // namespace moe
