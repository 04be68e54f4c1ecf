// Where does a traced step begin? Made-up traces for every way to find it.
#include "catch.hpp"
#include "kineto/breakdown.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

/// A trace of kernels one after the other, 1 us each; letters: g in a graph, p in a small piece of a graph, k
/// launched alone. The kernels of one graph stand together.
KinetoTrace made_up(const std::string& letters, const std::vector<std::string>& names) {
  KinetoTrace t;
  t.names.id("");
  std::int64_t correlation = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (i == 0 || letters[i] != letters[i - 1] || letters[i] == 'k')
      t.launches[++correlation] = {static_cast<std::int64_t>(i), letters[i] != 'k'};
    GpuEvent e;
    e.start_ns = static_cast<std::int64_t>(1000 * i), e.end_ns = e.start_ns + 1000;
    e.name = t.names.id(names[i % names.size()]), e.correlation = correlation;
    t.events.push_back(e);
  }
  return t;
}

std::vector<std::size_t> starts(const KinetoTrace& t, const KernelRules& rules, StepMethod method,
                                Diagnostics& found) {
  const TraceSteps steps = find_steps(t, rules, classify_events(t, rules), {}, found);
  CHECK(steps.method == method);
  std::vector<std::size_t> first;
  for (const TraceStep& s : steps.steps) first.push_back(s.first);
  return first;
}

}  // namespace

TEST_CASE("steps are found by graph replays, by sampling, by repetition", "[unit]") {
  Diagnostics found;
  const KernelRules rules = load_kernel_rules(test::root() + "/calibration/mappings/kernels.yaml", found);
  using Starts = std::vector<std::size_t>;
  // A kernel prepares each replay; it belongs to the step before. The kernel behind the last replay ends the
  // trace.
  CHECK(starts(made_up("kggggkggggkggggk", {"k0", "k1", "k2", "k3", "k4"}), rules, StepMethod::graph,
               found) == Starts{1, 6, 11});
  // Pieces of graphs hold less than half of the kernels: the sampling kernel ends the steps. The last one is
  // cut off.
  CHECK(starts(made_up("ppkkkkkppkkkkkppkk", {"flash_fwd", "k1", "k2", "k3", "k4", "k5", "ArgMaxOps"}), rules,
               StepMethod::sampling, found) == Starts{0, 7});
  CHECK(found.render().empty());
  // Nothing tells: the rarest kernel that comes again, and a warning.
  CHECK(starts(made_up("kkkkkkkkk", {"a", "b", "b"}), rules, StepMethod::repetition, found) ==
        Starts{0, 3, 6});
  CHECK(found.render().find("may be a block of layers") != std::string::npos);
  CHECK(starts(made_up("kkk", {"a", "b", "c"}), rules, StepMethod::whole, found) == Starts{0});
}

TEST_CASE("spans that a rule names are steps; those that compute prompts are left out", "[unit]") {
  Diagnostics found;
  const KernelRules rules = load_kernel_rules(test::root() + "/calibration/mappings/kernels.yaml", found);
  KinetoTrace t = made_up("kkkkkkkkkkkk", {"flash_fwd", "b", "c"});
  const auto span = [&](const char* name, std::int64_t begin, std::int64_t end) {
    t.annotations.push_back({t.names.id(name), begin, end});
  };
  span("execute_context_0(0)_generation_8(8)", 0, 2);  // launches of event i happen at i
  span("execute_context_1(99)_generation_7(7)", 3, 5);
  span("execute_context_0(0)_generation_8(8)", 6, 8);
  span("execute_context_0(0)_generation_8(8)", 9, 11);
  const TraceSteps steps = find_steps(t, rules, classify_events(t, rules), {"", 0}, found);
  CHECK(steps.method == StepMethod::annotation);
  REQUIRE(steps.steps.size() == 4);
  CHECK(steps.steps[1].prefill);
  std::string used;
  for (const TraceStep& s : steps.steps) used += s.used ? 'u' : '-';
  CHECK(used == "u-u-");  // the last one has no gap behind it
  CHECK(found.render().find("1 of 4 steps also compute prompts") != std::string::npos);
}
