#include "validate/csv_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

namespace moe {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool parse_number(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

std::string trimmed(const std::string& s) {
  const std::size_t first = s.find_first_not_of(" \t");
  return first == std::string::npos ? std::string() : s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

/// Cuts a text into rows of cells. A quoted cell may hold commas, doubled quotes and line ends.
class Scanner {
 public:
  Scanner(const std::string& text, const std::string& file, Diagnostics& out) : text_(text), file_(file), out_(out) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = start_ = 3;  // byte order mark
  }

  /// The next row that is not empty; false at the end.
  bool next(CsvRow& row) {
    while (at_ < text_.size()) {
      row = {line_, {}};
      do row.cells.push_back(cell());
      while (at_ < text_.size() && text_[at_] == ',' && ++at_ != 0);
      end_line();
      if (row.cells.size() > 1 || !row.cells[0].text.empty()) return true;
    }
    return false;
  }

 private:
  CsvCell cell() {
    CsvCell c{"", static_cast<int>(at_ - start_) + 1};
    if (at_ < text_.size() && text_[at_] == '"') quoted(c);
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r') c.text += text_[at_++];
    c.text = trimmed(c.text);
    return c;
  }

  void quoted(CsvCell& c) {
    const Place opened{file_, line_, c.column, 1};
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')) {
        ++at_;
        return;
      }
      if (text_[at_] == '"') ++at_;
      if (text_[at_] == '\n') ++line_, start_ = at_ + 1;
      c.text += text_[at_];
    }
    out_.error("a quoted cell is never closed", opened, {}, "end it with `\"`");
  }

  void end_line() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
    start_ = at_;
  }

  const std::string& text_;
  const std::string& file_;
  Diagnostics& out_;
  std::size_t at_ = 0, start_ = 0;
  int line_ = 1;
};

void check_header(const CsvTable& t, const CsvRow& first, const CsvRules& rules, Diagnostics& out) {
  for (const std::string& name : rules.required)
    if (t.column(name) < 0)
      out.error(fmt::format("the column `{}` is missing", name), {t.file, first.line, 1, 1}, name,
                suggestion(name, t.header));
  for (std::size_t i = 0; i < t.header.size(); ++i) {
    const std::string& name = t.header[i];
    const Place at{t.file, first.line, first.cells[i].column, std::max(1, static_cast<int>(name.size()))};
    if (std::count(t.header.begin(), t.header.end(), name) > 1 && t.column(name) == static_cast<int>(i))
      out.error(fmt::format("the column `{}` appears twice", name), at, name);
    if (!contains(rules.required, name) && !contains(rules.known, name))
      out.warning(fmt::format("nothing reads the column `{}`", name), at, name, suggestion(name, rules.known));
  }
}

void check_row(const CsvTable& t, const CsvRow& row, const CsvRules& rules, Diagnostics& out) {
  for (std::size_t i = 0; i < t.header.size(); ++i) {
    const std::string& text = row.cells[i].text;
    double ignored = 0;
    if (!text.empty() && contains(rules.numbers, t.header[i]) && !parse_number(text, ignored))
      out.error(fmt::format("`{}` is not a number", text), t.place(row, static_cast<int>(i)), t.header[i],
                "digits with a decimal point, or leave the cell empty");
  }
}

}  // namespace

int CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? -1 : static_cast<int>(found - header.begin());
}

const std::string& CsvTable::text(const CsvRow& row, std::string_view name) const {
  static const std::string none;
  const int i = column(name);
  return i < 0 ? none : row.cells[static_cast<std::size_t>(i)].text;
}

Place CsvTable::place(const CsvRow& row, int column) const {
  const CsvCell& c = row.cells[static_cast<std::size_t>(column)];
  return {file, row.line, c.column, std::max(1, static_cast<int>(c.text.size()))};
}

CsvTable parse_csv(const std::string& text, const std::string& file, const CsvRules& rules, Diagnostics& out) {
  CsvTable t;
  t.file = file;
  out.remember(file, text);
  Scanner scanner(text, t.file, out);
  CsvRow row;
  if (!scanner.next(row)) {
    out.error("the file is empty", {file, 0, 0, 1}, {}, "its first line names the columns");
    return t;
  }
  for (const CsvCell& c : row.cells) t.header.push_back(c.text);
  check_header(t, row, rules, out);
  while (scanner.next(row)) {
    if (row.cells.size() != t.header.size())
      out.error(fmt::format("{} cells, the header has {}", row.cells.size(), t.header.size()), {file, row.line, 1, 1}, {},
                "one cell per column; a cell that holds a comma is written in quotes");
    else {
      check_row(t, row, rules, out);
      t.rows.push_back(row);
    }
  }
  return t;
}

CsvTable read_csv(const std::string& file, const CsvRules& rules, Diagnostics& out) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream all;
  if (in) all << in.rdbuf();
  if (!in || in.bad()) {
    out.error("cannot read the file", {file, 0, 0, 1});
    return {file, {}, {}};
  }
  return parse_csv(all.str(), file, rules, out);
}

double number_of(const std::string& cell) {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (!cell.empty()) parse_number(cell, value);
  return value;
}

}  // namespace moe
