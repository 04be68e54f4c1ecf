// Wrong experiments: every kind of mistake is told with its place and what would be right, and gives no
// number.
#include "experiment/experiment.hpp"

#include <fmt/core.h>

#include "base/check.hpp"
#include "catch.hpp"
#include "program/program.hpp"
#include "report/result.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

const std::string kGood =
    "schema: 1\n"
    "model: kimi-k2.5\n"
    "checkpoint: int4\n"
    "machine: turin-2s-direct\n"
    "profile: rtx-pro-6000\n"
    "stack: vllm-0.24\n"
    "kv_dtype: fp8\n"
    "plan: {tp: 8}\n"
    "batch: {sequences: 2, context: 1k}\n";

std::string with(const std::string& from, const std::string& to, std::string text = kGood) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

using Texts = std::vector<std::string>;

/// "line:column message; help" of every error, in file order.
Texts errors(const std::string& text, const Overrides& overrides = {}) {
  const test::Folder folder;
  Diagnostics warnings;
  Texts out;
  try {
    load_case(folder.write("e.yaml", text), overrides, warnings);
  } catch (const InputError& e) {
    for (const Diagnostic& d : e.diagnostics.all())
      if (d.is_error)
        out.push_back(fmt::format("{}:{} {}{}{}", d.place.line, d.place.column, d.message,
                                  d.help.empty() ? "" : "; ", d.help));
  }
  return out;
}

/// Warnings of an experiment without errors.
Texts warnings(const std::string& text, const Overrides& overrides = {}) {
  const test::Folder folder;
  Diagnostics found;
  load_case(folder.write("e.yaml", text), overrides, found);
  Texts out;
  for (const Diagnostic& d : found.all()) out.push_back(d.message);
  return out;
}

