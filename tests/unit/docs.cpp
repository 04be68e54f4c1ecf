// The pages list what the program's own declarations list.
#include "catch.hpp"
#include "experiment/experiment.hpp"
#include "program/program.hpp"
#include "report/keys.hpp"
#include "stack/load.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

void check_lists(const std::string& page, const std::string& word) {
  INFO(word);
  CHECK(page.find("`" + word + "`") != std::string::npos);
}

}  // namespace

TEST_CASE("docs/result.md explains every key of result.json", "[unit]") {
  const std::string page = test::read_file(test::root() + "/docs/result.md");
  for (const ResultKey& k : result_keys()) check_lists(page, k.key);
  for (const std::string_view category : kCategoryNames) check_lists(page, std::string(category));
}

TEST_CASE("docs/experiment.md explains every key of experiments and stacks", "[unit]") {
  const std::string page = test::read_file(test::root() + "/docs/experiment.md");
  Experiment e;
  Stack s;
  for (const FieldInfo& f : describe([&](Fields& g) { bind_experiment(g, e); })) check_lists(page, f.path);
  for (const FieldInfo& f : describe([&](Fields& g) { bind_stack(g, s); })) check_lists(page, f.path);
  for (const std::string_view kernel : kFusable) check_lists(page, std::string(kernel));
}
