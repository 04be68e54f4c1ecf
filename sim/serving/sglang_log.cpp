// "[2026-01-28 22:42:25 TP0] Decode batch, #running-req: 2, #token: 356, token usage: 0.00, cuda graph:
// False,
//  gen throughput (token/s): 34.96, #queue-req: 0," every decode_log_interval steps, and "Prefill batch, ..."
//  lines between.
#include <fmt/core.h>

#include <cstdio>
#include <map>
#include <sstream>

#include "serving/names.hpp"
#include "serving/readers.hpp"
#include "serving/steady.hpp"

namespace moe {
namespace {

double after(const std::string& line, const std::string& word) {
  const std::size_t at = line.find(word);
  return at == std::string::npos ? -1 : std::strtod(line.c_str() + at + word.size(), nullptr);
}

/// Seconds of "[2026-01-28 22:42:25 ..."; -1 when the line has none.
double time_of(const std::string& line) {
  int year = 0, month = 0, date = 0, h = 0, m = 0, s = 0;
  if (std::sscanf(line.c_str(), "[%4d-%2d-%2d %2d:%2d:%2d", &year, &month, &date, &h, &m, &s) != 6) return -1;
  return ((month * 31.0 + date) * 24 + h) * 3600 + m * 60 + s;
}

/// "DP0 PP1 TP0" -> the number behind "PP"; 0 when it is not named.
int rank_of(const std::string& line, const std::string& kind) {
  const std::size_t end = line.find(']'),
                    at = line.substr(0, end == std::string::npos ? 0 : end).find(" " + kind);
  return at == std::string::npos ? 0 : std::atoi(line.c_str() + at + 1 + kind.size());
}

}  // namespace

std::map<std::string, std::string> sglang_facts(const std::string& arguments) {
  std::map<std::string, std::string> facts;
  if (argument(arguments, "model_path").empty() && argument(arguments, "tp_size").empty()) return facts;
  const auto number = [&](const char* key) {
    return given_argument(arguments, key).empty() ? "1" : given_argument(arguments, key);
  };
  add_model(facts, given_argument(arguments, "model_path"), given_argument(arguments, "quantization"));
  facts["tp"] = number("tp_size"), facts["pp"] = number("pp_size"), facts["dp"] = number("dp_size"),
  facts["ep"] = number("ep_size");
  const bool attention_only =
      argument(arguments, "enable_dp_attention") == "True";  // its ranks are the TP ranks
  facts["gpus"] = std::to_string(std::atoi(facts["tp"].c_str()) * std::atoi(facts["pp"].c_str()) *
                                 (attention_only ? 1 : std::atoi(facts["dp"].c_str())));
  facts["dcp"] = "1";
  facts["kv_dtype"] = given_argument(arguments, "kv_cache_dtype"),
  facts["attention_backend"] = given_argument(arguments, "attention_backend");
  facts["moe_backend"] = given_argument(arguments, "moe_runner_backend");
  if (argument(arguments, "disable_custom_all_reduce") == "True")
    facts["allreduce"] = "nccl (custom AR disabled)";
  const std::string method = given_argument(arguments, "speculative_algorithm");
  facts["spec"] = method.empty()
                      ? "none"
                      : fmt::format("{}-{}", method, given_argument(arguments, "speculative_num_steps"));
  facts["engine"] =
      argument(arguments, "disable_cuda_graph") == "True" ? "SGLang (eager, --disable-cuda-graph)" : "SGLang";
  return facts;
}

BenchFile read_sglang_log(const std::string& text, const std::string& file, const BenchOptions& options,
                          Diagnostics& out) {
  BenchFile result;
  result.format = "SGLang server log";
  std::vector<LogWindow> windows;
  double interval = 40;  // decode_log_interval, SGLang's default
  bool prompt = false, graph = false, eager = false, data_parallel = false;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (const std::size_t at = line.find("ServerArgs("); at != std::string::npos) {
      result.facts = sglang_facts(line.substr(at));
      if (const std::string steps = argument(line, "decode_log_interval"); !steps.empty())
        interval = std::atof(steps.c_str());
      if (line.size() > 5 && line[0] == '[') result.facts["date"] = line.substr(1, 10);
    }
    // Every pipeline stage reports the same step: the first speaks for all.
    if (rank_of(line, "PP") > 0) continue;
    if (line.find("Prefill batch") != std::string::npos) prompt = true;
    if (line.find("Decode batch") == std::string::npos) continue;
    data_parallel = data_parallel || rank_of(line, "DP") > 0;
    LogWindow w;
    w.line = number, w.time_s = time_of(line), w.prompt_before = prompt;
    w.running = static_cast<int>(after(line, "#running-req: ")),
    w.tokens_per_s = after(line, "gen throughput (token/s): ");
    w.kv_tokens = after(line, "#token: ");
    w.accept_len = std::max(0.0, after(line, "accept len: "));
    w.expected_tokens = w.running * interval * std::max(1.0, w.accept_len);
    (line.find("graph: True") != std::string::npos ? graph : eager) = true;
    prompt = false;
    windows.push_back(w);
  }
  if (result.facts["engine"].empty()) result.facts["engine"] = eager && !graph ? "SGLang (eager)" : "SGLang";
  if (data_parallel) {
    out.error("data-parallel ranks report at different times: their batches cannot be added", {file, 0, 0, 1},
              "", "use the benchmark's result");
    return result;
  }
  SteadyRules rules;
  rules.anyway = options.anyway;
  rules.longest_gap_s = 120;  // reports follow steps, not time
  result.rows = steady_rows(windows, rules, file, out);
  return result;
}

}  // namespace moe
