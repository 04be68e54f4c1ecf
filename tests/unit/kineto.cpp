// import-trace: a made-up trace of four steps on two ranks (tests/data/traces), whose times are known.
//
// One step of rank 0, microseconds from its first kernel: norm 0-2, GEMM 3-13, attention 14-19, all-reduce
// 20-40, experts 41-91 with an all-gather 45-75 on a second stream, a kernel that no rule knows 92-93,
// lm_head 100-130, argmax 131-135. The next step begins at 1000. In the third step the all-reduce lasts 26
// instead of 20 and all behind it comes 6 later. Rank 1 arrives last: its all-reduces last 8, 8, 9, 8. Step 1
// (profiler start) and step 4 (no gap behind it) are left out.
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "kineto/breakdown.hpp"
#include "kineto/report.hpp"
#include "kineto/shapes.hpp"
#include "kineto/waiting.hpp"
#include "serving/row.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

const std::string kTraces = test::root() + "/tests/data/traces/";

struct Read {
  explicit Read(const std::string& file, StepOptions options = {}) {
    rules = load_kernel_rules(test::root() + "/calibration/mappings/kernels.yaml", found);
    trace = read_kineto(file, found);
    if (found.has_errors()) return;
    categories = classify_events(trace, rules);
    steps = find_steps(trace, rules, categories, options, found);
    mark_lm_head(trace, rules, steps, categories);
  }
  Diagnostics found;
  KernelRules rules;
  KinetoTrace trace;
  std::vector<std::size_t> categories;
  TraceSteps steps;
};

double us(const TracedBreakdown& b, Category c) {
  return 1000 * b.categories[static_cast<std::size_t>(c)].ms;
}

std::string complaint(const std::string& file) {
  Diagnostics found;
  read_kineto(file, found);
  CHECK(found.has_errors());
  return found.render();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void write_gzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  gzclose(file);
}

}  // namespace

TEST_CASE("a traced step is broken down by category, and the parts add up to the step", "[unit]") {
  const Read r(kTraces + "rank0.json");
  CHECK(r.trace.device == "Test GPU");
  CHECK(r.trace.rank == 0);
  CHECK(r.trace.world == 2);
  REQUIRE(r.steps.steps.size() == 4);
  CHECK(r.steps.method == StepMethod::sampling);
  const TracedBreakdown b = break_down(r.trace, r.steps, r.categories, {});
  CHECK(b.used == 2);
  CHECK(b.step_ms == Approx(1.0));
  CHECK(us(b, Category::dense_gemm) == Approx(10));
  CHECK(us(b, Category::attention) == Approx(5));
  CHECK(us(b, Category::all_reduce) == Approx(23));  // (20 + 26) / 2
  CHECK(us(b, Category::experts) == Approx(50));
  CHECK(us(b, Category::all_gather) == Approx(0).margin(1e-9));  // wholly beside the experts
  CHECK(1000 * b.categories[static_cast<std::size_t>(Category::all_gather)].hidden_ms == Approx(30));
  CHECK(us(b, Category::lm_head) == Approx(30));
  CHECK(us(b, Category::sampling) == Approx(4));
  CHECK(us(b, Category::small_kernels) == Approx(2));
  CHECK(1000 * b.categories[kUnclassified].ms == Approx(1));
  // Idle: 1000 - 122 and 1000 - 128; of these 6 us in six gaps of 1 us, the rest in two.
  CHECK(us(b, Category::host) == Approx(875));
  CHECK(1000 * b.short_gap_ms == Approx(6));
  CHECK(b.gaps == Approx(8));
  double sum = 0;
  for (const TracedCategory& c : b.categories) sum += c.ms;
  CHECK(sum == Approx(b.step_ms).epsilon(1e-12));
}

