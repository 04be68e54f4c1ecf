// "... Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 59.1 tokens/s, Running: 1 reqs,
// Waiting: 0 reqs,
//  GPU KV cache usage: 0.4%, ..." and, with speculation, "SpecDecoding metrics: Mean acceptance length: 2.62,
//  ..." behind it.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>

#include "serving/names.hpp"
#include "serving/readers.hpp"
#include "serving/steady.hpp"

namespace moe {
namespace {

constexpr double kUsageStep = 0.001;  // the log gives the usage with one decimal of a percent

/// Number behind `word`; -1 when it is not there.
double after(const std::string& line, const std::string& word) {
  const std::size_t at = line.find(word);
  if (at == std::string::npos) return -1;
  std::string digits;
  for (std::size_t i = line.find_first_not_of(' ', at + word.size()); i < line.size(); ++i) {
    if (line[i] == ',' && i + 1 < line.size() && line[i + 1] >= '0' && line[i + 1] <= '9')
      continue;  // 319,232
    if ((line[i] < '0' || line[i] > '9') && line[i] != '.') break;
    digits += line[i];
  }
  return digits.empty() ? -1 : std::strtod(digits.c_str(), nullptr);
}

/// Seconds of "05-15 03:22:01" (month-day hour:minute:second); -1 when the line has none.
double time_of(const std::string& line) {
  int month = 0, date = 0, h = 0, m = 0, s = 0;
  for (std::size_t at = line.find(':'); at != std::string::npos; at = line.find(':', at + 1))
    if (at >= 8 && std::sscanf(line.c_str() + at - 8, "%2d-%2d %2d:%2d:%2d", &month, &date, &h, &m, &s) == 5)
      return ((month * 31.0 + date) * 24 + h) * 3600 + m * 60 + s;
  return -1;
}

std::string text_behind(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return {};
  const std::size_t from = text.find_first_not_of(' ', at + word.size());
  return text.substr(from, text.find_first_of(" \n\r,)", from) - from);
}

/// Windows of one engine, or of all data-parallel engines together when each reported at that time.
std::vector<LogWindow> joined(const std::vector<LogWindow>& windows, std::size_t engines,
                              const std::string& file, Diagnostics& out) {
  if (engines < 2) return windows;
  std::vector<LogWindow> all;
  std::vector<std::size_t> parts;
  for (const LogWindow& w : windows) {
    if (all.empty() || all.back().time_s != w.time_s || parts.back() == engines) {
      all.push_back(w), parts.push_back(1);
      continue;
    }
    LogWindow& sum = all.back();
    sum.running += w.running, sum.tokens_per_s += w.tokens_per_s, ++parts.back();
    if (sum.prompt_per_s >= 0) sum.prompt_per_s += w.prompt_per_s;
    if (sum.kv_tokens >= 0) sum.kv_tokens += w.kv_tokens;
  }
  std::vector<LogWindow> whole;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (parts[i] == engines) whole.push_back(all[i]);
  out.warning(fmt::format("{} data-parallel engines: their reports are added", engines), {file, 0, 0, 1});
  return whole;
}

}  // namespace

std::map<std::string, std::string> vllm_facts(const std::string& arguments) {
  std::map<std::string, std::string> facts;
  if (arguments.empty()) return facts;
  const auto number = [&](const char* key) {
    return given_argument(arguments, key).empty() ? "1" : given_argument(arguments, key);
  };
  add_model(facts, given_argument(arguments, "model"), given_argument(arguments, "quantization"));
  facts["tp"] = number("tensor_parallel_size"), facts["pp"] = number("pipeline_parallel_size"),
  facts["dp"] = number("data_parallel_size");
  facts["dcp"] = number("decode_context_parallel_size");
  const int tp = std::atoi(facts["tp"].c_str()), dp = std::atoi(facts["dp"].c_str());
  const std::string expert_parallel = argument(arguments, "enable_expert_parallel");
  facts["ep"] = expert_parallel == "True" || expert_parallel == "true" ? std::to_string(tp * dp) : "1";
  facts["gpus"] = std::to_string(tp * dp * std::atoi(facts["pp"].c_str()));
  facts["kv_dtype"] = given_argument(arguments, "kv_cache_dtype").empty()
                          ? "auto"
                          : given_argument(arguments, "kv_cache_dtype");
  facts["attention_backend"] = given_argument(arguments, "attention_backend");
  facts["moe_backend"] = given_argument(arguments, "moe_backend");
  if (argument(arguments, "disable_custom_all_reduce") == "True")
    facts["allreduce"] = "nccl (custom AR disabled)";
  const std::size_t draft = arguments.find("speculative_config");
  facts["spec"] = "none";
  if (draft != std::string::npos && !given_argument(arguments.substr(draft), "method").empty())
    facts["spec"] = given_argument(arguments.substr(draft), "method") + "-" +
                    given_argument(arguments.substr(draft), "num_speculative_tokens");
  if (argument(arguments, "enforce_eager") == "True") facts["engine"] = "vLLM (eager)";
  return facts;
}

BenchFile read_vllm_log(const std::string& text, const std::string& file, const BenchOptions& options,
                        Diagnostics& out) {
  BenchFile result;
  result.format = "vLLM server log";
  std::vector<LogWindow> windows;
  std::set<std::string> engines;
  double pool = -1;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find("non-default args:") != std::string::npos) {
      const auto facts = vllm_facts(line.substr(line.find("non-default args:")));
      result.facts.insert(facts.begin(), facts.end());
    }
    if (line.find("GPU KV cache size:") != std::string::npos) pool = after(line, "GPU KV cache size:");
    if (line.find("SpecDecoding metrics") != std::string::npos && !windows.empty())
      windows.back().accept_len = after(line, "Mean acceptance length:");
    if (line.find("generation throughput:") == std::string::npos ||
        line.find("Running:") == std::string::npos)
      continue;
    LogWindow w;
    w.line = number, w.time_s = time_of(line);
    w.running = static_cast<int>(after(line, "Running:")),
    w.tokens_per_s = after(line, "generation throughput:");
    w.prompt_per_s = after(line, "prompt throughput:");
    const double usage = after(line, "KV cache usage:");
    w.prefix_hits = std::max(0.0, after(line, "Prefix cache hit rate:")) / 100;
    if (pool > 0 && usage >= 0) w.kv_tokens = usage / 100 * pool;
    if (!windows.empty() && w.time_s >= 0 && windows.back().time_s >= 0)
      w.expected_tokens = w.tokens_per_s * (w.time_s - windows.back().time_s);
    if (line.find("Engine ") != std::string::npos) engines.insert(text_behind(line, "Engine "));
    windows.push_back(w);
  }
  if (const std::string version = text_behind(text, " version ");
      !version.empty() && result.facts["engine"].empty())
    result.facts["engine"] = "vLLM " + version;
  if (result.facts["engine"].empty()) result.facts["engine"] = "vLLM";
  SteadyRules rules;
  rules.anyway = options.anyway;
  rules.kv_resolution = pool > 0 ? 2 * kUsageStep * pool : 0;
  result.rows = steady_rows(joined(windows, engines.size(), file, out), rules, file, out);
  return result;
}

}  // namespace moe
