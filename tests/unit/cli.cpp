// The program itself: exit codes, what goes to stdout and stderr, files that it writes.
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "program.hpp"

using namespace moe;
using test::moe_sim;

namespace {

const std::string kKimi = "experiments/kimi-k2.5-int4-tp8.yaml";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a run answers with exit code 0 and results on stdout", "[unit]") {
  const auto r = moe_sim("run " + kKimi);
  CHECK(r.code == 0);
  CHECK(has(r.out, "one decode step"));
  CHECK(has(r.out, "what would help"));
  CHECK_FALSE(has(r.out, "\033["));  // no colour where stdout is no terminal
}

TEST_CASE("--json prints one document with every shared key, and the breakdown sums to the step", "[unit]") {
  const auto r = moe_sim("run " + kKimi + " --json --set batch.sequences=8");
  REQUIRE(r.code == 0);
  const auto j = nlohmann::json::parse(r.out);
  for (const char* key : {"step_ms", "tpot_ms", "tokens_per_s", "tokens_per_s_per_sequence", "interval90_ms",
                          "breakdown_ms", "links", "memory_gib_per_gpu", "kv_capacity_tokens",
                          "theoretical_min_ms", "theoretical_min_unreplicated_ms", "flops_pct_of_peak",
                          "contention_ms", "claims", "warnings", "inputs"})
    CHECK(j.contains(key));
  double sum = 0;
  for (const char* key :
       {"attention", "experts", "shared_experts", "all_reduce", "all_to_all", "all_gather", "cast",
        "dense_gemm", "small_kernels", "lm_head", "sampling", "draft", "pipeline", "host"})
    sum += j["breakdown_ms"].at(key).get<double>();
  CHECK(sum == Approx(j["step_ms"].get<double>()).epsilon(1e-9));
  CHECK(j["interval90_ms"].size() == 2);
  CHECK(j["memory_gib_per_gpu"].size() == 8);
  CHECK(j["inputs"]["resolved"]["batch.sequences"] == "8");
  CHECK(j["inputs"]["files"].size() == 5);
}

TEST_CASE("several experiments print one JSON list", "[unit]") {
  const auto j = nlohmann::json::parse(moe_sim("run " + kKimi + " " + kKimi + " --json").out);
  REQUIRE(j.is_array());
  CHECK(j.size() == 2);
  CHECK(j[0] == j[1]);
}

TEST_CASE("--out writes result.json and trace.json, and they are those of the run", "[unit]") {
  const test::Folder folder;
  REQUIRE(moe_sim("run " + kKimi + " --out " + folder.path("a/b")).code == 0);
  const auto result = nlohmann::json::parse(test::read_file(folder.path("a/b/result.json")));
  const auto trace = nlohmann::json::parse(test::read_file(folder.path("a/b/trace.json")));
  CHECK(result["experiment"] == "kimi-k2.5-int4-tp8");
  CHECK(trace["metadata"]["makespan_ps"].get<double>() == Approx(result["step_ms"].get<double>() * 1e9));
}

TEST_CASE("a refuted claim is an answer, and exit code 1 only when asked for", "[unit]") {
  const std::string set = " --set 'expect=[{metric: step_ms, value: 1, source: x}]'";
  CHECK(moe_sim("run " + kKimi + set).code == 0);
  CHECK(has(moe_sim("run " + kKimi + set).out, "refuted"));
  CHECK(moe_sim("run " + kKimi + set + " --check-claims").code == 1);
}

TEST_CASE("wrong input has exit code 2, a message on stderr and nothing on stdout", "[unit]") {
  for (const char* arguments :
       {"run nowhere.yaml", "run experiments/kimi-k2.5-int4-tp8.yaml --set plan.tp=7",
        "run experiments/kimi-k2.5-int4-tp8.yaml --set plan", "run", "", "list nothing",
        "explain nothing_like_this", "check models/nowhere.yaml", "run --links some "}) {
    const auto r = moe_sim(arguments);
    INFO(arguments << "\n" << r.err);
    CHECK(r.code == 2);
    CHECK(has(r.err, "error: "));
    CHECK(r.out.empty());
  }
}

