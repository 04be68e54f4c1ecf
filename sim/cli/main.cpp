// The command line. CLI11 stays in this file and in cli/network_options.hpp; its errors become ours.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "cli/commands.hpp"
#include "cli/import_options.hpp"
#include "cli/network_options.hpp"
#include "cli/study_options.hpp"
#include "cli/fit_commands.hpp"

namespace {

void add_run(CLI::App& app, moe::RunArguments& a) {
  CLI::App* run = app.add_subcommand("run", "simulate one decode step and report where the time goes");
  run->add_option("experiment", a.experiments, "experiment files")->required();
  run->add_option("--set", a.set, "change a key: --set batch.sequences=8 --set stack.launch.graph=eager");
  run->add_flag("--json", a.json, "print result.json instead of text");
  run->add_option("--out", a.out_dir, "folder for result.json, report.html and trace.json");
  run->add_option("--trace", a.trace, "write a Chrome/Perfetto trace to this file");
  run->add_option("--emit-program", a.emit_program, "write the lowered program, for moe-calibrate replay");
  run->add_option_function<std::string>(
         "--links", [&a](const std::string& v) { a.all_links = v == "all"; }, "`all`: every link in the link table")
      ->check([](const std::string& v) { return v == "all" ? "" : "`--links` can only be `all`"; });
  run->add_flag("--check-claims", a.check_claims, "exit 1 when an `expect:` claim is refuted");
  run->add_flag("--unfolded", a.unfolded, "simulate identical ranks one by one");
}

void add_compare(CLI::App& app, moe::CompareArguments& a) {
  CLI::App* compare = app.add_subcommand("compare", "runs side by side: which is faster, why, and is it more than we know");
  compare->add_option("file", a.files, "experiments or result.json, two or more, the base first")->required();
  compare->add_option("--set", a.set, "change a key of every experiment: --set batch.sequences=8");
  compare->add_option("--flip", a.flip, "find where the ranking flips: --flip batch=1..512");
  compare->add_flag("--anyway", a.anyway, "even when model or batch differ");
  compare->add_flag("--json", a.json, "for programs");
  compare->add_option("--fail-if-slower", a.fail_if_slower, "exit 1 when a run is slower than the first by more: 2%");
}

void add_import_model(CLI::App& app, moe::ImportArguments& a) {
  CLI::App* import = app.add_subcommand("import-model", "turn a Hugging Face config.json into a model file");
  import->add_option("config", a.config, "config.json")->required();
  import->add_option("quantisation", a.quantisation, "hf_quant_config.json, where the release has one");
  import->add_option("--out", a.out, "model file to write; default: print it");
  import->add_option("--name", a.name, "name of the model; default: of the file");
  import->add_flag("--json", a.json, "figures, assumptions and the file as JSON");
}

void add_fit(CLI::App& app, moe::FitArguments& a) {
  CLI::App* fit = app.add_subcommand("fit", "fit the kernel costs of a GPU from measurements and write a profile");
  fit->add_option("folders", a.folders, "of CSV files, see docs/measurements.md; one or more")->required();
  fit->add_option("--gpu", a.gpu, "name in calibration/gpus, or a file")->required();
  fit->add_option("--out", a.out, "profile to write")->required();
  fit->add_option("--base", a.base, "profile whose other paths and comm section are taken over");
  fit->add_option("--protocol", a.protocol, "how the rows were measured; default: the folder's, then the project's");
  fit->add_option("--only", a.only, "op classes: gemm moe gqa mla mla_module bmm cast linear dsa small");
  fit->add_option("--leave-out", a.leave_out, "column=value[,...]: rows that are not fitted");
  fit->add_option("--points", a.points, "fit at most this many rows per path");
  fit->add_option("--threads", a.threads, "default: all cores");
  fit->add_flag("--no-tables", a.no_tables, "equations only, no residual tables");
}

void add_evaluate(CLI::App& app, moe::EvaluateArguments& a) {
  CLI::App* evaluate = app.add_subcommand("evaluate", "compare a profile with measurements");
  evaluate->add_option("profile", a.profile, "name or file")->required();
  evaluate->add_option("folder", a.folder, "CSV files, see docs/measurements.md")->required();
  evaluate->add_option("--rows", a.rows, "all | held-out | fit");
  evaluate->add_option("--where", a.where, "column=value[,...]: only these rows");
  evaluate->add_option("--leave-out", a.leave_out, "as given to fit: these rows count as held out");
  evaluate->add_option("--only", a.only, "op classes: gemm moe gqa mla mla_module bmm cast linear dsa small");
  evaluate->add_option("--protocol", a.protocol, "how the rows were measured");
  evaluate->add_option("--csv", a.csv, "write every row");
  evaluate->add_option("--summary-csv", a.summary_csv, "write the summary");
  evaluate->add_flag("--cold", a.cold, "only rows whose data came from DRAM");
  evaluate->add_flag("--json", a.json, "the summary for programs");
}

void add_kernel(CLI::App& app, moe::KernelArguments& a) {
  CLI::App* kernel = app.add_subcommand("kernel", "what one kernel costs, and why");
  kernel->add_option("profile", a.profile, "name or file")->required();
  std::string ops;
  for (const std::string& op : moe::kernel_ops()) ops += (ops.empty() ? "" : " | ") + op;
  kernel->add_option("op", a.op, ops)->required();
  kernel->add_option("--path", a.path, "kernel path, or a part of its name; default: all that fit");
  kernel->add_option("--dtype", a.dtype, "number format: part of the path's name");
  for (const auto& [name, help] : moe::kernel_sizes())
    kernel->add_option_function<double>("--" + name, [&a, key = name](double v) { a.sizes[key] = v; }, help);
  kernel->add_option("--routing", a.routing, "uniform | balanced | power_law_A");
  kernel->add_option("--reuse-bytes", a.reuse_bytes, "bytes touched between two uses; default: cold");
  kernel->add_option("--sweep", a.sweep, "size=a..b, a..bx2, a..b+s or a,b,c");
  kernel->add_flag("--ungated", a.ungated, "experts without a gate matrix");
  kernel->add_flag("--json", a.json, "for programs");
}

int usage(const CLI::App& app, const std::string& message) {
  std::cerr << "error: " << message << "\n  = help: moe-sim --help";
  for (const CLI::App* sub : app.get_subcommands()) std::cerr << ", moe-sim " << sub->get_name() << " --help";
  std::cerr << "\n";
  return moe::kBadInput;
}

/// Names what is known when a word is not.
std::string with_suggestion(const CLI::App& app, int argc, char** argv, const std::string& message) {
  std::vector<std::string> verbs;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) verbs.push_back(sub->get_name());
  if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-')
    return "unknown command `" + std::string(argv[1]) + "`\n  = help: " + moe::suggestion(argv[1], verbs);
  if (argc < 2) return "a command is missing\n  = help: " + moe::suggestion("", verbs);
  std::vector<std::string> options;
  for (const CLI::App* sub : app.get_subcommands())
    for (const CLI::Option* o : sub->get_options())
      for (const std::string& name : o->get_lnames()) options.push_back("--" + name);
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]).starts_with("--") && message.find(argv[i]) != std::string::npos &&
        std::find(options.begin(), options.end(), argv[i]) == options.end())
      return "unknown option `" + std::string(argv[i]) + "`\n  = help: " + moe::suggestion(argv[i], options);
  return message;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, [](int) { std::_Exit(moe::kInterrupted); });
  CLI::App app{"moe-sim: how fast will a Mixture-of-Experts model decode on this machine, and why"};
  app.set_version_flag("--version", moe::version_text());
  app.require_subcommand(1);
  bool plain = false, json = false;
  app.add_flag("--plain", plain, "no colour");
  moe::RunArguments run;
  add_run(app, run);
  moe::StudyArguments studies;
  moe::add_studies(app, studies);
  moe::CompareArguments compare;
  add_compare(app, compare);
  moe::ImportArguments import;
  add_import_model(app, import);
  moe::FitArguments fit;
  add_fit(app, fit);
  moe::EvaluateArguments evaluate;
  add_evaluate(app, evaluate);
  moe::KernelArguments kernel;
  add_kernel(app, kernel);
  std::vector<std::string> files;
  CLI::App* check = app.add_subcommand("check", "read files and report every error, simulate nothing");
  check->add_option("file", files, "experiments, models, machines, profiles, stacks")->required();
  std::string what = "models", key;
  CLI::App* list = app.add_subcommand("list", "what is there: models, topologies, profiles, stacks, experiments");
  list->add_option("what", what, "models | topologies | profiles | stacks | experiments")->required();
  list->add_flag("--json", json, "for programs");
  CLI::App* explain = app.add_subcommand("explain", "what a key of a file or of result.json means");
  explain->add_option("key", key, "dotted key or its last word; empty: all keys");
  moe::NetworkVerbs network;
  network.declare(app);
  moe::ImportVerbs imports;
  imports.declare(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return usage(app, with_suggestion(app, argc, argv, e.what()));
  }
  const bool colour = !plain && std::getenv("NO_COLOR") == nullptr && isatty(STDOUT_FILENO) != 0;
  const moe::Streams streams{std::cout, std::cerr, colour};
  const int code = moe::guarded(streams, [&] {
    if (int answer = 0; network.run(streams, answer) || imports.run(streams, answer)) return answer;
    int study_code = 0;
    if (moe::study_command(app, studies, streams, study_code)) return study_code;
    if (app.got_subcommand("compare")) return moe::compare_command(compare, streams);
    if (app.got_subcommand("import-model")) return moe::import_model_command(import, streams);
    if (check->parsed()) return moe::check_command(files, streams);
    if (list->parsed()) return moe::list_command(what, json, streams);
    if (explain->parsed()) return moe::explain_command(key, streams);
    if (app.got_subcommand("fit")) return moe::fit_command(fit, streams);
    if (app.got_subcommand("evaluate")) return moe::evaluate_command(evaluate, streams);
    if (app.got_subcommand("kernel")) return moe::kernel_command(kernel, streams);
    return moe::run_command(run, streams);
  });
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "error: the output could not be written\n";
    return moe::kBadInput;
  }
  return code;
}
