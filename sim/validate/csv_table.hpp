// Which rows does a file of measurements have? Comma-separated text with a header; cells may be quoted (RFC 4180).
//
//   CsvTable t = read_csv("mine.csv", {"id", "model"}, {"tp", "value"}, diagnostics);
//   t.rows[0].cells[t.column("model")]          // text; an absent column reads as ""
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {

struct CsvCell {
  std::string text;
  int column = 1;   ///< where it begins in its line
};

struct CsvRow {
  int line = 0;
  std::vector<CsvCell> cells;  ///< one per column of the header
};

struct CsvTable {
  std::string file;
  std::vector<std::string> header;
  std::vector<CsvRow> rows;
  /// Position of a column, -1 when the file does not have it.
  int column(std::string_view name) const;
  /// Text of a cell, blanks around it removed; "" when the column is absent.
  const std::string& text(const CsvRow& row, std::string_view name) const;
  Place place(const CsvRow& row, int column) const;
};

/// What a file must look like.
struct CsvRules {
  std::vector<std::string> required;  ///< columns that must exist
  std::vector<std::string> known;     ///< further columns that have a meaning; others give a warning
  std::vector<std::string> numbers;   ///< columns whose cells are empty or a finite number
};

/// Reads a file. A missing column, a row with too few or too many cells, an open quote and a bad number are errors
/// with line and column; all of them are collected.
CsvTable read_csv(const std::string& file, const CsvRules& rules, Diagnostics& out);
/// The same for a text in memory.
CsvTable parse_csv(const std::string& text, const std::string& file, const CsvRules& rules, Diagnostics& out);

/// The number in a cell; NaN when it is empty. The cell was checked by the reader.
double number_of(const std::string& cell);

}  // namespace moe