TEST_CASE("waiting in a collective: against the last rank, and at least against the shortest call",
          "[unit]") {
  const Read r0(kTraces + "rank0.json"), r1(kTraces + "rank1.json");
  const auto waiting_us = [&](const std::vector<const KinetoTrace*>& traces) {
    Diagnostics found;
    const Waiting w = find_waiting(traces, {r0.categories, r1.categories}, found);
    const TracedBreakdown b = break_down(r0.trace, r0.steps, r0.categories, w.waits_ns);
    return std::pair(w.method, 1000 * b.categories[static_cast<std::size_t>(Category::all_reduce)].wait_ms);
  };
  // Two ranks: 20 - 8 and 26 - 9. One rank: 20 - 20 and 26 - 20.
  const auto both = waiting_us({&r0.trace, &r1.trace}), one = waiting_us({&r0.trace});
  CHECK(both.first == WaitMethod::several_ranks);
  CHECK(both.second == Approx(14.5));
  CHECK(one.first == WaitMethod::one_rank);
  CHECK(one.second == Approx(3));
}

TEST_CASE("kernels of known size become measurement rows", "[unit]") {
  const Read r0(kTraces + "rank0.json"), r1(kTraces + "rank1.json");
  Diagnostics found;
  const Waiting w = find_waiting({&r0.trace, &r1.trace}, {r0.categories, r1.categories}, found);
  const auto files = measured_rows(r0.trace, r0.steps, r0.categories, w, "engine-1", found);
  REQUIRE(files.size() == 3);
  CHECK(files[0].text ==
        "path,dtype,m,n,k,latency_us\nengine-1/aten_mm,bfloat16,8,32000,2048,30.000\n"
        "engine-1/aten_mm,bfloat16,8,4096,2048,10.000\n");
  CHECK(has(files[1].text, "bfloat16,8,1001,16,2,128,0,5.000\n"));
  CHECK(has(files[2].text, "engine-1,all_reduce,bfloat16,2,32768,8.000\n"));  // 16384 elements of 2 bytes
}

TEST_CASE("--step-begin and --skip choose the steps", "[unit]") {
  const Read r(kTraces + "rank0.json", {"fused_moe", 0});
  CHECK(r.steps.method == StepMethod::given);
  const TracedBreakdown b = break_down(r.trace, r.steps, r.categories, {});
  CHECK(b.used == 3);  // the fourth has no gap behind it
  CHECK_THROWS_AS(Read(kTraces + "rank0.json", {"no such kernel", 0}), InputError);
  CHECK_THROWS_AS(Read(kTraces + "rank0.json", {"", 4}), InputError);
}

TEST_CASE("a trace that is cut anywhere is an error, never a number", "[unit]") {
  const test::Folder folder;
  const std::string text = test::read_file(kTraces + "rank0.json");
  for (std::size_t size = 1; size + 3 < text.size(); size += 509) {
    INFO(size);
    Diagnostics found;
    read_kineto(folder.write("cut.json", text.substr(0, size)), found);
    CHECK(found.has_errors());
  }
}

TEST_CASE("a gzip trace reads like the plain one; cut and damaged ones are errors", "[unit]") {
  const test::Folder folder;
  const std::string text = test::read_file(kTraces + "rank0.json");
  write_gzip(folder.path("t.json.gz"), text);
  const Read plain(kTraces + "rank0.json"), packed(folder.path("t.json.gz"));
  CHECK(packed.trace.events.size() == plain.trace.events.size());
  CHECK(packed.trace.events[5].end_ns == plain.trace.events[5].end_ns);

  const std::string bytes = test::read_file(folder.path("t.json.gz"));
  CHECK(has(complaint(folder.write("cut.json.gz", bytes.substr(0, bytes.size() / 2))), "cut short"));
  std::string wrong = bytes;
  for (std::size_t i = 300; i < 340; ++i) wrong[i] = static_cast<char>(~wrong[i]);
  CHECK(has(complaint(folder.write("bad.json.gz", wrong)), "damaged"));
  CHECK(has(complaint(folder.write("cut.json", text.substr(0, text.size() / 2))),
            "the trace ends in the middle"));
  CHECK(has(complaint(folder.write("text.json", "hello")), "not a JSON trace"));
  CHECK(has(complaint(folder.write("empty.json", "")), "empty"));
  CHECK(has(complaint(folder.write("none.json", "{\"traceEvents\": []}")), "no GPU kernel"));
  CHECK(has(complaint(folder.path("absent.json")), "cannot read"));
  CHECK(has(complaint(folder.path()), "folder"));
}

