// import-bench against published outputs: every file is read right or refused with its reason.
//
// Expected values are read from the files by hand (TPOT lines) or follow from them as the comment says. The
// strongest check is the last one: a server's log against the client's own result of the same run.
#include <cmath>
#include <filesystem>

#include "catch.hpp"
#include "repository.hpp"
#include "serving/row.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

BenchFile read(const std::string& name, Diagnostics& found, BenchOptions options = {}) {
  const std::string file = test::shared() + "/samples/" + name;
  return read_bench(test::read_file(file), file, options, found);
}

bool absent() {
  if (!test::shared().empty()) return false;
  WARN("no benchmark outputs beside this checkout: skipped");
  return true;
}

struct Expected {
  const char* file;
  double value;  ///< median TPOT as printed, ms
  int context;   ///< input tokens / requests + output tokens / requests / 2
  int concurrency;
  const char* quality;
};
constexpr Expected kResults[] = {
    {"bench_vllm/01-serve-c8-qwen38-27b-nvfp4.json", 17.7351, 768, 8, "A"},   // 256 + 1024 / 2
    {"bench_vllm/02-serve-c1-qwen38-27b-nvfp4.json", 15.2237, 1088, 1, "A"},  // 1024 + 128 / 2
    {"bench_vllm/07-text-glm-4.5.txt", 22.39, 8500, 16, "B"},        // 16 requests in one wave; ITL 20.23
    {"bench_vllm/09-text-deepseek-v3.2.txt", 99.25, 2560, 79, "B"},  // 100 * 1023 * 99.71 ms / 129.34 s
    {"bench_vllm/10-text-ernie-4.5.txt", 16.86, 8497, 16, "A"},
    {"bench_vllm/15-text-atom-dspark.txt", 31.09, 7848, 106, "B"},  // 1280 * 921.9 * 35.52 ms / 394.18 s
    {"bench_sglang/01-text-kimi-k2.5-c1.txt", 9.32, 821, 1, "A"},
    {"bench_sglang/02-text-kimi-k2.5-c100.txt", 403.32, 752, 100, "B"},
    {"bench_sglang/03-text-deepseek-v3.2.txt", 9.25, 336, 1, "A"},
    {"bench_sglang/04-text-glm-4.6.txt", 14.8, 821, 1, "A"},
    {"bench_sglang/07-text-qwen3.5.txt", 3.79, 821, 1, "A"},
    {"bench_sglang/08-text-gpt-oss.txt", 2.31, 438, 1, "A"},
    {"bench_sglang/10-text-nemotron3-super.txt", 76.02, 763, 256,
     "C"},  // median time between tokens is half of it
    {"bench_other/06-inference-perf-mixtral-tp2-stage0.json", 18.4353, 711, 22,
     "B"}};  // (4518.5 - 63.0) / 241.68 ms

struct Refused {
  const char* file;
  const char* reason;
};
constexpr Refused kRefused[] = {
    {"bench_vllm/04-serve-sweep-driver.log", "give the 24 result files"},
    {"bench_vllm/06-text-kimi-k2-thinking.txt", "waited 271.2 s"},
    {"bench_vllm/08-text-minimax-m2.txt", "`xxx` is not a number"},
    {"bench_sglang/12-text-llada-2.1.txt", "their text has 3433"},
    {"bench_other/02-llm-decode-bench-0.4.17-glm5.1-console.log", "give the JSON that it wrote"},
    {"server_log/08-sglang-k2-thinking-final-bench.log", "0 of 19 reports"},
    {"server_log/11-vllm-qwen3.5-397b-pasted-lines.txt", "without a report before it"}};

}  // namespace

TEST_CASE("published benchmark results are read right", "[validation]") {
  if (absent()) return;
  for (const Expected& e : kResults) {
    INFO(e.file);
    Diagnostics found;
    BenchFile f = read(e.file, found);
    REQUIRE(f.rows.size() == 1);
    auto& cells = f.rows[0].cells;
    CHECK(std::stod(cells["value"]) == Approx(e.value).epsilon(1e-5));
    CHECK(std::stoi(cells["context_tokens"]) == e.context);
    CHECK(std::stoi(cells["concurrency"]) == e.concurrency);
    CHECK(cells["quality"] == e.quality);
    CHECK(cells["metric"] == "tpot_ms");
  }
}

