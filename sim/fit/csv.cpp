#include "fit/csv.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

namespace moe {

CsvFile::CsvFile(std::string file, Diagnostics& out) : file_(std::move(file)), out_(out) {
  std::ifstream in(file_, std::ios::binary);
  std::ostringstream all;
  if (in) all << in.rdbuf();
  text_ = std::move(all).str();
  if (!in || text_.empty()) {
    out_.error(in ? "the file is empty" : "cannot read the file", {file_, 0, 0, 1});
    return;
  }
  const std::size_t end = std::min(text_.find('\n'), text_.size());
  split(std::string_view(text_).substr(0, end));
  for (const std::string_view name : cells_) header_.emplace_back(name);
  position_ = std::min(end + 1, text_.size());
  line_ = 1;
}

void CsvFile::split(std::string_view row) {
  if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
  cells_.clear();
  for (std::size_t begin = 0; begin <= row.size();) {
    const std::size_t comma = std::min(row.find(',', begin), row.size());
    cells_.push_back(row.substr(begin, comma - begin));
    begin = comma + 1;
  }
}

int CsvFile::column(std::string_view name) const {
  for (std::size_t i = 0; i < header_.size(); ++i)
    if (header_[i] == name) return static_cast<int>(i);
  return -1;
}

bool CsvFile::next() {
  while (position_ < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    const std::string_view row(text_.data() + position_, end - position_);
    position_ = end + 1;
    ++line_;
    if (row.empty() || row == "\r") continue;
    split(row);
    if (cells_.size() == header_.size()) return true;
    out_.error(fmt::format("{} cells, the header has {}", cells_.size(), header_.size()),
               {file_, line_, 1, 1}, "", "one cell per column; names hold no comma");
  }
  return false;
}

Place CsvFile::place(int column) const {
  int start = 1;
  for (int i = 0; i < column; ++i) start += static_cast<int>(cell(i).size()) + 1;
  return {file_, line_, start, std::max(1, static_cast<int>(cell(column).size()))};
}

double CsvFile::number(int column) {
  const std::string_view text = cell(column);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value)) return value;
  out_.error(fmt::format("`{}` is not a number", text), place(column),
             header_[static_cast<std::size_t>(column)]);
  return 0;
}

}  // namespace moe
