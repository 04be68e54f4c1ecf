// Every experiment of the repository, to the picosecond: the cheap wide net under every change.
#include <fmt/core.h>

#include "base/hash.hpp"
#include "experiment/files.hpp"
#include "golden/golden.hpp"
#include "report/result.hpp"
#include "timeline/fingerprint.hpp"

using namespace moe;

namespace {

/// Length, ops and hash of the first step.
std::string row(const std::string& name) {
  Diagnostics found;
  const Case c = load_case(test::experiment(name), {}, found);
  CHECK_FALSE(c.experiment.question.empty());
  const Lowered l = lower_step(c, {});
  const Timeline t = run(l.program, l.resources, Sharing::max_min);
  return fmt::format("{},{},{},{}\n", name, (t.makespan - step_start(l, t)).count(), l.program.size(),
                     hex64(fingerprint(t)));
}

}  // namespace

TEST_CASE("no experiment changes by a picosecond without being said so", "[golden]") {
  std::string table = "name,step_ps,ops,fingerprint\n";
  for (const std::string& name : data_names(kExperiments, test::root() + "/x.yaml")) table += row(name);
  test::check_golden("experiments/fingerprints.csv", table);
}