TEST_CASE("kernel patterns: pieces, stars, ends, letter case", "[unit]") {
  CHECK(pattern_fits("flash", "void Flash_fwd()"));
  CHECK(pattern_fits("^nccl*AllReduce", "ncclDevKernel_AllReduce_Sum"));
  CHECK_FALSE(pattern_fits("^nccl", "my_nccl"));
  CHECK(pattern_fits("copy_1$", "fused_copy_copy_1"));
  CHECK_FALSE(pattern_fits("copy_1$", "copy_12"));
  CHECK(pattern_fits("a*b*c", "xxaYYbZZbc"));
  CHECK_FALSE(pattern_fits("a*b*c", "acb"));
  CHECK(pattern_fits("aab", "aaab"));
}

TEST_CASE("a rule file is read strictly", "[unit]") {
  const test::Folder folder;
  Diagnostics found;
  load_kernel_rules(
      folder.write(
          "r.yaml",
          "schema: 1\nrules:\n  - {category: casts, kernels: [x]}\n  - {category: cast, kernel: [x]}\n"
          "  - {category: cast, kernels: [\"*\"]}\n"),
      found);
  const std::string text = found.render();
  CHECK(found.error_count() == 3);
  CHECK(has(text, "r.yaml:3:"));
  CHECK(has(text, "did you mean `cast`?"));
  CHECK(has(text, "unknown key `kernel`"));
  CHECK(has(text, "fits every name"));
}

TEST_CASE("the shipped rules tell the kernels of engines apart", "[unit]") {
  Diagnostics found;
  const KernelRules rules = load_kernel_rules(test::root() + "/calibration/mappings/kernels.yaml", found);
  INFO(found.render());
  REQUIRE_FALSE(found.has_errors());
  const auto is = [&](const char* kernel, std::string_view category, const char* op = "") {
    INFO(kernel);
    CHECK(category_name(classify(rules, kernel, op)) == category);
  };
  is("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(RankData*)", "all_reduce");
  is("void marlin_moe_wna16::Marlin<1125899906909960l, 256, 1, 8, 8>", "experts");
  is("void marlin::Marlin<1125899906909960l, 128>", "dense_gemm");
  is("void flash::flash_fwd_splitkv_mla_kernel<...>", "attention");
  is("_fwd_grouped_kernel_stage1", "attention");
  is("void vllm::concat_and_cache_mla_kernel<__nv_bfloat16>", "small_kernels");
  is("void vllm::cvt_fp16_to_fp4<__nv_bfloat16, false>", "cast");
  is("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(...)>", "cast");
  is("void at::native::unrolled_elementwise_kernel<CUDAFunctorOnSelf_add<int>, LoadWithoutCast>",
     "small_kernels");
  is("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "pipeline");
  is("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "all_to_all", "c10d::alltoall_base_");
  is("void deep_ep::intranode::dispatch<8, 768>", "all_to_all");
  is("void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u>", "sampling");
  is("a_kernel_of_tomorrow", "unclassified");
}

TEST_CASE("docs/traces.md explains every key that import-trace and import-bench print", "[unit]") {
  const std::string page = test::read_file(test::root() + "/docs/traces.md");
  const Read r(kTraces + "rank0.json");
  TraceReport report;
  report.trace = &r.trace;
  report.steps = r.steps;
  Diagnostics found;
  report.waiting = find_waiting({&r.trace}, {r.categories}, found);
  report.breakdown = break_down(r.trace, r.steps, r.categories, report.waiting.waits_ns);
  report.ranks = {{"f", 0, 1, 1}};
  report.simulated = SimulatedStep{};
  const std::function<void(const nlohmann::ordered_json&)> check_keys = [&](const nlohmann::ordered_json& j) {
    if (j.is_array() && !j.empty()) check_keys(j[0]);
    if (!j.is_object()) return;
    for (const auto& [key, value] : j.items()) {
      INFO(key);
      const bool category =
          std::find(kCategoryNames.begin(), kCategoryNames.end(), key) != kCategoryNames.end();
      CHECK((category || has(page, "`" + key + "`")));
      check_keys(value);
    }
  };
  check_keys(trace_json(report, {}));
  const std::string csv = trace_csv(report);
  CHECK(has(page, csv.substr(0, csv.find(",simulated_ms"))));
  for (const std::string& column : bench_columns()) CHECK(has(page, column));
}
