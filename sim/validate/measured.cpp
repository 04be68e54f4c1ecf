#include "validate/measured.hpp"

#include <fmt/core.h>

#include <cmath>

namespace moe {

Measured measured_of(const CsvTable& table, const CsvRow& row) {
  Measured m;
  const std::string& metric = table.text(row, "metric");
  const double value = number_of(table.text(row, "value")), users = number_of(table.text(row, "concurrency"));
  m.per_step = metric == "step_ms";
  const bool rate = metric == "output_tok_s_total" || metric == "decode_tok_s_per_user";
  if (!rate && metric != "tpot_ms" && metric != "step_ms") {
    m.problem = fmt::format("the metric `{}` is not a decode time; known: output_tok_s_total, decode_tok_s_per_user, tpot_ms, step_ms", metric);
    return m;
  }
  if (std::isnan(value)) return m;
  if (value <= 0) m.problem = fmt::format("a measured {} of {} is no time", metric, value);
  else if (metric == "output_tok_s_total" && !(users > 0)) m.problem = "the row states tokens/s in total, but no concurrency";
  else if (metric == "output_tok_s_total") m.ms = 1e3 * users / value;
  else m.ms = rate ? 1e3 / value : value;
  return m;
}

}  // namespace moe
