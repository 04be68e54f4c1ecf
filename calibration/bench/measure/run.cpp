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
  std::ofstream file(std::filesystem::path(folder) / "protocol.yaml");
  file << "# How moe-calibrate took these rows: every call works on weights or caches that no recent call touched\n"
          "# (rotation over three times the L2); activations of small kernels stay in L2, as in a decode step.\n"
          "schema: 1\n"
          "sources: [measured by moe-calibrate run; device.txt and conditions.csv lie beside its files]\n"
          "hold_out: 4\n"
          "formats:\n"
          "  bfloat16: {bytes_per_weight: 2, bytes_per_activation: 2, compute: bf16}\n"
          "  fp8: {bytes_per_weight: 1, bytes_per_activation: 1, compute: fp8, quantises: true}\n"
          "  nvfp4: {bytes_per_weight: 0.5625, bytes_per_activation: 0.5625, compute: fp4, quantises: true}\n"
          "  int4_wo: {bytes_per_weight: 0.5625, bytes_per_activation: 2, compute: bf16}\n"
          "score:\n"
          "  gemm: {m: [1, 512], n: [64, 262144], k: [64, 65536]}\n"
          "  moe: {tokens: [1, 512], tp: [1, 16], ep: [1, 64]}\n"
          "  gqa: {batch: [1, 512], context: [64, 1000000], group: [1, 32]}\n"
          "  mla: {batch: [1, 512], context: [64, 1000000]}\n"
          "  bmm: {tokens: [1, 512]}\n"
          "  cast: {m: [1, 512], k: [64, 65536]}\n"
          "  linear: {batch: [1, 512]}\n"
          "paths:\n"
          "  - {op: gemm, rows: \"*\", name: \"{path}/{dtype}\", copies: 0}\n"
          "  - {op: moe, rows: \"*\", name: \"{path}\", copies: 0}\n"
          "  - {op: gqa, rows: \"*\", copies: 0}\n"
          "  - {op: mla, rows: \"*\", copies: 0}\n"
          "  - {op: bmm, rows: \"*\", copies: 0}\n"
          "  - {op: cast, rows: \"*\", dtype: \"compute_scale/*\", name: \"{engine}/absmax\", copies: 1}\n"
          "  - {op: cast, rows: \"*\", name: \"{engine}/cast_fp8\", copies: 1}\n"
          "  - {op: linear, rows: \"*/causal_conv1d_update\", name: \"{engine}/conv1d_update\", copies: 0}\n"
          "  - {op: linear, rows: \"*\", name: \"{engine}/gdn_recurrent\", copies: 0}\n";
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
