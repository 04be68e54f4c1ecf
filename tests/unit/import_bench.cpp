// import-bench: small outputs of our own in the formats of vLLM and SGLang, with the oddities that real ones
// have.
#include <fmt/core.h>

#include "catch.hpp"
#include "repository.hpp"
#include "serving/names.hpp"
#include "serving/row.hpp"

using namespace moe;

namespace {

struct Read {
  explicit Read(const std::string& text, BenchOptions options = {}) {
    file = read_bench(text, "mine", options, found);
  }
  const std::string& cell(std::size_t row, const std::string& column) {
    return file.rows.at(row).cells[column];
  }
  bool says(const std::string& part) const { return found.render().find(part) != std::string::npos; }
  BenchFile file;
  Diagnostics found;
};

/// 40 requests of 1000 + 101 tokens, 8 at a time, TPOT 20 ms: 40 * 100 * 20 ms = 80 s of decoding in 10.4
/// s: 7.7 at once.
std::string block(const std::string& concurrency, const std::string& tpot, const std::string& median_itl,
                  const std::string& ttft = "60.00") {
  return fmt::format(
      "============ Serving Benchmark Result ============\nBackend:                                 sglang\n"
      "Max request concurrency:                 {}\nSuccessful requests:                     40\n"
      "Benchmark duration (s):                  10.40\nTotal input tokens:                      40,000\n"
      "Total generated tokens:                  4040\n---------------Time to First Token----------------\n"
      "Mean TTFT (ms):                          {}\n-----Time per Output Token (excl. 1st token)------\n"
      "Mean TPOT (ms):                          {}\nMedian TPOT (ms):                        {}\n"
      "Mean ITL (ms):                           20.00\nMedian ITL (ms):                         {}\n"
      "==================================================\n",
      concurrency, ttft, tpot, tpot, median_itl);
}

std::string vllm_line(const std::string& time, double prompt, double tokens, int running, double usage) {
  return fmt::format(
      "(APIServer pid=1) INFO 05-15 {} [loggers.py:271] Engine 000: Avg prompt throughput: {} tokens/s, Avg "
      "generation throughput: {} "
      "tokens/s, Running: {} reqs, Waiting: 0 reqs, GPU KV cache usage: {}%, Prefix cache hit rate: 0.0%\n",
      time, prompt, tokens, running, usage);
}

}  // namespace

TEST_CASE("a benchmark block becomes a row: TPOT, concurrency, mean cached context", "[unit]") {
  Read r(block("8", "20.00", "19.90"));
  REQUIRE(r.file.rows.size() == 1);
  CHECK(r.cell(0, "metric") == "tpot_ms");
  CHECK(r.cell(0, "value") == "20");
  CHECK(r.cell(0, "concurrency") == "8");  // 7.7 decoding on average is within 10 % of what the client held
  CHECK(r.cell(0, "context_tokens") == "1050");  // 1000 + 101 / 2, rounded half to even
  CHECK(r.cell(0, "engine") == "SGLang");
  CHECK(r.cell(0, "quality") == "A");
  CHECK(r.cell(0, "model").empty());
}

TEST_CASE("a cap that was not reached is not the concurrency", "[unit]") {
  Read r(block("64", "20.00", "19.90"));
  CHECK(r.cell(0, "concurrency") == "8");  // 7.7 by Little's law
  CHECK(r.cell(0, "notes").find("64 allowed") != std::string::npos);
}

TEST_CASE("prompts between tokens are said, queueing is refused", "[unit]") {
  Read mixed(block("8", "20.00", "15.00"));
  CHECK(mixed.cell(0, "quality") == "B");
  CHECK(mixed.says("33 % above the median time between tokens"));
  Read queued(block("8", "20.00", "19.90", "2500.00"));  // waits 2.5 s, decodes 100 * 20 ms
  CHECK(queued.file.rows.empty());
  CHECK(queued.says("waited 2.5 s"));
  Read anyway(block("8", "20.00", "19.90", "2500.00"), {false, true});
  CHECK(anyway.cell(0, "quality") == "C");
}

