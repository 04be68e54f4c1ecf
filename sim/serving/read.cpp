// Which format is it? By content; a name or an ending says nothing.
#include <fmt/core.h>

#include <set>
#include <sstream>

#include "serving/readers.hpp"

namespace moe {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Files that a log of benchmark commands says its results are in.
std::string named_results(const std::string& text) {
  std::set<std::string> names;
  const std::string option = "--result-filename ";
  for (std::size_t at = text.find(option); at != std::string::npos; at = text.find(option, at + 1)) {
    const std::size_t from = at + option.size();
    names.insert(text.substr(from, text.find_first_of(" \n\r", from) - from));
  }
  return names.empty() ? ""
                       : fmt::format("give the {} result files that it names, the first is {}", names.size(),
                                     *names.begin());
}

}  // namespace

BenchFile read_bench(const std::string& text, const std::string& file, const BenchOptions& options,
                     Diagnostics& out) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string::npos) {
    out.error("the file is empty", {file, 0, 0, 1});
    return {};
  }
  if (has(text, "Serving Benchmark Result")) return read_result_text(text, file, options, out);
  if (text[first] == '{' ||
      (text[first] == '[' && (text[first + 1] == '{' || has(text.substr(first, 40), "\n"))))
    return read_result_json(text, file, options, out);
  if (has(text, "Decode batch") && has(text, "gen throughput"))
    return read_sglang_log(text, file, options, out);
  if (has(text, "generation throughput:") && has(text, "Running:"))
    return read_vllm_log(text, file, options, out);
  if (const std::string header = text.substr(first, text.find('\n', first) - first);
      has(header, "gen_throughput") && has(header, "running"))
    return read_throughput_csv(text, file, options, out);
  if (has(text, "llm-decode-bench"))
    out.error("the console of llm-decode-bench", {file, 0, 0, 1}, "",
              "give the JSON that it wrote: it has more digits, and why cells are empty");
  else if (has(text, "bench serve") || has(text, "bench_serving") || has(text, "benchmark_serving"))
    out.error("a log of benchmark commands, without their results", {file, 0, 0, 1}, "", named_results(text));
  else
    out.error("no benchmark result and no server log of vLLM or SGLang is recognised in this file",
              {file, 0, 0, 1}, "",
              "known: results of `vllm bench serve` and sglang.bench_serving (JSON, JSONL, text), "
              "llm-decode-bench and inference-perf (JSON), "
              "logs with `Avg generation throughput` or `Decode batch`");
  return {};
}

}  // namespace moe
