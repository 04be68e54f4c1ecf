// import-trace against step times that were measured without the profiler.
//
// Eager steps of a small decoder on H200 (traces of two steps; the first one carries the profiler's start).
// The profiler slows the host that launches, so the traced step is as long as the measured one or longer,
// here by up to 24 %. What the GPU itself does is not slowed: kernel time without gaps must be near a
// CUDA-graph replay of the same kernels, which has short gaps.
#include "catch.hpp"
#include "kineto/breakdown.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

struct Sample {
  const char* file;
  double eager_ms, graph_ms;  ///< measured; 0: not measured
  int layers;
};
constexpr Sample kSamples[] = {{"qwen3moe-like-b1-w1", 6.69, 0.978, 6},
                               {"qwen3moe-like-b32-w1", 4.96, 3.379, 6},
                               {"qwen3moe-like-b1-w2", 7.55, 0, 6},
                               {"minimax-like-b8-w2", 6.26, 0, 4}};

TracedBreakdown read(const std::string& file, StepMethod method, std::string& warnings) {
  Diagnostics found;
  const KernelRules rules = load_kernel_rules(test::root() + "/calibration/mappings/kernels.yaml", found);
  const KinetoTrace trace = read_kineto(file, found);
  REQUIRE_FALSE(found.has_errors());
  std::vector<std::size_t> categories = classify_events(trace, rules);
  const TraceSteps steps = find_steps(trace, rules, categories, {}, found);
  CHECK(steps.method == method);
  mark_lm_head(trace, rules, steps, categories);
  warnings = found.render();
  return break_down(trace, steps, categories, {});
}

double calls(const TracedBreakdown& b, Category c) { return b.categories[static_cast<std::size_t>(c)].calls; }

bool absent() {
  if (!test::shared().empty()) return false;
  WARN("no traces beside this checkout: skipped");
  return true;
}

}  // namespace

TEST_CASE("traced steps against steps measured without the profiler", "[validation]") {
  if (absent()) return;
  for (const Sample& s : kSamples) {
    INFO(s.file);
    std::string warnings;
    const TracedBreakdown b =
        read(test::shared() + "/samples/torch-trace/" + s.file + ".json.gz", StepMethod::sampling, warnings);
    CHECK(b.used == 1);
    CHECK(b.step_ms >= 0.99 * s.eager_ms);
    CHECK(b.step_ms <= 1.25 * s.eager_ms);
    if (s.graph_ms > 0) CHECK(b.busy_ms == Approx(s.graph_ms).epsilon(0.03));
    CHECK(b.categories[kUnclassified].calls == 0);
    CHECK(calls(b, Category::experts) == 2 * s.layers);  // two grouped GEMMs
    CHECK(calls(b, Category::lm_head) == 1);
    CHECK(calls(b, Category::sampling) == 1);
    const bool two_gpus = std::string(s.file).ends_with("w2");
    CHECK(calls(b, Category::all_reduce) == (two_gpus ? 2 * s.layers : 0));
  }
}

TEST_CASE("published traces: a graph replay of decode, a prefill, a training step", "[validation]") {
  if (absent()) return;
  const std::string folder = test::shared() + "/samples/kineto_trace/";
  std::string warnings;
  // gpt-oss, 24 layers: two grouped GEMMs, one unified attention each (12 of them with a second kernel), one
  // lm_head.
  const TracedBreakdown decode =
      read(folder + "01-mi300x-vllm-gpt-oss-mxfp4-decode-graph.json.gz", StepMethod::annotation, warnings);
  CHECK(warnings.empty());
  CHECK(calls(decode, Category::experts) == 48);
  CHECK(calls(decode, Category::attention) == 36);
  CHECK(calls(decode, Category::lm_head) == 1);
  CHECK(decode.busy_ms > 0.99 * decode.step_ms);
  CHECK(decode.categories[kUnclassified].calls == 0);
  // The same cut behind six layers: no lm_head in it.
  CHECK(calls(read(folder + "06-mi300x-vllm-gpt-oss-decode-first-layers-cut.json", StepMethod::annotation,
                   warnings),
              Category::lm_head) == 0);

  const TracedBreakdown prefill =
      read(folder + "02-b200x8-vllm-gpt-oss-tp8-rank0-cut.json", StepMethod::annotation, warnings);
  CHECK(warnings.find("no decode step") != std::string::npos);
  CHECK(calls(prefill, Category::all_reduce) == 6);  // multimem kernels, two per layer

  const TracedBreakdown training =
      read(folder + "03-h800-deepseek-dualpipe-ep64-cut.json", StepMethod::annotation, warnings);
  CHECK(warnings.find("belongs to training") != std::string::npos);
  const TracedCategory& exchange = training.categories[static_cast<std::size_t>(Category::all_to_all)];
  CHECK(exchange.hidden_ms > 10 * exchange.ms);  // dispatch and combine run beside compute on a second stream
  CHECK(training.categories[kUnclassified].ms < 0.01 * training.step_ms);
}
