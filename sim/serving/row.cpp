#include "serving/row.hpp"

#include <fmt/core.h>

#include <cmath>

namespace moe {

const std::vector<std::string>& bench_columns() {
  static const std::vector<std::string> columns{"id",          "model",
                                                "quant",       "engine",
                                                "moe_backend", "attention_backend",
                                                "kv_dtype",    "gpus",
                                                "tp",          "ep",
                                                "dp",          "pp",
                                                "dcp",         "spec",
                                                "accept_len",  "context_tokens",
                                                "concurrency", "metric",
                                                "value",       "rig",
                                                "p2p",         "allreduce",
                                                "date",        "source_url",
                                                "quality",     "notes"};
  return columns;
}

void BenchRow::note(const std::string& sentence) {
  std::string& notes = cells["notes"];
  notes += (notes.empty() ? "" : "; ") + sentence;
}

std::string cell(double value) {
  if (!std::isfinite(value)) return {};
  const double size = std::abs(value);
  const int decimals = size >= 1e5   ? 0
                       : size < 1e-3 ? 6
                                     : std::max(0, 5 - static_cast<int>(std::floor(std::log10(size))));
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string bench_csv(const std::vector<BenchRow>& rows) {
  std::string csv;
  for (const std::string& c : bench_columns()) csv += (csv.empty() ? "" : ",") + c;
  csv += "\n";
  for (const BenchRow& r : rows) {
    for (std::size_t i = 0; i < bench_columns().size(); ++i) {
      const auto at = r.cells.find(bench_columns()[i]);
      std::string text = at == r.cells.end() ? "" : at->second;
      if (text.find_first_of(",\"\n") != std::string::npos) {
        for (std::size_t q = text.find('"'); q != std::string::npos; q = text.find('"', q + 2))
          text.insert(q, 1, '"');
        text = '"' + text + '"';
      }
      csv += (i == 0 ? "" : ",") + text;
    }
    csv += "\n";
  }
  return csv;
}

}  // namespace moe
