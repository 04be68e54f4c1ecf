// moe-sim check FILE...: every error of every file, nothing simulated.
#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cost/load_gpu.hpp"
#include "cost/load_profile.hpp"
#include "experiment/experiment.hpp"
#include "kineto/rules.hpp"
#include "machine/load.hpp"
#include "model/load.hpp"
#include "stack/load.hpp"
#include "validate/mapping.hpp"
#include "sweep/grid.hpp"

namespace moe {
namespace {

enum class FileKind { experiment, model, machine, profile, stack, gpu, kernel_rules, mapping, unknown };

/// The kind shows in keys that only one kind of file has.
FileKind kind_of(const Node& root) {
  auto has = [&](const char* key) { return root.find(key) != nullptr; };
  if (has("model") || has("batch")) return FileKind::experiment;
  if (has("layers") || has("checkpoints")) return FileKind::model;
  if (has("devices") || has("links")) return FileKind::machine;
  if (has("dense_gemm") || has("moe") || has("attention_decode") || has("comm")) return FileKind::profile;
  if (has("kernels") || has("launch")) return FileKind::stack;
  if (has("sm") || has("dram")) return FileKind::gpu;
  if (has("steps") && has("columns")) return FileKind::mapping;
  if (has("rules")) return FileKind::kernel_rules;
  return FileKind::unknown;
}

/// Reads one file by its kind. An experiment throws what it finds itself.
void read(const std::string& file, Diagnostics& out) {
  Diagnostics first;
  const Document doc = load_document(file, first);
  if (first.has_errors()) return out.merge(first);
  switch (kind_of(doc.root)) {
    case FileKind::experiment:
      if (doc.root.find("sweep") != nullptr) read_study(file, {}, {});
      load_case(file, {}, out);
      break;
    case FileKind::model: load_model(file, out); break;
    case FileKind::machine: {
      const Machine machine = load_machine(file, out);
      if (!out.has_errors()) Routes{machine};
      break;
    }
    case FileKind::profile: load_profile(file, out); break;
    case FileKind::stack: load_stack(file, out); break;
    case FileKind::gpu: load_gpu(file, out); break;
    case FileKind::mapping: read_mapping(doc, out); break;
    case FileKind::kernel_rules: load_kernel_rules(file, out); break;
    case FileKind::unknown:
      out.merge(first);
      out.error("this is no file that moe-sim knows", {file, 0, 0, 1}, {},
                "experiments have `model` and `batch`, models `layers`, machines `devices`, profiles `dense_gemm`, stacks `kernels`, mappings `columns` and `steps`");
  }
}

int check_file(const std::string& file, const Streams& s) {
  Diagnostics found;
  int code = kAnswered;
  try {
    read(file, found);
  } catch (const InputError& e) {
    found.merge(e.diagnostics);
  } catch (const Infeasible& e) {
    s.err << "no answer: " << e.what() << "\n";
    code = kNoAnswer;
  }
  s.err << found.render();
  const std::size_t errors = found.error_count();
  if (errors > 0) {
    s.err << fmt::format("{}: {} error{}, nothing was simulated\n", file, errors, errors == 1 ? "" : "s");
    return kBadInput;
  }
  s.out << fmt::format("{}: {}\n", file, code == kAnswered ? "fine" : "legal, but has no answer");
  return code;
}

}  // namespace

int check_command(const std::vector<std::string>& files, const Streams& s) {
  int worst = kAnswered;
  for (const std::string& file : files)
    worst = std::max(worst, guarded(s, [&] { return check_file(file, s); }));
  return worst;
}

}  // namespace moe
