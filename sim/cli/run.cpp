// moe-sim run EXPERIMENT...: simulate, report, write files.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/hash.hpp"
#include "cli/commands.hpp"
#include "cli/study_commands.hpp"
#include "report/claims_text.hpp"
#include "report/detail.hpp"
#include "report/page.hpp"
#include "report/program.hpp"
#include "report/json.hpp"
#include "report/summary.hpp"
#include "report/trace.hpp"

namespace moe {
namespace {

std::ofstream open_for_writing(const std::string& path) {
  std::ofstream file(path);
  if (!file) throw InputError(fmt::format("cannot write `{}`", path));
  return file;
}

void finish_writing(std::ofstream& file, const std::string& path) {
  file.close();
  if (!file) throw InputError(fmt::format("could not write all of `{}`: is the disk full?", path));
}

std::string inputs_hash(const Case& c) {
  std::uint64_t h = kFnvOffset;
  for (const auto& [path, hash] : c.files) h = fnv1a(hash, h);
  return hex64(h);
}

void write_trace_file(const Case& c, const Result& r, const std::string& path) {
  std::ofstream file = open_for_writing(path);
  write_trace(file, r.lowered.program, r.lowered.resources, r.timeline, {c.experiment.name, inputs_hash(c), version_text()});
  finish_writing(file, path);
}

void write_out_dir(const Case& c, const Result& r, const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) throw InputError(fmt::format("cannot create folder `{}`: {}", dir, error.message()));
  const std::string path = dir + "/result.json";
  std::ofstream file = open_for_writing(path);
  nlohmann::ordered_json result = to_ordered_json(c, r);
  result["detail"] = detail_json(c, r);
  file << result.dump(2) << "\n";
  finish_writing(file, path);
  write_text_file(dir + "/report.html", page("moe-sim: " + c.experiment.name, run_sections({result}), {result},
                                             "moe-sim run " + c.experiment.file + " --out " + dir));
  write_trace_file(c, r, dir + "/trace.json");
}

/// The name of a program is its file without folder and ending.
void write_program_file(const Case& c, const std::string& path) {
  const std::string name = std::filesystem::path(path).stem().string();
  std::ofstream file = open_for_writing(path);
  file << program_text(program_json(c, recorded_step(c), name));
  finish_writing(file, path);
}

/// What is printed when all experiments are done.
struct Answers {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  std::vector<NamedClaims> claims;
  bool only_claims = false;  ///< one table of claims instead of full reports
};

/// Whether every file is about claims. Files that cannot be read are told later.
bool all_claim(const std::vector<std::string>& experiments) {
  return std::all_of(experiments.begin(), experiments.end(), [](const std::string& file) {
    Diagnostics ignored;
    const Document doc = load_document(file, ignored);
    return ignored.has_errors() || doc.root.find("expect") != nullptr;
  });
}

int run_one(const RunArguments& a, const std::string& experiment, std::size_t position, const Streams& s, Answers& answers) {
  Diagnostics warnings;
  const Case c = load_case(experiment, split_overrides(a.set), warnings);
  s.err << warnings.render(false);
  EvaluateOptions options;
  options.fold = !a.unfolded;
  options.what_if = !answers.only_claims;
  const Result r = evaluate(c, options);
  if (!answers.only_claims) {
    for (const std::string& m : c.machine->measured) s.err << "measured: machine " << c.machine->name << ": " << m << "\n";
    for (const std::string& w : r.warnings) s.err << "warning: " << w << "\n";
  }
  answers.claims.push_back({c.experiment.name, r.claims});
  if (!a.json && !answers.only_claims) {
    if (position > 0) s.out << "\n" << std::string(100, '-') << "\n\n";
    s.out << summary(c, r, {s.colour, a.all_links ? std::size_t{0} : std::size_t{3}});
  } else if (a.json) {
    answers.results.push_back(to_ordered_json(c, r));
  }
  const bool several = a.experiments.size() > 1;
  if (!a.out_dir.empty()) write_out_dir(c, r, several ? a.out_dir + "/" + c.experiment.name : a.out_dir);
  if (!a.trace.empty()) write_trace_file(c, r, a.trace);
  if (!a.emit_program.empty()) write_program_file(c, a.emit_program);
  bool refuted = false;
  for (const ClaimResult& claim : r.claims) refuted = refuted || !claim.holds;
  return refuted && a.check_claims ? kThreshold : kAnswered;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> split_overrides(const std::vector<std::string>& set) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& s : set) {
    const std::size_t equal = s.find('=');
    if (equal == std::string::npos || equal == 0)
      throw InputError(fmt::format("`--set {}` is not key=value, e.g. --set batch.sequences=8", s));
    out.emplace_back(s.substr(0, equal), s.substr(equal + 1));
  }
  return out;
}

int run_command(const RunArguments& a, const Streams& s) {
  const bool several = a.experiments.size() > 1;
  if (several && !a.emit_program.empty())
    throw InputError("`--emit-program` writes one file and there are several experiments\n  = help: one run for each");
  if (several && !a.trace.empty())
    throw InputError("`--trace` writes one file and there are several experiments\n  = help: --out writes a folder for each");
  int worst = kAnswered;
  Answers answers;
  answers.only_claims = several && a.out_dir.empty() && all_claim(a.experiments);
  for (std::size_t i = 0; i < a.experiments.size(); ++i)
    worst = std::max(worst, guarded(s, [&] { return run_one(a, a.experiments[i], i, s, answers); }));
  // One experiment: one object. Several: a list of those that have an answer.
  const auto& results = answers.results;
  if (a.json && (several || !results.empty())) s.out << (several ? results : results[0]).dump(2) << "\n";
  if (!a.json && answers.only_claims && !answers.claims.empty())
    s.out << claims_text(answers.claims) << "next  moe-sim run FILE   (where the step goes, and what was assumed)\n";
  return worst;
}

}  // namespace moe