TEST_CASE("templates, missing figures and other texts are refused with the reason", "[unit]") {
  CHECK(Read(block("xxx", "20.00", "19.90")).says("`xxx` is not a number"));
  CHECK(Read("=== Serving Benchmark Result ===\nMean TPOT (ms): 20\n")
            .says("lacks completed requests, duration"));
  CHECK(Read("RUN vllm bench serve --result-filename a.json\n").says("the first is a.json"));
  CHECK(Read("hello\n").says("known: results of"));
  CHECK(Read(" \n").says("empty"));
  CHECK(Read("{\"a\": 1}").says("no result of"));
  CHECK(Read("{\"mean_tpot_ms\": ").says("not valid JSON"));
}

TEST_CASE("JSON and JSON lines give the rows of their objects", "[unit]") {
  const std::string one =
      "{\"date\": \"20260820-014038\", \"backend\": \"vllm\", \"model_id\": \"org/GLM-5.1-NVFP4-MTP\", "
      "\"max_concurrency\": null, "
      "\"duration\": 10.4, \"completed\": 40, \"total_input_tokens\": 40000, \"total_output_tokens\": 4040, "
      "\"mean_ttft_ms\": 60, \"mean_tpot_ms\": 20, \"median_tpot_ms\": 19.5, \"request_rate\": Infinity}";
  Read r(one);
  REQUIRE(r.file.rows.size() == 1);
  CHECK(r.cell(0, "value") == "19.5");
  CHECK(r.cell(0, "date") == "2026-08-20");
  CHECK(r.cell(0, "model") == "GLM-5.1");
  CHECK(r.cell(0, "quant") == "NVFP4 (MTP ckpt)");
  CHECK(r.cell(0, "engine") == "vLLM");
  CHECK(Read(one, {true, false}).cell(0, "value") == "20");  // --mean

  const std::string line =
      "{\"backend\": \"sglang\", \"max_concurrency\": 8, \"duration\": 10.4, \"completed\": 40, "
      "\"total_input_tokens\": 40000, "
      "\"total_output_tokens\": 4040, \"mean_ttft_ms\": 60, \"mean_tpot_ms\": 20, \"accept_length\": 2.5}\n";
  Read lines(line + line);
  REQUIRE(lines.file.rows.size() == 2);
  CHECK(lines.cell(1, "accept_len") == "2.5");
  Read cut(line + line.substr(0, 40));
  CHECK(cut.says("mine:2:1"));
}

TEST_CASE("a vLLM log gives rows only for windows in which nothing but decode happened", "[unit]") {
  // 100,000 tokens of cache. Two requests decode at 100 tok/s: 1000 tokens, 1 % in 10 s.
  const std::string log =
      "INFO 05-15 03:00:00 [utils.py:240] non-default args: {'model': 'org/Kimi-K2.6-INT4', "
      "'tensor_parallel_size': 8, 'kv_cache_dtype': 'fp8', "
      "'speculative_config': {'method': 'eagle3', 'num_speculative_tokens': 3}}\n"
      "(EngineCore pid=380) INFO 05-15 03:00:01 [kv_cache_utils.py:1731] GPU KV cache size: 100,000 "
      "tokens\n" +
      vllm_line("03:00:10", 500, 30, 2, 10) +  // prompts
      vllm_line("03:00:20", 0, 100, 2, 11) +
      "SpecDecoding metrics: Mean acceptance length: 2.50, Accepted\n" +
      vllm_line("03:00:30", 0, 104, 2, 12) +
      "SpecDecoding metrics: Mean acceptance length: 2.70, Accepted\n" +
      vllm_line("03:00:40", 0, 60, 2, 20) +   // a prompt in chunks: the cache grows by 8 %
      vllm_line("03:00:50", 0, 90, 1, 8) +    // one finished
      vllm_line("03:01:30", 0, 50, 1, 8.4) +  // lines are missing
      vllm_line("03:01:40", 0, 0, 0, 0);      // idle
  Read r(log);
  REQUIRE(r.file.rows.size() == 1);
  CHECK(r.cell(0, "value") == "102");
  CHECK(r.cell(0, "concurrency") == "2");
  CHECK(r.cell(0, "context_tokens") == "5750");  // (11000 + 12000) / 4
  CHECK(r.cell(0, "accept_len") == "2.6");
  CHECK(r.file.facts["spec"] == "eagle3-3");
  CHECK(r.file.facts["tp"] == "8");
  CHECK(r.file.facts["gpus"] == "8");
  CHECK(r.file.facts["model"] == "Kimi-K2.6");
  CHECK(r.says("2 of 7 reports"));
  CHECK(Read(vllm_line("03:00:10", 0, 30, 2, 10)).says("without a report before it"));
}

