// llm-decode-bench (sustained decode by context and concurrency) and inference-perf (request lifecycles).
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "serving/client.hpp"
#include "serving/names.hpp"
#include "serving/readers.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& j, const char* key) {
  const auto at = j.find(key);
  return at != j.end() && at->is_number() ? at->get<double>() : ClientRun::kNone;
}

/// j[a][b]..., NaN where a step is missing.
double deep(const Json& j, std::initializer_list<const char*> path) {
  const Json* at = &j;
  for (const char* key : path) {
    const auto next = at->is_object() ? at->find(key) : at->end();
    if (!at->is_object() || next == at->end()) return ClientRun::kNone;
    at = &*next;
  }
  return at->is_number() ? at->get<double>() : ClientRun::kNone;
}

std::string word(const Json& j, const char* key) {
  const auto at = j.find(key);
  return at != j.end() && at->is_string() ? at->get<std::string>() : "";
}

/// Why a cell of the decode benchmark is no steady decode; "" when it is.
std::string disturbance(const Json& cell_json) {
  if (!(number(cell_json, "aggregate_tps") > 0)) return "no throughput";
  if (const std::string reason = word(cell_json, "timeout_reason"); !reason.empty()) return reason;
  if (number(cell_json, "num_errors") > 0) return "requests failed";
  if (number(cell_json, "queue_fraction") > 0)
    return "requests were queued: the batch was smaller than asked";
  const double held = number(cell_json, "avg_running_reqs"), asked = number(cell_json, "concurrency");
  if (held > 0 && std::abs(held / asked - 1) > 0.05)
    return fmt::format("{:g} of {:g} requests were running", held, asked);
  return {};
}

}  // namespace

void read_decode_bench(const Json& j, const std::string& file, BenchFile& into, Diagnostics& out) {
  into.format = "llm-decode-bench result";
  const Json& about = j.at("metadata");
  const std::string engine = word(about, "engine");
  into.facts["engine"] = engine == "vllm" ? "vLLM" : engine == "sglang" ? "SGLang" : engine;
  add_model(into.facts, word(about, "model"), "");
  into.facts["date"] = word(about, "timestamp").substr(0, 10);
  if (const double dcp = number(about, "dcp_size"); dcp > 0) into.facts["dcp"] = cell(dcp);
  if (const auto p2p = about.find("nvidia_p2p_override_effective"); p2p != about.end() && p2p->is_boolean())
    into.facts["p2p"] = p2p->get<bool>() ? "on(ForceP2P)" : "ForceP2P off";
  const double seconds = number(about, "duration_per_test");
  if (!j.at("results").is_array()) {
    out.error("`results` is not a list", {file, 0, 0, 1});
    return;
  }
  for (const Json& c : j.at("results")) {
    const std::string name =
        fmt::format("context {:g}, concurrency {:g}", number(c, "context_tokens"), number(c, "concurrency"));
    if (const std::string why = disturbance(c); !why.empty()) {
      out.warning(fmt::format("{}: left out: {}", name, why), {file, 0, 0, 1});
      continue;
    }
    BenchRow row;
    row.cells["metric"] = "output_tok_s_total", row.cells["value"] = cell(number(c, "aggregate_tps"));
    row.cells["context_tokens"] = cell(number(c, "context_tokens")),
    row.cells["concurrency"] = cell(number(c, "concurrency"));
    if (const double length = number(c, "server_spec_accept_length"); length > 1)
      row.cells["accept_len"] = cell(length);
    row.cells["quality"] = "A";
    if (seconds > 0) row.note(fmt::format("{:g} s of sustained decode, context is the prompt", seconds));
    into.rows.push_back(row);
  }
  if (into.rows.empty()) out.error("no cell of this result is steady decode", {file, 0, 0, 1});
}

void read_inference_perf(const Json& j, const std::string& file, const BenchOptions& options, BenchFile& into,
                         Diagnostics& out) {
  into.format = "inference-perf result";
  ClientRun r;
  r.place = {file, 0, 0, 1};
  r.completed = deep(j, {"successes", "count"});
  const double prompt = deep(j, {"successes", "prompt_len", "mean"}),
               output = deep(j, {"successes", "output_len", "mean"});
  const double latency_s = deep(j, {"successes", "latency", "request_latency", "mean"});
  const double ttft_s = deep(j, {"successes", "latency", "time_to_first_token", "mean"});
  const double rate = deep(j, {"successes", "throughput", "requests_per_sec"});
  r.duration_s = r.completed / rate, r.input_tokens = prompt * r.completed,
  r.output_tokens = output * r.completed;
  r.mean_ttft_ms = 1000 * ttft_s;
  // Its own time_per_output_token divides by streamed chunks, which may be two per token.
  r.mean_tpot_ms = 1000 * (latency_s - ttft_s) / (output - 1);
  const double stated = 1000 * deep(j, {"successes", "latency", "time_per_output_token", "mean"});
  if (auto row = client_row(r, options, out)) {
    row->note("TPOT = (request latency - TTFT) / (output tokens - 1)");
    if (stated > 0 && std::abs(stated / r.mean_tpot_ms - 1) > 0.05) {
      const std::string why =
          fmt::format("time_per_output_token says {} ms, the request latency {} ms: the latency is used",
                      cell(stated), cell(r.mean_tpot_ms));
      row->note(why);
      out.warning(why, r.place);
      row->cells["quality"] = "B";
    }
    into.rows.push_back(*row);
  }
}

}  // namespace moe
