// Results as JSON: `vllm bench serve --save-result`, SGLang's --output-file (one object per line), and files
// of arguments.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "config/json_file.hpp"
#include "serving/client.hpp"
#include "serving/names.hpp"
#include "serving/readers.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& j, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (const auto at = j.find(key); at != j.end() && at->is_number()) return at->get<double>();
  return ClientRun::kNone;
}

std::string word(const Json& j, const char* key) {
  const auto at = j.find(key);
  return at != j.end() && at->is_string() ? at->get<std::string>() : "";
}

/// "20260820-014038" -> 2026-08-20
std::string day(const std::string& text) {
  if (text.size() < 8 || text.find_first_not_of("0123456789") < 8)
    return text.substr(0, std::min<std::size_t>(10, text.size()));
  return text.substr(0, 4) + "-" + text.substr(4, 2) + "-" + text.substr(6, 2);
}

ClientRun client_run(const Json& j, const Place& place) {
  ClientRun r;
  r.place = place;
  r.completed = number(j, {"completed"}), r.duration_s = number(j, {"duration"});
  r.input_tokens = number(j, {"total_input_tokens", "total_input"}),
  r.output_tokens = number(j, {"total_output_tokens", "total_output"});
  r.retokenized = number(j, {"total_output_tokens_retokenized"});
  r.max_concurrency = number(j, {"max_concurrency"});
  r.mean_ttft_ms = number(j, {"mean_ttft_ms"}), r.mean_tpot_ms = number(j, {"mean_tpot_ms"}),
  r.median_tpot_ms = number(j, {"median_tpot_ms"});
  r.mean_itl_ms = number(j, {"mean_itl_ms"}), r.median_itl_ms = number(j, {"median_itl_ms"});
  r.accept_len = number(j, {"accept_length", "spec_decode_acceptance_length", "acceptance_length"});
  r.model = word(j, "model_id").empty() ? word(j, "model") : word(j, "model_id");
  r.date = day(word(j, "date"));
  const std::string backend = word(j, "backend");
  if (backend.find("sglang") != std::string::npos) r.engine = "SGLang";
  if (backend == "vllm") r.engine = "vLLM";
  return r;
}

void read_object(const Json& j, const std::string& file, int line, const BenchOptions& options,
                 BenchFile& into, Diagnostics& out) {
  const Place place{file, line, line > 0 ? 1 : 0, 1};
  if (j.contains("mean_tpot_ms")) {
    into.format = "benchmark result (JSON)";
    if (auto row = client_row(client_run(j, place), options, out)) {
      if (const auto info = j.find("server_info"); info != j.end() && info->is_object())
        for (const auto& [column, value] : sglang_facts(info->dump())) row->fill(column, value);
      into.rows.push_back(*row);
    }
  } else if (j.contains("metadata") && j.contains("results")) {
    read_decode_bench(j, file, into, out);
  } else if (j.contains("load_summary") && j.contains("successes")) {
    read_inference_perf(j, file, options, into, out);
  } else if (j.contains("engine_kwargs")) {
    into.format = "engine arguments";
    into.facts = vllm_facts(j.at("engine_kwargs").dump());
    into.facts["engine"] = "vLLM" + (word(j, "vllm_version").empty() ? "" : " " + word(j, "vllm_version"));
    into.facts["date"] = day(word(j, "started_at"));
  } else {
    out.error("this JSON is no result of vLLM, SGLang, inference-perf or llm-decode-bench", place, "",
              "expected an object with mean_tpot_ms, or with metadata and results");
  }
}

}  // namespace

BenchFile read_result_json(const std::string& text, const std::string& file, const BenchOptions& options,
                           Diagnostics& out) {
  BenchFile result;
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (text[first] == '[') {
    const Json list =
        Json::parse(text.begin() + static_cast<std::ptrdiff_t>(first), text.end(), nullptr, false);
    if (list.is_discarded()) out.error("not valid JSON: the list is not closed or damaged", {file, 0, 0, 1});
    for (const Json& j : list.is_array() ? list : Json::array())
      if (j.is_object()) read_object(j, file, 0, options, result, out);
    return result;
  }
  // One object over many lines, or one per line.
  const std::size_t end = text.find('\n', first);
  const bool lines =
      end != std::string::npos && Json::accept(text.begin() + static_cast<std::ptrdiff_t>(first),
                                               text.begin() + static_cast<std::ptrdiff_t>(end));
  if (!lines) {
    const Json j = parse_json(text.substr(first), file, out);
    if (j.is_object()) read_object(j, file, 0, options, result, out);
    return result;
  }
  int line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find('\n', at), text.size());
    const std::string one = text.substr(at, stop - at);
    ++line;
    at = stop + 1;
    if (one.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json j = Json::parse(one, nullptr, false);
    if (j.is_object())
      read_object(j, file, line, options, result, out);
    else
      out.error("not a JSON object: was the file cut while it was written?", {file, line, 1, 1});
  }
  return result;
}

}  // namespace moe
