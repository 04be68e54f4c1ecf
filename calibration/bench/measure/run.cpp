// moe-calibrate run: all sections, or those named, one after the other.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "box/report.hpp"
#include "commands.hpp"
#include "harness/check.hpp"
#include "measure/sections.hpp"
#include "protocol.hpp"

namespace moe::bench {

const std::vector<Section>& sections() {
  static const std::vector<Section> all{
      {"launch", "launches from the host and graph nodes", measure_launch},
      {"bandwidth", "reads, writes and copies in memory and L2", measure_bandwidth},
      {"gemm", "dense multiplies through cuBLASLt", measure_gemm},
      {"moe", "routed experts of one layer, whole block", measure_moe},
      {"stages", "the stages of a few such blocks, one by one", measure_stages},
      {"gqa", "grouped-query decode attention", measure_gqa},
      {"mla", "absorbed MLA decode attention", measure_mla},
      {"bmm", "per-head multiplies of absorbed MLA", measure_bmm},
      {"cast", "quantising activations", measure_cast},
      {"linear", "gated delta net, decode", measure_linear},
      {"small", "norms, activation, RoPE, cache write, top-k, sampling", measure_small}};
  return all;
}

namespace {

/// What the measurements are of: moe-sim's reader of protocols (docs/measurements.md).
void write_protocol(const std::string& folder) {
  std::ofstream(std::filesystem::path(folder) / "protocol.yaml") << kProtocol;
}

int run(const RunOptions& options) {
  Session session(options);
  write_protocol(options.out);
  std::ofstream(std::filesystem::path(options.out) / "device.txt") << describe_device(options.device);
  int failed = 0;
  for (const Section& s : sections()) {
    const bool wanted = options.only.empty() ||
                        std::find(options.only.begin(), options.only.end(), s.name) != options.only.end();
    if (!wanted) continue;
    try {
      s.run(session);
    } catch (const Unsupported& e) {
      fmt::print(stderr, "\n{}: skipped: {}\n", s.name, e.what());
    } catch (const BenchError& e) {
      fmt::print(stderr, "\nerror: {}: {}\n", s.name, e.what());
      ++failed;
    }
  }
  write_report(options.out);
  return failed == 0 ? 0 : 3;
}

}  // namespace

void add_run(CLI::App& app, int& code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Measures one GPU and writes files for `moe-sim fit`");
  command->add_option("--out", options->out, "Folder of the results")->required();
  std::vector<std::string> names;
  std::string help = "Sections, joined by commas:";
  for (const Section& s : sections()) {
    names.emplace_back(s.name);
    help += fmt::format("\n{} ({})", s.name, s.what);
  }
  command->add_option("--only", options->only, help)->delimiter(',')->check(CLI::IsMember(names));
  command->add_flag("--quick", options->quick, "About a tenth of the points: a first look");
  command->add_flag("--resume", options->resume, "Keep rows that the folder already has and go on");
  command->add_option("--device", options->device, "CUDA device")->capture_default_str();
  command->callback([options, &code] { code = run(*options); });
}

}  // namespace moe::bench
