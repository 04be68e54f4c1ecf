#include "fit/measurements.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "base/hash.hpp"
#include "fit/csv.hpp"

namespace moe {

const std::vector<OpClass>& op_classes() {
  static const std::vector<OpClass> classes{
      {Op::gemm, "gemm", "gemm.csv", {"dtype"}, {"m", "n", "k"}},
      {Op::moe,
       "moe",
       "moe.csv",
       {"dtype"},
       {"tokens", "hidden", "intermediate", "topk", "experts", "tp", "ep", "distribution"}},
      {Op::gqa,
       "gqa",
       "attention_decode.csv",
       {"kv_dtype"},
       {"batch", "context", "heads", "kv_heads", "head_dim", "window"}},
      {Op::mla, "mla", "mla_decode.csv", {"kv_dtype"}, {"heads", "tp", "batch", "context"}},
      {Op::mla_module,
       "mla_module",
       "mla_module.csv",
       {"model", "kv_dtype", "gemm_dtype"},
       {"heads", "tp", "batch", "context"}},
      {Op::bmm, "bmm", "mla_bmm.csv", {"op", "dtype"}, {"tokens", "heads"}},
      {Op::cast, "cast", "cast.csv", {"op", "dtype"}, {"m", "k"}},
      {Op::linear,
       "linear",
       "linear_attention.csv",
       {},
       {"batch", "d_model", "d_conv", "num_k_heads", "head_k_dim", "num_v_heads", "head_v_dim"}},
      {Op::dsa, "dsa", "dsa.csv", {"op", "kv_dtype"}, {"heads", "batch", "context", "topk"}},
      {Op::small, "small", "elementwise.csv", {"op"}, {"rows", "cols"}}};
  return classes;
}

const OpClass& op_class(Op op) { return op_classes()[static_cast<std::size_t>(op)]; }

namespace {

constexpr std::size_t kMostErrors = 20;

/// `balanced` -> 0, `power_law_1.2` -> 1.2.
double distribution(CsvFile& file, int column, Diagnostics& out) {
  const std::string_view text = file.cell(column);
  if (text == "balanced") return 0;
  constexpr std::string_view kPrefix = "power_law_";
  double alpha = 0;
  if (text.starts_with(kPrefix)) {
    const std::string_view digits = text.substr(kPrefix.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), alpha);
    if (error == std::errc{} && end == digits.data() + digits.size() && alpha > 0) return alpha;
  }
  out.error(fmt::format("unknown distribution `{}`", text), file.place(column), "distribution",
            "write `balanced` or `power_law_1.2`");
  return 0;
}

struct Columns {
  int path = 0, latency = 0;
  std::vector<int> tags, sizes;
};

Columns columns_of(const CsvFile& file, const OpClass& c, const std::string& name, Diagnostics& out) {
  std::vector<std::string> known{"path", "latency_us"};
  known.insert(known.end(), c.tags.begin(), c.tags.end());
  known.insert(known.end(), c.sizes.begin(), c.sizes.end());
  for (const std::string& h : file.header())
    if (std::find(known.begin(), known.end(), h) == known.end())
      out.error(fmt::format("unknown column `{}`", h), {name, 1, 1, 1}, h, suggestion(h, known));
  for (const std::string& k : known)
    if (file.column(k) < 0) out.error(fmt::format("the column `{}` is missing", k), {name, 1, 1, 1}, k);
  Columns columns{file.column("path"), file.column("latency_us"), {}, {}};
  for (const auto& t : c.tags) columns.tags.push_back(file.column(t));
  for (const auto& s : c.sizes) columns.sizes.push_back(file.column(s));
  return columns;
}

Point point_of(CsvFile& file, const OpClass& c, const Columns& columns, Diagnostics& out) {
  Point p;
  p.line = file.line();
  p.us = file.number(columns.latency);
  if (p.us <= 0 && c.op != Op::cast)
    out.error("a latency is greater than 0", file.place(columns.latency), "latency_us");
  for (std::size_t i = 0; i < c.sizes.size(); ++i) {
    const int column = columns.sizes[i];
    p.size[i] = c.sizes[i] == "distribution"                          ? distribution(file, column, out)
                : c.sizes[i] == "window" && file.cell(column).empty() ? 0
                                                                      : file.number(column);
    const bool may_be_zero = c.sizes[i] == "window" || c.sizes[i] == "distribution";
    if (p.size[i] < 0 || (p.size[i] == 0 && !may_be_zero))
      out.error(fmt::format("`{}` is greater than 0", c.sizes[i]), file.place(column), c.sizes[i]);
  }
  return p;
}

void read_file(const std::string& name, const OpClass& c, std::map<std::vector<std::string>, Series>& into,
               Measurements& m, Diagnostics& out) {
  CsvFile file(name, out);
  if (file.header().empty()) return;
  out.remember(name, file.text().substr(0, file.text().find('\n')));
  const Columns columns = columns_of(file, c, name, out);
  if (out.has_errors()) return;
  std::size_t rows = 0;
  Series* last = nullptr;
  for (; out.error_count() < kMostErrors && file.next(); ++rows) {
    const bool same =
        last != nullptr && last->path == file.cell(columns.path) &&
        std::equal(last->tags.begin(), last->tags.end(), columns.tags.begin(),
                   [&](const std::string& tag, int column) { return tag == file.cell(column); });
    if (!same) {
      std::vector<std::string> key{c.name, std::string(file.cell(columns.path))};
      for (const int t : columns.tags) key.emplace_back(file.cell(t));
      last = &into[key];
      last->op = c.op;
      last->path = key[1];
      last->tags.assign(key.begin() + 2, key.end());
    }
    last->points.push_back(point_of(file, c, columns, out));
  }
  m.files.push_back({c.file, hex64(fnv1a(file.text())), rows});
}

}  // namespace

