// The trace: what Perfetto needs to show it (no overlapping slices, begin and end of every flow), and one
// small golden.
#include "report/trace.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "engine/engine.hpp"
#include "golden/golden.hpp"
#include "lower/lower.hpp"
#include "program/builder.hpp"

using namespace moe;
using Json = nlohmann::json;

namespace {

Json trace_of(const Program& p, const Resources& r) {
  std::ostringstream out;
  write_trace(out, p, r, run(p, r, Sharing::max_min), {"test", "0123", "moe-sim test"});
  return Json::parse(out.str());
}

struct FourOps {
  Program program;
  Resources resources;
  /// gpu0 computes 10 us, sends 1 MB to gpu1 at 50 GB/s with 1 us latency; gpu1 computes 5 us, then 2 us
  /// more.
  FourOps() {
    Builder b;
    const auto attention = b.name("attention"), send = b.name("send"), experts = b.name("experts");
    const auto first = b.compute(ServerId{0}, from_us(10), Category::attention, {attention, 17, 0, -1});
    const LinkId path[] = {LinkId{0}};
    const auto flow = b.transfer(path, Bytes{1e6}, from_us(1), Category::pipeline, {send, 17, 0, 1});
    const auto second = b.compute(ServerId{1}, from_us(5), Category::experts, {experts, 18, 1, -1});
    const auto third = b.compute(ServerId{1}, from_us(2), Category::experts, {experts, 19, 1, -1});
    b.order(first, flow);
    b.order(flow, second);
    b.order(second, third);
    program = b.seal();
    resources.capacity.push_back(Bandwidth{50e9});
    resources.link_names.push_back("gpu0 → gpu1");
    resources.server_names.push_back("gpu0");
    resources.server_names.push_back("gpu1");
  }
};

}  // namespace

TEST_CASE("the trace of four ops has every event at its time", "[unit]") {
  const FourOps f;
  std::map<std::string, int> count;
  // 10 us; 1 us latency and 1 MB at 50 GB/s = 20 us; 5 us; 2 us.
  const std::map<std::string, std::pair<double, double>> expected{
      {"L17 attention gpu0", {0, 10}}, {"L18 experts gpu1", {31, 5}}, {"L19 experts gpu1", {36, 2}}};
  const Json trace = trace_of(f.program, f.resources);
  for (const Json& e : trace["traceEvents"]) {
    ++count[e["ph"]];
    if (e["ph"] == "b") CHECK(e["ts"] == 10);
    if (e["ph"] == "e") CHECK(e["ts"] == 31);
    if (e["ph"] != "X" || e["pid"] == 1) continue;
    REQUIRE(expected.count(e["name"]) == 1);
    CHECK(e["ts"] == expected.at(e["name"]).first);
    CHECK(e["dur"] == expected.at(e["name"]).second);
    CHECK(e["args"]["critical"] == true);
  }
  CHECK(count["X"] == 3 + 4);  // three kernels; four segments of the critical path
  CHECK(count["b"] == 1);
  CHECK(count["e"] == 1);
  CHECK(count["C"] == 2);  // the link starts and stops
}

TEST_CASE("times have at most three decimals", "[unit]") {
  const FourOps f;
  std::ostringstream out;
  write_trace(out, f.program, f.resources, run(f.program, f.resources, Sharing::max_min), {"t", "0", "v"});
  const std::string text = out.str();
  for (std::size_t at = text.find("\"ts\":"); at != std::string::npos; at = text.find("\"ts\":", at + 1)) {
    const std::string number = text.substr(at + 5, text.find_first_of(",}", at) - at - 5);
    const std::size_t dot = number.find('.');
    INFO(number);
    CHECK((dot == std::string::npos || number.size() - dot <= 4));
  }
}

TEST_CASE("a real step's trace is sorted, slices of a thread never overlap, and flows end", "[unit]") {
  Diagnostics found;
  const Case c = load_case(test::experiment("kimi-k2.5-int4-tp8"),
                           {{"stack", "vllm-68b3569-kimi"}, {"batch.sequences", "8"}}, found);
  LowerOptions unfolded;
  unfolded.fold = false;
  const Lowered l = lower_step(c, unfolded);
  const Json trace = trace_of(l.program, l.resources);
  std::map<std::pair<int, int>, double> end_of_thread;
  std::map<std::string, int> open;
  std::set<int> used, named;
  double last = 0;
  bool sorted = true, overlap = false;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "M") {
      if (e["name"] == "process_name") named.insert(e["pid"].get<int>());
      continue;
    }
    used.insert(e["pid"].get<int>());
    sorted = sorted && e["ts"].get<double>() >= last - 5e-4;  // sorted by picoseconds, shown in nanoseconds
    last = e["ts"].get<double>();
    if (e["ph"] == "b") ++open[e["id"]];
    if (e["ph"] == "e") --open[e["id"]];
    if (e["ph"] != "X") continue;
    double& end = end_of_thread[{e["pid"], e["tid"]}];
    overlap = overlap || e["ts"].get<double>() < end - 1e-9;
    end = e["ts"].get<double>() + e["dur"].get<double>();
  }
  CHECK(sorted);
  CHECK_FALSE(overlap);
  for (const auto& [id, n] : open) CHECK(n == 0);
  for (const int pid : used) CHECK(named.count(pid) == 1);
  CHECK(used.size() == 8 + 1);  // eight GPUs and the critical path
}

TEST_CASE("the trace of four ops is written as recorded", "[golden]") {
  const FourOps f;
  std::ostringstream out;
  write_trace(out, f.program, f.resources, run(f.program, f.resources, Sharing::max_min),
              {"four ops", "0123", "moe-sim"});
  test::check_golden("tests/golden/four-ops.trace.json", out.str());
}

TEST_CASE("the head of a trace says what was simulated, to the picosecond", "[unit]") {
  const FourOps f;
  const Json meta = trace_of(f.program, f.resources)["metadata"];
  CHECK(meta["makespan_ps"] == 38000000);
  CHECK(meta["experiment"] == "test");
  CHECK(meta["inputs"] == "0123");
}
