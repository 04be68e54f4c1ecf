// import-trace and import-bench as commands: what goes where, and which exit code.
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.hpp"
#include "cli/import_commands.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

struct Ran {
  int code = 0;
  std::string out, err;
};

template <class Command, class Arguments>
Ran run(Command command, const Arguments& arguments) {
  std::ostringstream out, err;
  const Streams streams{out, err};
  Ran r;
  r.code = guarded(streams, [&] { return command(arguments, streams); });
  r.out = out.str(), r.err = err.str();
  return r;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kTrace = test::root() + "/tests/data/traces/rank0.json";
const char* kResult =
    "{\"backend\": \"vllm\", \"max_concurrency\": 8, \"duration\": 10.4, \"completed\": 40, "
    "\"total_input_tokens\": 40000, "
    "\"total_output_tokens\": 4040, \"mean_ttft_ms\": 60, \"mean_tpot_ms\": 20}";

}  // namespace

TEST_CASE("import-trace prints text, JSON or CSV, beside a simulation where asked", "[unit]") {
  const test::Folder folder;
  ImportTraceArguments a;
  a.files = {kTrace};
  CHECK(has(run(import_trace_command, a).out, "where the step goes"));
  CHECK(has(run(import_trace_command, a).out, "my_secret_kernel"));
  a.csv = true;
  CHECK(has(run(import_trace_command, a).out, "\nexperts,0.050000,0.050000,1,"));
  a.csv = false, a.json = true;
  a.against = test::experiment("kimi-k2.5-int4-tp8");
  const Ran r = run(import_trace_command, a);
  REQUIRE(r.code == kAnswered);
  const auto j = nlohmann::json::parse(r.out);
  CHECK(j["step_ms"].get<double>() == Approx(1));
  CHECK(j["simulated"]["breakdown_ms"]["experts"].get<double>() > 0);
  CHECK(j["unclassified"][0]["kernel"] == "my_secret_kernel");
  a.out = folder.path("rows");
  CHECK(run(import_trace_command, a).code == kAnswered);
  CHECK(has(test::read_file(folder.path("rows/gemm.csv")), "traced/aten_mm,bfloat16,8,4096,2048,10.000"));
  CHECK(has(test::read_file(folder.path("rows/protocol.yaml")), "copies: 0"));
}

TEST_CASE("import-trace refuses what it cannot read, all files at once", "[unit]") {
  const test::Folder folder;
  ImportTraceArguments a;
  a.files = {folder.write("a.json", "{"), kTrace, folder.path("absent.json")};
  const Ran r = run(import_trace_command, a);
  CHECK(r.code == kBadInput);
  CHECK(r.out.empty());
  CHECK(has(r.err, "a.json"));
  CHECK(has(r.err, "absent.json"));
  a.files = {kTrace}, a.rules = folder.write("r.yaml", "schema: 1\nrule: []\n");
  CHECK(has(run(import_trace_command, a).err, "r.yaml:2:1"));
}

TEST_CASE("import-bench writes rows with what the user says, and reports what it leaves out", "[unit]") {
  const test::Folder folder;
  ImportBenchArguments a;
  a.files = {folder.write("run.json", kResult), folder.write("notes.txt", "hello")};
  a.columns = {{"rig", "my box"}, {"tp", "8"}};
  a.set = {"p2p=on"};
  const Ran r = run(import_bench_command, a);
  CHECK(r.code == kAnswered);
  CHECK(has(r.out, "run-001,,,vLLM,"));
  CHECK(has(r.out, ",1050,8,tpot_ms,20,my box,on,,"));
  CHECK(has(r.err, "notes.txt"));
  CHECK(has(r.err, "--model"));
  a.json = true;
  const auto j = nlohmann::json::parse(run(import_bench_command, a).out);
  CHECK(j["rows"][0]["value"] == "20");
  CHECK(has(j["left_out"][0]["file"].get<std::string>(), "notes.txt"));
}

TEST_CASE("import-bench: nothing to write is wrong input, and so are wrong columns", "[unit]") {
  const test::Folder folder;
  ImportBenchArguments a;
  a.files = {folder.write("notes.txt", "hello")};
  CHECK(run(import_bench_command, a).code == kBadInput);
  CHECK(run(import_bench_command, a).out.empty());
  a.files = {folder.write("run.json", kResult)};
  a.set = {"modle=x"};
  CHECK(has(run(import_bench_command, a).err, "did you mean `model`?"));
  a.set = {"tp=eight"};
  CHECK(has(run(import_bench_command, a).err, "expected a number"));
  a.set = {"value=1"};
  CHECK(has(run(import_bench_command, a).err, "cannot be set"));
}
