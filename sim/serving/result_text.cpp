// "============ Serving Benchmark Result ============" and its lines "Mean TPOT (ms):   22.35".
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include "serving/client.hpp"
#include "serving/names.hpp"
#include "serving/readers.hpp"

namespace moe {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The field of a line's name, or nullptr for lines that do not matter here.
double* field(ClientRun& r, const std::string& name) {
  static const std::map<std::string, double ClientRun::*> fields{
      {"successful requests", &ClientRun::completed},
      {"benchmark duration (s)", &ClientRun::duration_s},
      {"total input tokens", &ClientRun::input_tokens},
      {"total generated tokens", &ClientRun::output_tokens},
      {"total generated tokens (retokenized)", &ClientRun::retokenized},
      {"max request concurrency", &ClientRun::max_concurrency},
      {"maximum request concurrency", &ClientRun::max_concurrency},
      {"mean ttft (ms)", &ClientRun::mean_ttft_ms},
      {"mean tpot (ms)", &ClientRun::mean_tpot_ms},
      {"median tpot (ms)", &ClientRun::median_tpot_ms},
      {"mean itl (ms)", &ClientRun::mean_itl_ms},
      {"median itl (ms)", &ClientRun::median_itl_ms},
      {"accept length", &ClientRun::accept_len},
      {"acceptance length", &ClientRun::accept_len},
      {"mean acceptance length", &ClientRun::accept_len}};
  const auto at = fields.find(name);
  return at == fields.end() ? nullptr : &(r.*(at->second));
}

/// True when the whole text is a number; thousands may be apart by commas.
bool number(std::string text, double& into) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  char* end = nullptr;
  into = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(into);
}

}  // namespace

BenchFile read_result_text(const std::string& text, const std::string& file, const BenchOptions& options,
                           Diagnostics& out) {
  BenchFile result;
  result.format = "benchmark result (text)";
  std::vector<ClientRun> runs;
  std::string before;  // what precedes a block may be the command or its arguments
  std::istringstream in(text);
  int line_number = 0;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    if (line.find("Serving Benchmark Result") != std::string::npos) {
      ClientRun run;
      run.place = {file, line_number, 1, 1};
      if (const std::size_t given = before.rfind("Namespace(");
          given != std::string::npos) {  // the client's own arguments
        run.model = given_argument(before.substr(given), "model");
        if (const std::string held = argument(before.substr(given), "max_concurrency"); !held.empty())
          number(held, run.max_concurrency);
      }
      runs.push_back(run);
      inside = true, before.clear();
      continue;
    }
    const std::size_t colon = line.rfind(':');
    if (!inside || colon == std::string::npos) {
      if (inside && line.find("=====") != std::string::npos) inside = false;
      if (!inside) before += line + "\n";
      continue;
    }
    const std::string name = lower(trimmed(line.substr(0, colon))), value = trimmed(line.substr(colon + 1));
    if (name == "backend" && lower(value).find("sglang") != std::string::npos) runs.back().engine = "SGLang";
    if (name == "backend" && lower(value) == "vllm") runs.back().engine = "vLLM";
    double* into = field(runs.back(), name);
    if (into != nullptr && !number(value, *into)) {
      const auto column = static_cast<int>(line.find(value, colon + 1)) + 1;
      out.error(fmt::format("`{}` is not a number: a template, not a result", value),
                {file, line_number, std::max(column, 1), static_cast<int>(value.size())});
      return result;
    }
  }
  for (const ClientRun& run : runs)
    if (const auto row = client_row(run, options, out)) result.rows.push_back(*row);
  return result;
}

}  // namespace moe