TEST_CASE("published outputs that are no decode measurement are refused with the reason", "[validation]") {
  if (absent()) return;
  for (const Refused& r : kRefused) {
    INFO(r.file);
    Diagnostics found;
    CHECK(read(r.file, found).rows.empty());
    CHECK(found.has_errors());
    CHECK(found.render().find(r.reason) != std::string::npos);
  }
}

TEST_CASE("no file of the benchmark and log samples is forgotten", "[validation]") {
  if (absent()) return;
  for (const char* folder : {"bench_vllm", "bench_sglang", "bench_other", "server_log"})
    for (const auto& entry : std::filesystem::directory_iterator(test::shared() + "/samples/" + folder)) {
      const std::string name = std::string(folder) + "/" + entry.path().filename().string();
      INFO(name);
      Diagnostics found;
      const BenchFile f = read(name, found);
      CHECK((!f.rows.empty() || found.has_errors() || !f.facts.empty()));
      for (const BenchRow& r : f.rows) CHECK(std::stod(r.cells.at("value")) > 0);
    }
}

TEST_CASE("SGLang logs: steps that a profile page read by hand", "[validation]") {
  if (absent()) return;
  Diagnostics found;
  // GLM-4.7-FP8 TP4 x PP2: 17.9 tok/s at one request, 34.5 at two; each step is logged by both stages.
  BenchFile f = read("server_log/06-sglang-tp4pp2.log", found);
  REQUIRE(f.rows.size() == 2);
  CHECK(f.rows[0].cells["concurrency"] == "2");
  CHECK(std::stod(f.rows[0].cells["value"]) == Approx(34.5).epsilon(0.01));
  CHECK(f.rows[1].cells["concurrency"] == "1");
  CHECK(std::stod(f.rows[1].cells["value"]) == Approx(17.9).epsilon(0.01));
  CHECK(f.facts["pp"] == "2");
  // Kimi-K2-Thinking NVFP4 TP8: the one window whose batch hardly changed (14 to 13 requests).
  f = read("server_log/05-sglang-k2-nvfp4-sm120fix.log", found);
  REQUIRE(f.rows.size() == 1);
  CHECK(f.rows[0].cells["value"] == "198.62");
}

TEST_CASE("a server's log says what the client of the same run measured", "[validation]") {
  if (absent()) return;
  Diagnostics found;
  BenchFile log = read("server_log/02-vllm-glm5.1-tp8-dcp1-mtp0.log", found);
  BenchFile client = read("bench_other/01-llm-decode-bench-0.4.17-glm5.1.json", found);
  CHECK(log.facts["model"] == "GLM-5.1");
  CHECK(log.facts["kv_dtype"] == "fp8");
  REQUIRE(client.rows.size() == 12);
  int compared = 0;
  for (BenchRow& c : client.rows) {
    const double prompt = std::stod(c.cells["context_tokens"]), tokens = std::stod(c.cells["value"]);
    for (BenchRow& l : log.rows) {
      // The benchmark sends one prompt to every stream: the cache holds it once, and what each stream has
      // generated.
      const double running = std::stod(l.cells["concurrency"]),
                   cached = running * std::stod(l.cells["context_tokens"]);
      if (l.cells["concurrency"] != c.cells["concurrency"] || cached < prompt ||
          cached > prompt + running * 4096)
        continue;
      if (running > 1) CHECK(l.cells["notes"].find("share") != std::string::npos);
      INFO(c.cells["concurrency"] << " requests of " << prompt << " tokens");
      ++compared;
      // Windows of 10 s beside 30 s of the client: 0.5 %. At 32 requests the batch was disturbed (300 to 346
      // tok/s).
      CHECK(std::stod(l.cells["value"]) ==
            Approx(tokens).epsilon(c.cells["concurrency"] == "32" ? 0.02 : 0.005));
    }
  }
  CHECK(compared == 12);
}