TEST_CASE("a SGLang log: one pipeline stage speaks, and the cache must grow as the running requests say",
          "[unit]") {
  const auto line = [](const char* time, const char* rank, int running, int tokens, double rate) {
    return fmt::format(
        "[2026-01-28 22:42:{} {}] Decode batch, #running-req: {}, #token: {}, token usage: 0.00, cuda graph: "
        "False, "
        "gen throughput (token/s): {}, #queue-req: 0, \n",
        time, rank, running, tokens, rate);
  };
  const std::string prompt =
      "[2026-01-28 22:42:20 PP0 TP0] Prefill batch, #new-seq: 2, #new-token: 122, #running-req: 0\n";
  const std::string log =
      "[2026-01-28 22:41:00] server_args=ServerArgs(model_path='zai-org/GLM-4.7-FP8', quantization=None, "
      "tp_size=4, pp_size=2, dp_size=1, "
      "ep_size=1, kv_cache_dtype='auto', speculative_algorithm=None, disable_cuda_graph=True, "
      "decode_log_interval=40)\n" +
      prompt + line("21", "PP0 TP0", 2, 276, 0.69) + line("21", "PP1 TP0", 2, 276, 0.68) +
      line("25", "PP0 TP0", 2, 356, 34) +
      line("25", "PP1 TP0", 2, 356, 33) +  // 2 requests x 40 steps = 80 tokens
      line("27", "PP0 TP0", 2, 436, 36) + line("27", "PP1 TP0", 2, 436, 33) +
      line("29", "PP0 TP0", 2, 1076, 140);  // 640 tokens: not two requests
  Read r(log);
  REQUIRE(r.file.rows.size() == 1);
  CHECK(r.cell(0, "value") == "35");
  CHECK(r.cell(0, "concurrency") == "2");
  CHECK(r.file.facts["model"] == "GLM-4.7");
  CHECK(r.file.facts["quant"] == "FP8");
  CHECK(r.file.facts["gpus"] == "8");
  CHECK(r.file.facts["pp"] == "2");
  CHECK(r.file.facts["spec"] == "none");
  CHECK(r.file.facts["engine"] == "SGLang (eager, --disable-cuda-graph)");
  CHECK(r.says("1 cache grew faster"));
}

TEST_CASE("rows are written as CSV with every column, quoted where needed", "[unit]") {
  BenchRow row;
  row.cells["engine"] = "SGLang (eager, \"x\")", row.cells["value"] = cell(1234.5678);
  const std::string csv = bench_csv({row});
  CHECK(csv.substr(0, csv.find('\n')) ==
        "id,model,quant,engine,moe_backend,attention_backend,kv_dtype,gpus,tp,ep,dp,pp,dcp,spec,accept_len,"
        "context_tokens,concurrency,metric,value,rig,"
        "p2p,allreduce,date,source_url,quality,notes");
  CHECK(csv.find("\"SGLang (eager, \"\"x\"\")\"") != std::string::npos);
  CHECK(csv.find(",1234.57,") != std::string::npos);
}

TEST_CASE("names of models and formats", "[unit]") {
  CHECK(split_model_name("nvidia/Kimi-K2-Thinking-NVFP4") ==
        std::pair<std::string, std::string>("Kimi-K2-Thinking", "NVFP4"));
  CHECK(split_model_name("Qwen3_5-397B-A17B-NVFP4").first == "Qwen3.5-397B-A17B");
  CHECK(split_model_name("Qwen/Qwen3-30B-A3B-Instruct-2507").second.empty());
  CHECK(argument("ServerArgs(tp_size=8, attn_tp_size=4)", "tp_size") == "8");
  CHECK(argument("{'a_model': 'x', 'model': 'y, z'}", "model") == "y, z");
}
