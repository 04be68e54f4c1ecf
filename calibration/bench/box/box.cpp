// moe-calibrate box: what the links between the GPUs of this machine give, part by part, each in its own process.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "box/child.hpp"
#include "box/parts.hpp"
#include "box/report.hpp"
#include "commands.hpp"
#include "comm/collectives.hpp"
#include "comm/gpu_group.hpp"
#include "harness/check.hpp"

namespace moe::bench {
namespace {

namespace fs = std::filesystem;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// parts.csv: what became of a part.
void note(const std::string& folder, const std::string& part, double seconds, std::string outcome) {
  for (char& c : outcome)
    if (c == ',' || c == '\n') c = ';';
  const fs::path file = fs::path(folder) / "parts.csv";
  const bool fresh = !fs::exists(file);
  std::ofstream out(file, std::ios::app);
  if (fresh) out << "part,seconds,outcome\n";
  out << fmt::format("{},{:.1f},{}\n", part, seconds, outcome);
}

/// Removes the rows of a part, so that it is measured again.
void forget(const std::string& folder, const Part& part) {
  for (const std::string& name : part.files) fs::remove(fs::path(folder) / name);
  if (part.path.empty()) return;
  for (const char* name : {"collective.csv", "communicators.csv"}) {
    const fs::path file = fs::path(folder) / name;
    std::ifstream in(file);
    std::string kept;
    for (std::string line; std::getline(in, line);)
      if (!std::string_view(line).substr(0, line.find(',')).ends_with(part.path)) kept += line + "\n";
    in.close();
    if (fs::exists(file)) std::ofstream(file) << kept;
  }
}

bool wanted(const Part& part, const std::vector<std::string>& only) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& o) {
    return part.name == o || part.name.starts_with(o + "-");
  });
}

/// In this process. Returns the exit code; writes the outcome down.
int run_part(const std::string& name, RunOptions options) {
  const auto start = std::chrono::steady_clock::now();
  std::string outcome = "done";
  fs::create_directories(options.out);
  options.resume = true;  // the parent has removed what shall be measured again
  try {
    Session session(options);
    if (name == "p2p") measure_p2p(session);
    else if (name == "flows") measure_flows(session);
    else if (name == "own") measure_own(session);
    else measure_nccl(session, name.substr(name.find('-') + 1));
  } catch (const Unsupported& e) {
    outcome = fmt::format("skipped: {}", e.what());
  } catch (const std::exception& e) {
    outcome = fmt::format("error: {}", e.what());
  }
  if (outcome != "done") fmt::print(stderr, "\n{}: {}\n", name, outcome);
  note(options.out, name, seconds_since(start), outcome);
  std::_Exit(outcome.starts_with("error") ? 3 : 0);  // after a fault, library destructors may hang
}

/// device.txt where `run` has not written it, and box.txt: what else the report says of the machine.
void describe(const std::string& folder) {
  if (!fs::exists(fs::path(folder) / "device.txt")) std::ofstream(fs::path(folder) / "device.txt") << describe_device(0);
  std::ofstream(fs::path(folder) / "box.txt") << fmt::format(
      "gpus: {}\nnccl: {}\nnvlink_multicast: off (NCCL_NVLS_ENABLE=0)\n", device_count(),
      nccl_version().empty() ? "built without" : nccl_version());
}

int run_box(const RunOptions& options, double most_seconds) {
  fs::create_directories(options.out);
  if (device_count() < 1) {
    fmt::print(stderr, "box: skipped: no GPU\n");
    return 0;
  }
  describe(options.out);
  if (!options.resume && options.only.empty()) fs::remove(fs::path(options.out) / "parts.csv");
  int failed = 0;
  for (const Part& part : parts()) {
    if (!wanted(part, options.only)) continue;
    if (device_count() == 1 && !part.with_one_gpu) {
      note(options.out, part.name, 0, "skipped: one GPU: nothing to measure between GPUs");
      continue;
    }
    if (!options.resume) forget(options.out, part);
    std::vector<std::string> arguments{"box-part", part.name, "--out", options.out};
    if (options.quick) arguments.push_back("--quick");
    const auto start = std::chrono::steady_clock::now();
    const ChildEnd end = run_child(arguments, part.environment, most_seconds);
    if (end.how != ChildEnd::exited) note(options.out, part.name, seconds_since(start), "error: " + end.text());
    failed += end.how == ChildEnd::exited && end.code == 0 ? 0 : 1;
  }
  write_report(options.out);
  fmt::print(stderr, "report: {}\n", (fs::path(options.out) / "report.md").string());
  return failed == 0 ? 0 : 3;
}

}  // namespace

void add_box(CLI::App& app, int& code) {
  auto options = std::make_shared<RunOptions>();
  auto most = std::make_shared<double>(300);
  auto name = std::make_shared<std::string>();
  CLI::App* box = app.add_subcommand("box", "Measures the links between the GPUs and writes files for `moe-sim fit` and `import-machine`");
  std::string help = "Parts, joined by commas (nccl: all of NCCL):";
  std::vector<std::string> names{"nccl"};
  for (const Part& p : parts()) {
    help += fmt::format("\n{} ({})", p.name, p.what);
    names.push_back(p.name);
  }
  box->add_option("--out", options->out, "Folder of the results")->required();
  box->add_option("--only", options->only, help)->delimiter(',')->check(CLI::IsMember(names));
  box->add_flag("--quick", options->quick, "Every second power of two: a first look");
  box->add_flag("--resume", options->resume, "Keep rows that the folder already has and go on");
  box->add_option("--most-seconds", *most, "A part that takes longer is ended and reported")->capture_default_str();
  box->callback([options, most, &code] { code = run_box(*options, *most); });
  CLI::App* part = app.add_subcommand("box-part", "One part of box, in this process");
  part->group("");  // not in the help
  part->add_option("name", *name)->required();
  part->add_option("--out", options->out)->required();
  part->add_flag("--quick", options->quick);
  part->callback([options, name, &code] { code = run_part(*name, *options); });
}

void add_report(CLI::App& app, int& code) {
  auto folder = std::make_shared<std::string>();
  CLI::App* report = app.add_subcommand("report", "Writes report.md and report.json of a folder again");
  report->add_option("folder", *folder, "Folder of `run` or `box`")->required();
  report->callback([folder, &code] {
    write_report(*folder);
    code = 0;
  });
}

}  // namespace moe::bench