TEST_CASE("a question without an answer has exit code 3", "[unit]") {
  const auto memory = moe_sim("run " + kKimi + " --set plan.tp=4"),
             later = moe_sim("run " + kKimi + " --set model=nemotron-3-nano-30b --set checkpoint=bf16");
  CHECK(memory.code == 3);
  CHECK(has(memory.err, "no answer: does not fit: GPU 0 needs"));
  CHECK(later.code == 3);
  CHECK(has(later.err, "not simulated yet"));
}

TEST_CASE("unknown commands and options get a suggestion", "[unit]") {
  CHECK(has(moe_sim("rnu " + kKimi).err, "unknown command `rnu`\n  = help: did you mean `run`?"));
  CHECK(has(moe_sim("run " + kKimi + " --jsn").err,
            "unknown option `--jsn`\n  = help: did you mean `--json`?"));
  const auto missing = moe_sim("run " + kKimi + " --set");
  CHECK(missing.code == 2);
  CHECK_FALSE(has(missing.err, "unknown option"));
}

TEST_CASE("check reads several files of any kind and reports every error", "[unit]") {
  const test::Folder folder;
  const std::string bad = folder.write("bad.yaml", "schema: 1\nmodel: kimi\nbatch: {sequences: 0}\n");
  const auto good = moe_sim("check " + kKimi +
                            " models/glm-5.yaml topologies/turin-2s-direct.yaml "
                            "calibration/profiles/rtx-pro-6000.yaml calibration/stacks/vllm-0.24.yaml "
                            "calibration/gpus/rtx-pro-6000.yaml");
  INFO(good.err);
  CHECK(good.code == 0);
  const auto mixed = moe_sim("check " + kKimi + " " + bad);
  CHECK(mixed.code == 2);
  CHECK(has(mixed.out, kKimi + ": fine"));
  CHECK(has(mixed.err, "missing key `machine`"));
  CHECK(has(mixed.err, "missing key `context`"));
  CHECK(has(mixed.err, "errors, nothing was simulated"));
}

TEST_CASE("output that cannot be written is exit code 2", "[unit]") {
  const test::Folder folder;
  const std::string file = folder.write("file", "");
  CHECK(moe_sim("run " + kKimi + " --out " + file).code == 2);
  CHECK(moe_sim("run " + kKimi + " --trace " + file + "/x.json").code == 2);
  CHECK(moe_sim("run " + kKimi, "/dev/full").code == 2);
  CHECK(moe_sim("run " + kKimi + " --json", "/dev/full").code == 2);
  CHECK(moe_sim("list models", "/dev/full").code == 2);
  CHECK(moe_sim("run " + kKimi + " --trace /dev/full").code == 2);
}

TEST_CASE("one trace file is not written by several experiments", "[unit]") {
  CHECK(moe_sim("run " + kKimi + " " + kKimi + " --trace /tmp/never-written.json").code == 2);
}

TEST_CASE("explain knows keys of experiments, stacks and results", "[unit]") {
  CHECK(has(moe_sim("explain tp").out, "plan.tp"));
  CHECK(has(moe_sim("explain launch.graph").out, "full | piecewise | eager"));
  CHECK(has(moe_sim("explain contention_ms").out, "result.json"));
  CHECK(has(moe_sim("explain contension_ms").err, "did you mean `contention_ms`?"));
}

TEST_CASE("an experiment is found from its own folder", "[unit]") {
  CHECK(moe_sim("list models >/dev/null; cd experiments && '" MOE_SIM_BINARY "' run kimi-k2.5-int4-tp8.yaml")
            .code == 0);
}

TEST_CASE("list shows every kind of data", "[unit]") {
  for (const char* what : {"models", "topologies", "profiles", "stacks", "experiments"}) {
    const auto r = moe_sim(std::string("list ") + what + " --json");
    INFO(what << r.err);
    CHECK(r.code == 0);
    CHECK_FALSE(nlohmann::json::parse(r.out).empty());
  }
}
