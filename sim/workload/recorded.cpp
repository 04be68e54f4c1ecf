#include "workload/recorded.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>
#include <sstream>

namespace moe {
namespace {

struct Cell {
  std::string text;
  int column = 1;
};

/// Cells of a line, blanks around them removed.
std::vector<Cell> cells_of(const std::string& line) {
  std::vector<Cell> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    const std::size_t first = std::min(line.find_first_not_of(" \t\r", begin), end);
    std::size_t last = end;
    while (last > first && std::string(" \t\r").find(line[last - 1]) != std::string::npos) --last;
    cells.push_back({line.substr(first, last - first), static_cast<int>(first) + 1});
    begin = end + 1;
  }
  return cells;
}

class Reader {
 public:
  Reader(Routing::Kind kind, const std::string& file, const std::vector<RouterShape>& shapes, Diagnostics& out)
      : trace_(kind == Routing::Kind::trace), file_(file), shapes_(shapes), out_(out) {
    for (const RouterShape& s : shapes)
      if (s.experts > 0 && (any_.experts == 0 || s.experts < any_.experts)) any_ = s;
  }

  RecordedRouting read(const std::string& text) {
    out_.remember(file_, text);
    std::istringstream in(text);
    bool first = true;
    for (std::string line; std::getline(in, line) && errors_ < 20;) {
      ++line_;
      cells_ = cells_of(line);
      if (cells_[0].text.starts_with('#') || (cells_.size() == 1 && cells_[0].text.empty())) continue;
      if (first && (cells_[0].text == "layer" || cells_[0].text == "expert")) header();
      else row();
      first = false;
    }
    if (errors_ == 0) check();
    return std::move(record_);
  }

 private:
  void error(const std::string& message, const Cell& at, const std::string& help = {}) {
    ++errors_;
    out_.error(message, {file_, line_, at.column, std::max(1, static_cast<int>(at.text.size()))}, "routing.file", help);
  }

  void header() {
    std::string names;
    for (const Cell& c : cells_) names += (names.empty() ? "" : ",") + c.text;
    const bool known = trace_ ? names == "layer,token,experts"
                              : names == "layer,expert,count" || names == "expert,count";
    if (!known) error("unknown header", cells_[0], layout());
  }
  std::string layout() const {
    return trace_ ? "a row is `layer,token,expert,expert,...`" : "a row is `layer,expert,count` or `expert,count`";
  }

  bool whole(const Cell& cell, const char* what, std::int64_t limit, std::int64_t& into) {
    const char* end = cell.text.data() + cell.text.size();
    const auto [stop, problem] = std::from_chars(cell.text.data(), end, into);
    if (cell.text.empty() || stop != end || problem != std::errc() || into < 0) {
      error(fmt::format("invalid {} `{}`", what, cell.text), cell, "write a whole number from 0");
      return false;
    }
    if (into < limit) return true;
    error(fmt::format("there is no {} {}", what, into), cell, fmt::format("numbers go from 0 to {}", limit - 1));
    return false;
  }

  /// Which layer a row is about, with its router; nullptr after an error.
  const RouterShape* layer_of(const Cell& cell, int& layer) {
    layer = RecordedRouting::kAnyLayer;
    if (cell.text == "*") return &any_;
    std::int64_t number = 0;
    if (!whole(cell, "layer", static_cast<std::int64_t>(shapes_.size()), number)) return nullptr;
    layer = static_cast<int>(number);
    const RouterShape& shape = shapes_[static_cast<std::size_t>(number)];
    if (shape.experts == 0) error(fmt::format("layer {} has no routed experts", layer), cell);
    return shape.experts == 0 ? nullptr : &shape;
  }