Measurements read_measurements(const std::string& folder, const std::vector<std::string>& only) {
  namespace fs = std::filesystem;
  Diagnostics out;
  Measurements m;
  m.folder = folder;
  std::vector<std::string> names;
  for (const OpClass& c : op_classes()) names.emplace_back(c.name);
  for (const std::string& o : only)
    if (std::find(names.begin(), names.end(), o) == names.end())
      throw InputError(fmt::format("no op class `{}`\n  = help: {}", o, suggestion(o, names)));
  for (const OpClass& c : op_classes()) {
    const fs::path file = fs::path(folder) / c.file;
    const bool wanted = only.empty() || std::find(only.begin(), only.end(), c.name) != only.end();
    if (!wanted || !fs::exists(file)) continue;
    std::map<std::vector<std::string>, Series> series;
    read_file(file.string(), c, series, m, out);
    for (auto& [key, s] : series) m.series.push_back(std::move(s));
  }
  if (out.has_errors()) throw InputError(out);
  if (m.files.empty())
    throw InputError(fmt::format(
        "no measurements in `{}`\n  = help: gemm.csv, moe.csv, ...: see docs/measurements.md", folder));
  return m;
}

bool Where::applies(Op op) const {
  const auto& sizes = op_class(op).sizes;
  for (const auto& [name, value] : equal)
    if (std::find(sizes.begin(), sizes.end(), name) == sizes.end()) return false;
  return true;
}

bool Where::matches(Op op, const Point& p) const {
  if (!applies(op)) return false;
  const auto& sizes = op_class(op).sizes;
  for (const auto& [name, value] : equal) {
    const auto at = static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), name) - sizes.begin());
    if (p.size[at] != value) return false;
  }
  return true;
}

Where parse_where(const std::string& text) {
  Where where;
  std::vector<std::string> known;
  for (const OpClass& c : op_classes()) known.insert(known.end(), c.sizes.begin(), c.sizes.end());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t equal = std::min(item.find('='), item.size());
    const std::string name = item.substr(0, equal);
    double value = 0;
    const char* first = item.data() + std::min(equal + 1, item.size());
    const auto [stop, error] = std::from_chars(first, item.data() + item.size(), value);
    if (equal == item.size() || error != std::errc{} || stop != item.data() + item.size())
      throw InputError(fmt::format("`{}` is not column=value, e.g. hidden=7168", item));
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(fmt::format("no column `{}`\n  = help: {}", name, suggestion(name, known)));
    where.equal.emplace_back(name, value);
    begin = end + 1;
  }
  return where;
}

}  // namespace moe
