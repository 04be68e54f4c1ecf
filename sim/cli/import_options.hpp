// Command-line declarations of the verbs in import_commands.hpp. Included by main.cpp only: CLI11 is seen
// there.
#pragma once
#include <CLI/CLI.hpp>

#include "cli/import_commands.hpp"

namespace moe {

/// Declares the verbs and runs the one that was given.
class ImportVerbs {
 public:
  void declare(CLI::App& app) {
    declare_trace(app);
    declare_bench(app);
  }
  /// True when one of them was parsed; then `code` is its exit code.
  bool run(const Streams& s, int& code) const {
    if (trace_->parsed())
      code = import_trace_command(trace_arguments_, s);
    else if (bench_->parsed())
      code = import_bench_command(bench_arguments_, s);
    else
      return false;
    return true;
  }

 private:
  void declare_trace(CLI::App& app) {
    ImportTraceArguments& a = trace_arguments_;
    trace_ = app.add_subcommand(
        "import-trace", "PyTorch profiler trace of decode: where the time of a step goes, by category");
    trace_
        ->add_option("file", a.files,
                     "trace.json or trace.json.gz; the ranks of one run together tell waiting from transfer")
        ->required();
    trace_->add_option("--rules", a.rules,
                       "kernel names to categories; default: calibration/mappings/kernels.yaml");
    trace_->add_option("--step-begin", a.step_begin,
                       "piece of the name of the kernel that begins a step; default: find out");
    trace_->add_option("--skip", a.skip, "steps left out at the beginning; default: 1, if another remains");
    trace_->add_option("--against", a.against, "experiment: its simulated breakdown beside the traced one");
    trace_->add_option("--out", a.out, "folder for measurement rows of kernels whose sizes are known");
    trace_->add_option("--engine", a.engine, "first part of the paths of these rows, e.g. vllm-0.24");
    trace_->add_option("--kernels", a.rows, "kernels listed");
    trace_->add_flag("--json", a.json, "for programs");
    trace_->add_flag("--csv", a.csv, "one line per category");
  }
  void declare_bench(CLI::App& app) {
    ImportBenchArguments& a = bench_arguments_;
    bench_ = app.add_subcommand("import-bench",
                                "benchmark output and server logs of vLLM and SGLang as rows for `validate`");
    bench_->add_option("file", a.files, "results (JSON, JSONL, text) and logs, in any mix")->required();
    const auto column = [&](const char* option, const char* name, const char* help) {
      bench_->add_option_function<std::string>(
          option, [&a, key = std::string(name)](const std::string& v) { a.columns[key] = v; }, help);
    };
    column("--model", "model", "model, where the file does not say");
    column("--quant", "quant", "checkpoint format, e.g. NVFP4");
    column("--engine", "engine", "engine and version, e.g. \"vLLM 0.24\"");
    column("--machine-text", "rig", "the machine, as the mapping of `validate` knows it");
    column("--gpus", "gpus", "GPUs of the server");
    column("--tp", "tp", "tensor parallel ranks");
    column("--kv-dtype", "kv_dtype", "format of the KV cache");
    column("--spec", "spec", "speculation, e.g. mtp-3, or none");
    column("--accept-len", "accept_len", "tokens per step with speculation");
    bench_->add_option("--set", a.set, "column=value: any other column")->allow_extra_args(false);
    bench_->add_option("--out", a.out, "CSV to write; default: standard output");
    bench_->add_flag("--mean", a.mean, "mean TPOT instead of the median");
    bench_->add_flag("--anyway", a.anyway, "also rows that are not a decode step's, with quality C");
    bench_->add_flag("--json", a.json, "rows and what was left out, for programs");
  }

  CLI::App *trace_ = nullptr, *bench_ = nullptr;
  ImportTraceArguments trace_arguments_;
  ImportBenchArguments bench_arguments_;
};

}  // namespace moe
