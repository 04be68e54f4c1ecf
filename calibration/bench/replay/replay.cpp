// moe-calibrate replay: executes programs that moe-sim lowered, and writes how long they took.
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "harness/check.hpp"
#include "replay/player.hpp"
#include "replay/results.hpp"

namespace moe::bench {
namespace {

struct ReplayArguments {
  std::vector<std::string> programs;
  std::string out;
  PlayOptions play;
  bool no_attribution = false, resume = false, check = false, first_rank = false;
};

/// One program; true: it has a result, or needs none.
bool replay_one(const ReplayProgram& p, const ReplayArguments& a, ReplayResults& results) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> reasons = refusals(p);
  if (reasons.empty()) {
    try {
      const Played played = play(p, a.play);
      results.add(p, played);
      const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      fmt::print("{:<44} {} GPU{}  step {:9.1f} us ({:.1f} to {:.1f}), sustained {:9.1f} us {}  simulated {:9.1f} us {:+6.1f} %  weights {:.1f} GB, cache {:.1f} GB  {:.1f} s\n",
                 p.name, p.first_rank_alone ? 1 : p.ranks, p.ranks > 1 && !p.first_rank_alone ? "s" : " ", played.median_us, played.low_us, played.high_us, played.sustained_us,
                 played.throttle, p.simulated_step_us,
                 100 * (p.simulated_step_us / played.median_us - 1), played.weight_bytes * 1e-9, played.cache_bytes * 1e-9, s);
      std::fflush(stdout);
      return true;
    } catch (const Unsupported& e) {
      reasons.emplace_back(e.what());
    } catch (const BenchError& e) {
      reasons.push_back(fmt::format("failed: {}", e.what()));
    }
  }
  results.refuse(p, reasons);
  fmt::print(stderr, "{}: not replayed\n", p.name);
  for (const std::string& why : reasons) fmt::print(stderr, "  {}\n", why);
  return false;
}

/// Without a device: which programs the suite could execute.
int check_only(const std::vector<ReplayProgram>& programs) {
  int refused = 0;
  for (const ReplayProgram& p : programs) {
    const std::vector<std::string> reasons = refusals(p);
    fmt::print("{:<44} {} ops, {} rank{}: {}\n", p.name, p.ops.size(), p.ranks, p.ranks > 1 ? "s" : "",
               reasons.empty() ? "every op has a kernel" : "refused");
    for (const std::string& why : reasons) fmt::print("  {}\n", why);
    refused += reasons.empty() ? 0 : 1;
  }
  return refused == 0 ? 0 : 3;
}

int replay(const ReplayArguments& a) {
  std::vector<ReplayProgram> programs;
  for (const std::string& file : a.programs) programs.push_back(a.first_rank ? first_rank_of(load_program(file)) : load_program(file));
  if (a.check) return check_only(programs);
  ReplayResults results(a.out, a.resume);
  int without = 0;
  for (const ReplayProgram& p : programs)
    if (!results.has(p) && !replay_one(p, a, results)) ++without;
  fmt::print("{} of {} programs have a result; `moe-sim validate-replay {}/results.json` compares\n",
             programs.size() - static_cast<std::size_t>(without), programs.size(), a.out);
  return without == 0 ? 0 : 3;
}

}  // namespace

void add_replay(CLI::App& app, int& code) {
  auto a = std::make_shared<ReplayArguments>();
  CLI::App* command = app.add_subcommand("replay", "Executes programs of `moe-sim run --emit-program` and times them; rank r on CUDA device r");
  command->add_option("program", a->programs, "Program files")->required()->check(CLI::ExistingFile);
  command->add_option("--out", a->out, "Folder for results.json and results.csv")->capture_default_str();
  command->add_option("--replays", a->play.replays, "Replays of the whole step")->check(CLI::Range(3, 10000))->capture_default_str();
  command->add_flag("--no-attribution", a->no_attribution, "Only whole steps");
  command->add_flag("--in-step", a->play.in_step, "Also the step without each kernel: several times as long");
  command->add_flag("--first-rank", a->first_rank, "Programs of several GPUs: what rank 0 computes, without its collectives, on one GPU");
  command->add_flag("--resume", a->resume, "Keep the results that the folder has and go on");
  command->add_flag("--check", a->check, "Only say which ops have no kernel; needs no GPU");
  command->callback([a, &code] {
    a->play.attribute = !a->no_attribution;
    if (a->out.empty()) a->out = "replay";
    code = replay(*a);
  });
}

}  // namespace moe::bench
