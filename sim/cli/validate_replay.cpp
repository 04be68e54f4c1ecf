// moe-sim validate-replay RESULTS...: how far off is the simulator?
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/study_commands.hpp"
#include "config/json_file.hpp"
#include "report/replay.hpp"

namespace moe {

int validate_replay_command(const ValidateReplayArguments& a, const Streams& s) {
  const Overrides set = split_overrides(a.set);
  std::vector<ReplayedStep> steps;
  for (const std::string& file : a.results) {
    Diagnostics problems;
    const nlohmann::ordered_json results = load_json(file, problems);
    if (problems.has_errors()) throw InputError(std::move(problems));
    const std::vector<ReplayedStep> more = compare_replay(results, file, set);
    steps.insert(steps.end(), more.begin(), more.end());
  }
  std::string profile = "of the experiments";
  for (const auto& [key, value] : set)
    if (key == "profile") profile = value;
  if (!a.csv.empty()) write_text_file(a.csv, replay_csv(steps));
  if (!a.markdown.empty()) write_text_file(a.markdown, replay_markdown(steps, profile));
  if (a.json) s.out << replay_json(steps).dump(2) << "\n";
  else s.out << replay_text(steps);
  return step_errors(steps, 0).count > 0 ? kAnswered : kNoAnswer;
}

}  // namespace moe
