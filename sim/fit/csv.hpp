// Which cells does a CSV file have? No quoting: measurement files hold names and numbers only.
//
//   CsvFile f("gemm.csv", diagnostics);         // header and place of every line
//   while (f.next()) f.cell(2);                 // text of the third column of the current row
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {

class CsvFile {
 public:
  /// Reads the whole file; `out` receives an error when it cannot be read or has no header.
  CsvFile(std::string file, Diagnostics& out);
  const std::vector<std::string>& header() const { return header_; }
  /// Position of a column, -1 when absent.
  int column(std::string_view name) const;
  /// Goes to the next row that is not empty. A row with another number of cells than the header is reported,
  /// skipped.
  bool next();
  std::string_view cell(int column) const { return cells_[static_cast<std::size_t>(column)]; }
  int line() const { return line_; }
  Place place(int column) const;
  const std::string& text() const { return text_; }
  /// A finite number; anything else is reported at its cell.
  double number(int column);

 private:
  void split(std::string_view row);
  std::string file_, text_;
  Diagnostics& out_;
  std::vector<std::string> header_;
  std::vector<std::string_view> cells_;
  std::size_t position_ = 0;
  int line_ = 0;
};

}  // namespace moe
