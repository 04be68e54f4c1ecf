// t,prompt_throughput,gen_throughput,running,waiting,kv_cache_pct: the engine's throughput per tick as a
// table.
#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "serving/readers.hpp"
#include "serving/steady.hpp"

namespace moe {

BenchFile read_throughput_csv(const std::string& text, const std::string& file, const BenchOptions& options,
                              Diagnostics& out) {
  BenchFile result;
  result.format = "throughput by time (CSV)";
  std::istringstream in(text);
  std::vector<std::string> header;
  std::vector<LogWindow> windows;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',')
        cells.emplace_back();
      else
        cells.back() += c;
    }
    if (header.empty()) {
      header = cells;
      continue;
    }
    if (line.empty()) continue;
    if (cells.size() != header.size()) {
      out.error(fmt::format("{} cells, the header has {}", cells.size(), header.size()),
                {file, number, 1, 1});
      return result;
    }
    const auto value = [&](const char* name) {
      const auto at = std::find(header.begin(), header.end(), name) - header.begin();
      return std::strtod(cells[static_cast<std::size_t>(at)].c_str(), nullptr);
    };
    LogWindow w;
    w.line = number, w.time_s = value("t"), w.running = static_cast<int>(value("running"));
    w.tokens_per_s = value("gen_throughput"), w.prompt_per_s = value("prompt_throughput");
    windows.push_back(w);
  }
  SteadyRules rules;
  rules.running_apart = 0;  // ticks are short: a changing batch is lost in their noise
  rules.anyway = options.anyway;
  result.rows = steady_rows(windows, rules, file, out);
  return result;
}

}  // namespace moe