std::string why_no_answer(const std::string& text) {
  const test::Folder folder;
  Diagnostics found;
  try {
    evaluate(load_case(folder.write("e.yaml", text), {}, found));
  } catch (const Infeasible& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a good experiment has no errors, and reads what it says", "[unit]") {
  const test::Folder folder;
  Diagnostics found;
  const Case c = load_case(folder.write("mine.yaml", kGood), {}, found);
  CHECK(c.experiment.name == "mine");
  CHECK(c.experiment.gpus == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(c.experiment.kv_dtype == KvDtype::fp8);
  CHECK(c.experiment.batch.context == std::vector<double>{1024});
  CHECK(c.files.size() == 5);  // experiment, model, machine, profile, stack
}

TEST_CASE("an unknown key is an error with a suggestion", "[unit]") {
  CHECK(errors(kGood + "rooting: {kind: uniform}\n") ==
        Texts{"10:1 unknown key `rooting`; did you mean `routing`?"});
  CHECK(errors(with("tp: 8", "tq: 8")) == Texts{"8:8 unknown key `tq`; did you mean `tp`?"});
}

TEST_CASE("a key without effect is an error", "[unit]") {
  CHECK(errors(kGood + "routing: {kind: uniform, alpha: 1.2}\n") ==
        Texts{"10:33 `alpha` has no effect with `kind: uniform`; remove it, or change `kind`"});
  // Where the command line took the effect away the file is not wrong.
  const std::string skewed = kGood + "routing: {kind: power_law, alpha: 1.2}\n";
  CHECK(warnings(skewed, {{"routing.kind", "uniform"}}) ==
        Texts{"`alpha` has no effect with `kind: uniform`"});
  CHECK(errors(kGood + "override: yes\n") == Texts{"10:11 `override` must be a map of dotted key: value"});
}

TEST_CASE("a name without a file is an error that suggests a name", "[unit]") {
  CHECK(errors(with("kimi-k2.5", "kimi-k25")) ==
        Texts{"2:8 no file for model `kimi-k25`; did you mean `kimi-k2.5`?"});
  CHECK(errors(with("vllm-0.24", "./none.yaml")).at(0).starts_with("6:8 no file for stack `./none.yaml`"));
  CHECK(errors(with("int4", "int8"))
            .at(0)
            .starts_with("3:13 kimi-k2.5 has no checkpoint `int8`; did you mean `int4`?"));
}

TEST_CASE("a wrong unit, NaN, zero and negative sizes are errors", "[unit]") {
  CHECK(errors(with("1k", "1 GB")) ==
        Texts{"9:32 invalid count `1 GB`; known units of a count: none, k, M (1024)"});
  CHECK(errors(with("1k", ".nan")) == Texts{"9:32 invalid count `.nan`; write it like `8192 or 8k`"});
  CHECK(errors(with("1k", "-1")).at(0).starts_with("9:32 `-1` is out of range for `context`"));
  CHECK(errors(with("sequences: 2", "sequences: 0"))
            .at(0)
            .starts_with("9:20 `0` is out of range for `sequences`"));
  CHECK(errors(with("tp: 8", "tp: -8")).at(0).starts_with("8:12 `-8` is out of range for `tp`"));
  CHECK(errors(kGood + "memory: {reserve: 2}\n") ==
        Texts{"10:19 invalid size `2`; a size needs a unit, e.g. `2 GiB`"});
}

TEST_CASE("a key that appears twice is an error", "[unit]") {
  CHECK(errors(kGood + "plan: {tp: 4}\n") ==
        Texts{"10:1 the key `plan` appears twice in this map; keep one of the two"});
}

TEST_CASE("a list of contexts must have one entry per sequence", "[unit]") {
  CHECK(errors(with("1k", "[1k, 2k, 3k]")) == Texts{"9:32 `context` lists 3 sequences, `sequences` is 2"});
  CHECK(errors(with("1k", "[]")) == Texts{"9:32 `context` is empty"});
  CHECK(errors(with("1k", "[1k, 2k]")).empty());
}

TEST_CASE("several mistakes of several files are reported in one pass", "[unit]") {
  const std::string text = with("tp: 8", "tp: many", with("turin-2s-direct", "turin-2s", with("fp8", "fp7")));
  const Texts all = errors(text + "steps: 0\n");
  REQUIRE(all.size() == 4);
  CHECK(all[0] == "7:11 unknown value `fp7` for `kv_dtype`; did you mean `fp8`?");
  CHECK(all[1].starts_with("8:12 invalid count `many`"));
  CHECK(all[2].starts_with("10:8 `0` is out of range for `steps`"));
  CHECK(all[3].starts_with("4:10 no file for machine `turin-2s`"));
}

TEST_CASE("a plan that does not divide names the rule", "[unit]") {
  // 64 heads over 7 ranks, and the widths of the three kinds of MLP.
  const Texts all = errors(with("tp: 8", "tp: 7"));
  REQUIRE(all.size() == 4);
  CHECK(all[0] == "8:7 illegal plan: heads: 64 query heads do not divide over tp 7");
  CHECK(all[1] == "8:7 illegal plan: width: dense MLP width 18432 does not divide over tp 7");
}

TEST_CASE("a plan larger than the machine, and wrong GPU lists, are errors", "[unit]") {
  CHECK(errors(with("tp: 8", "tp: 16")) ==
        Texts{"8:7 machine `turin-2s-direct` has 8 GPUs, the plan uses GPU 8; GPUs are numbered 0 to 7"});
  CHECK(errors(kGood + "gpus: [0, 1]\n") == Texts{"10:7 the plan needs 8 GPUs, `gpus` gives 2"});
  CHECK(errors(kGood + "gpus: [0, 1, 2, 3, 4, 5, 6, 6]\n") == Texts{"10:7 GPU 6 is listed twice"});
}

TEST_CASE("a profile of another GPU than the machine's is an error", "[unit]") {
  CHECK(errors(with("rtx-pro-6000", "h200")) ==
        Texts{"5:10 profile `h200` is for h200, machine `turin-2s-direct` has rtx-pro-6000"});
}

TEST_CASE("claims name a metric that exists, and who claims it", "[unit]") {
  CHECK(errors(kGood + "expect:\n  - {metric: step_mss, value: 1, source: x}\n") ==
        Texts{"11:14 unknown metric `step_mss`; did you mean `step_ms`?"});
  CHECK(errors(kGood + "expect:\n  - {metric: step_ms, value: 1, tolerance: 5 ms, source: x}\n") ==
        Texts{"11:44 invalid tolerance `5 ms`; write it like `5 %` or `0.2`"});
  CHECK(errors(kGood + "expect:\n  - {metric: step_ms, value: nan}\n").size() == 2);  // and no source
}

TEST_CASE("what-ifs name something that can be faster", "[unit]") {
  CHECK(errors(kGood + "what_if:\n  - {name: a, faster: {expert: 2}}\n") ==
        Texts{"11:23 nothing called `expert` can be faster; did you mean `experts`?",
              "11:12 what-if `a` changes nothing; give `set` or `faster`"});
  CHECK(errors(kGood + "what_if:\n  - {name: a, faster: {links: 0}}\n").at(0) ==
        "11:23 `links` needs a factor above 0");
}

TEST_CASE("every category of a step is a known metric", "[unit]") {
  const auto metrics = known_metrics();
  for (const std::string_view c : kCategoryNames)
    for (const char* prefix : {"share.", "breakdown_ms."})
      CHECK(std::count(metrics.begin(), metrics.end(), prefix + std::string(c)) == 1);
}

TEST_CASE("a model that does not fit says by how much and on which GPU", "[unit]") {
  // 72 GiB per GPU at TP8 (engine log), so TP4 needs about twice that of 96 GB.
  const std::string why = why_no_answer(with("tp: 8", "tp: 4"));
  INFO(why);
  CHECK(why.find("does not fit: GPU 0 needs ") != std::string::npos);
  CHECK(why.find("GiB too little") != std::string::npos);
}

TEST_CASE("a model that is legal but not simulated yet has no answer", "[unit]") {
  CHECK(why_no_answer(with("checkpoint: int4\n", "", with("kimi-k2.5", "nemotron-3-nano-30b")))
            .find("is not simulated yet") != std::string::npos);
}

TEST_CASE("an override beats the file, and reaches into the stack", "[unit]") {
  const test::Folder folder;
  Diagnostics found;
  const Case c = load_case(folder.write("e.yaml", kGood + "override: {stack.launch.node_gap: 1 us}\n"),
                           {{"batch.sequences", "8"}, {"stack.launch.host_per_step", "0.1 ms"}}, found);
  CHECK(c.experiment.batch.sequences == 8);
  CHECK(c.stack.launch.node_gap_us == Approx(1));
  CHECK(c.stack.launch.host_per_step_us == Approx(100));
}

TEST_CASE("an override is checked like the file, and quoted as it was typed", "[unit]") {
  const test::Folder folder;
  Diagnostics found;
  try {
    load_case(folder.write("e.yaml", kGood), {{"plan.tpp", "4"}, {"batch.sequences", "x"}}, found);
    FAIL("no error");
  } catch (const InputError& e) {
    const std::string text = e.what();
    CHECK(text.find("unknown key `tpp`") != std::string::npos);
    CHECK(text.find("1 | --set batch.sequences=x\n  |                       ^") != std::string::npos);
  }
}
