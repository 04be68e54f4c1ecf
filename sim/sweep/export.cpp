#include "sweep/export.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace moe {
namespace {

constexpr std::size_t kShownRows = 24;

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// Shortest text that reads back as the same number, so equal results give equal bytes.
std::string exact(double v) { return fmt::format("{}", v); }

std::string table_of(const Store& store, const std::vector<Row>& rows, std::uint64_t best) {
  const std::vector<std::string> axes = store.axis_keys();
  TextTable t(std::string(axes.size(), 'l') + "rrrrl");
  std::vector<std::string> head = axes;
  head.insert(head.end(), {"step ms", "tokens/s", "per user", "GiB/GPU", ""});
  t.row(head);
  for (const Row& r : rows) {
    std::vector<std::string> cells = r.axes;
    auto metric = [&](const char* name) { return significant(r.metrics[static_cast<std::size_t>(metric_position(name))]); };
    if (r.status == Status::ok)
      cells.insert(cells.end(), {metric("step_ms"), metric("tokens_per_s"), metric("tokens_per_s_per_sequence"),
                                 metric("memory_gib_per_gpu"), r.index == best ? "* most tokens/s" : ""});
    else cells.insert(cells.end(), {"—", "—", "—", "—", r.rule});
    t.row(cells);
  }
  return t.render();
}

}  // namespace

void write_csv(const Store& store, std::ostream& out) {
  out << "point,status";
  for (const std::string& key : store.axis_keys()) out << "," << csv_cell(key);
  for (const std::string& m : metric_names()) out << "," << m;
  out << ",rule,reason\n";
  store.each([&](const Row& r) {
    out << r.index << "," << name_of(r.status);
    for (const std::string& v : r.axes) out << "," << csv_cell(v);
    for (std::size_t m = 0; m < metric_names().size(); ++m) out << "," << (m < r.metrics.size() ? exact(r.metrics[m]) : "");
    out << "," << csv_cell(r.rule) << "," << csv_cell(r.reason) << "\n";
  });
}

void write_json(const Store& store, std::ostream& out) {
  using Json = nlohmann::ordered_json;
  out << "{\"schema\": 1, \"experiment\": " << Json(store.meta("experiment")).dump() << ", \"axes\": "
      << Json(store.meta("axes")).dump() << ", \"points\": [";
  bool first = true;
  const std::vector<std::string> keys = store.axis_keys();
  store.each([&](const Row& r) {
    Json p;
    p["point"] = r.index;
    p["status"] = std::string(name_of(r.status));
    for (std::size_t i = 0; i < keys.size(); ++i) p["axes"][keys[i]] = r.axes[i];
    for (std::size_t m = 0; m < r.metrics.size(); ++m) p[metric_names()[m]] = r.metrics[m];
    if (r.status != Status::ok) p["rule"] = r.rule, p["reason"] = r.reason;
    out << (first ? "\n" : ",\n") << p.dump();
    first = false;
  });
  out << "\n]}\n";
}

std::string sweep_text(const Store& store) {
  const auto rate = static_cast<std::size_t>(metric_position("tokens_per_s"));
  std::vector<Row> top;  // the first rows while few, then the best ones
  std::map<std::string, std::pair<std::uint64_t, std::string>> reasons;
  std::uint64_t count = 0, answered = 0, best = ~std::uint64_t{0};
  double most = 0;
  auto better = [&](const Row& a, const Row& b) {
    const double x = a.metrics.empty() ? -1 : a.metrics[rate], y = b.metrics.empty() ? -1 : b.metrics[rate];
    return std::make_pair(-x, a.index) < std::make_pair(-y, b.index);
  };
  store.each([&](const Row& r) {
    ++count;
    if (r.status == Status::ok) {
      ++answered;
      if (r.metrics[rate] > most) most = r.metrics[rate], best = r.index;
    } else {
      auto& [n, example] = reasons[r.rule];
      if (n++ == 0) example = r.reason;
    }
    top.push_back(r);
    if (top.size() < 4 * kShownRows) return;
    std::sort(top.begin(), top.end(), better);
    top.resize(kShownRows);
  });
  std::string out;
  if (count > kShownRows) {
    std::sort(top.begin(), top.end(), better);
    top.resize(std::min(top.size(), kShownRows / 2));
    std::erase_if(top, [](const Row& r) { return r.status != Status::ok; });
    out = fmt::format("{} of {} points, most tokens/s first\n", top.size(), grouped(static_cast<double>(count)));
  }
  out += table_of(store, top, best);
  out += fmt::format("\n{} of {} points have an answer\n", grouped(static_cast<double>(answered)), grouped(static_cast<double>(store.total())));
  for (const auto& [rule, why] : reasons) out += fmt::format("  {} × {}: {}\n", grouped(static_cast<double>(why.first)), rule, why.second);
  return out;
}

}  // namespace moe
