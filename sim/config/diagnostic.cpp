#include "config/diagnostic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>

namespace moe {

void Diagnostics::error(std::string message, const Place& place, std::string path, std::string help) {
  all_.push_back({true, std::move(message), place, std::move(path), std::move(help), {}, {}});
}

void Diagnostics::warning(std::string message, const Place& place, std::string path, std::string help) {
  all_.push_back({false, std::move(message), place, std::move(path), std::move(help), {}, {}});
}

void Diagnostics::remember(const std::string& file, const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  lines_[file] = std::move(lines);
}

bool Diagnostics::has_errors() const { return error_count() > 0; }

std::size_t Diagnostics::error_count() const {
  return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [](auto& d) { return d.is_error; }));
}

void Diagnostics::merge(const Diagnostics& other) {
  all_.insert(all_.end(), other.all_.begin(), other.all_.end());
  for (const auto& [file, lines] : other.lines_) lines_.emplace(file, lines);
}

namespace {

/// The line with tabs as single blanks, so that the caret stands under its column.
std::string printable(std::string line) {
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

std::string at(const Place& p) {
  return p.line > 0 ? fmt::format("{}:{}:{}", p.file, p.line, p.column) : p.file;
}

std::string excerpt(const std::string& line, const Place& p) {
  const std::string number = std::to_string(p.line);
  const std::string margin(number.size(), ' ');
  std::string shown = printable(line);
  std::size_t column = static_cast<std::size_t>(std::max(1, p.column)) - 1;
  constexpr std::size_t kWidest = 110;  // long lines are cut to a window around the place
  if (shown.size() > kWidest) {
    const std::size_t from = column > kWidest / 2 ? column - kWidest / 2 : 0;
    shown = (from > 0 ? "…" : "") + shown.substr(from, kWidest) + "…";
    column -= from;
    if (from > 0) ++column;
  }
  const auto width = static_cast<std::size_t>(std::max(1, p.width));
  return fmt::format("{0} |\n{1} | {2}\n{0} | {3}{4}\n", margin, number, shown, std::string(column, ' '),
                     std::string(std::min(width, kWidest), '^'));
}

}  // namespace

std::string Diagnostics::quote(const Diagnostic& d) const {
  std::string out = fmt::format("{}: {}\n", d.is_error ? "error" : "warning", d.message);
  if (!d.place.file.empty())
    out += fmt::format(" --> {}{}\n", at(d.place), d.path.empty() ? "" : "  (" + d.path + ")");
  auto show = [&](const Place& p) {
    auto file = lines_.find(p.file);
    if (p.line > 0 && file != lines_.end() && static_cast<std::size_t>(p.line) <= file->second.size())
      out += excerpt(file->second[static_cast<std::size_t>(p.line) - 1], p);
  };
  show(d.place);
  if (d.other.line > 0) {
    out += fmt::format(" --> {}  {}\n", at(d.other), d.other_note);
    show(d.other);
  }
  if (!d.help.empty()) out += fmt::format("  = help: {}\n", d.help);
  return out;
}

std::string Diagnostics::render(bool errors) const {
  std::vector<const Diagnostic*> sorted;
  for (const auto& d : all_)
    if (d.is_error == errors) sorted.push_back(&d);
  std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) {
    return std::tie(a->place.file, a->place.line, a->place.column) <
           std::tie(b->place.file, b->place.line, b->place.column);
  });
  std::string out;
  for (const auto* d : sorted) out += quote(*d) + "\n";
  return out;
}

std::string Diagnostics::render() const { return render(true) + render(false); }

InputError::InputError(Diagnostics d) : std::runtime_error(d.render(true)), diagnostics(std::move(d)) {}

InputError::InputError(const std::string& sentence) : std::runtime_error("error: " + sentence + "\n") {
  diagnostics.error(sentence, {});
}

namespace {

/// Damerau-Levenshtein distance (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best, longer;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1, longer_count = 0;
  for (const auto& c : candidates) {
    const std::size_t d = distance(word, c);
    // Of two equally close words the longer one: people leave letters out more often than they add some.
    if (d < best_distance || (d == best_distance && !best.empty() && c.size() > best.size())) best = c, best_distance = d;
    if (word.size() > 2 && c.starts_with(word)) longer = c, ++longer_count;
  }
  return best.empty() && longer_count == 1 ? longer : best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return {};
  const std::string near = closest(word, candidates);
  if (!near.empty()) return fmt::format("did you mean `{}`?", near);
  std::string known;
  for (const auto& c : candidates) known += (known.empty() ? "" : ", ") + c;
  return "known here: " + known;
}

}  // namespace moe