  void row() {
    const bool without_layer = !trace_ && cells_.size() == 2;
    if (without_layer) cells_.insert(cells_.begin(), Cell{"*", 1});
    if (cells_.size() < 3 || (!trace_ && cells_.size() > 3))
      return error(fmt::format("a row of {} cells", cells_.size()), cells_[0], layout());
    int layer = 0;
    const RouterShape* shape = layer_of(cells_[0], layer);
    if (shape == nullptr) return;
    RecordedLayer& l = record_.layers[layer];
    l.count.resize(static_cast<std::size_t>(shape->experts));
    if (trace_) trace_row(l, layer, *shape);
    else histogram_row(l, layer, *shape);
  }

  void histogram_row(RecordedLayer& l, int layer, const RouterShape& shape) {
    std::int64_t expert = 0, count = 0;
    if (!whole(cells_[1], "expert", shape.experts, expert) ||
        !whole(cells_[2], "count", std::int64_t{1} << 53, count)) return;
    if (!seen_.emplace(layer, expert).second)
      return error(fmt::format("expert {} of this layer has a row already", expert), cells_[1]);
    l.count[static_cast<std::size_t>(expert)] = static_cast<double>(count);
  }

  void trace_row(RecordedLayer& l, int layer, const RouterShape& shape) {
    std::int64_t token = 0, expert = 0;
    if (!whole(cells_[1], "token", std::int64_t{1} << 53, token)) return;
    if (!seen_.emplace(layer, token).second)
      return error(fmt::format("token {} of this layer has a row already", token), cells_[1]);
    if (cells_.size() != 2 + static_cast<std::size_t>(shape.topk))
      return error(fmt::format("{} experts, the model chooses {}", cells_.size() - 2, shape.topk), cells_[2], layout());
    const auto begin = static_cast<std::ptrdiff_t>(l.choice.size());
    for (std::size_t i = 2; i < cells_.size(); ++i) {
      if (!whole(cells_[i], "expert", shape.experts, expert)) return;
      const auto e = static_cast<std::uint32_t>(expert);
      if (std::find(l.choice.begin() + begin, l.choice.end(), e) != l.choice.end())
        return error(fmt::format("expert {} is listed twice for this token", expert), cells_[i]);
      l.choice.push_back(e);
      l.count[e] += 1;
    }
  }

  /// Of the file as a whole.
  void whole_file(const std::string& message, const std::string& help = {}) {
    line_ = 0;
    error(message, Cell{}, help);
  }

  void check() {
    const bool any = record_.layers.contains(RecordedRouting::kAnyLayer);
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      if (shapes_[i].experts > 0 && !any && !record_.layers.contains(static_cast<int>(i)))
        return whole_file(fmt::format("no rows for layer {}", i), "add them, or rows of layer `*` for all others");
    for (const auto& [layer, l] : record_.layers) {
      const int topk = layer < 0 ? any_.topk : shapes_[static_cast<std::size_t>(layer)].topk;
      const std::string name = layer < 0 ? "layer *" : fmt::format("layer {}", layer);
      const auto used = std::count_if(l.count.begin(), l.count.end(), [](double c) { return c > 0; });
      if (used < topk)
        whole_file(fmt::format("{} counts rows of {} experts, top-{} needs as many", name, used, topk));
      const int tokens = static_cast<int>(l.choice.size()) / topk;
      if (trace_ && record_.tokens > 0 && tokens != record_.tokens)
        whole_file(fmt::format("{} records {} tokens, the one before {}", name, tokens, record_.tokens));
      record_.tokens = tokens;
    }
  }

  bool trace_;
  const std::string& file_;
  const std::vector<RouterShape>& shapes_;
  Diagnostics& out_;
  RouterShape any_;
  RecordedRouting record_;
  std::vector<Cell> cells_;
  std::set<std::pair<int, std::int64_t>> seen_;
  int line_ = 0;
  int errors_ = 0;
};

}  // namespace

RecordedRouting read_recorded(Routing::Kind kind, const std::string& file, const std::string& text,
                              const std::vector<RouterShape>& shapes, Diagnostics& out) {
  return Reader(kind, file, shapes, out).read(text);
}

}  // namespace moe
