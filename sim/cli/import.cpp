// moe-sim import-machine and import-collectives.
#include <fmt/core.h>

#include <fstream>
#include <sstream>

#include "base/check.hpp"
#include "cli/network.hpp"
#include "import/nccl_tests.hpp"
#include "import/sketch.hpp"
#include "machine/load.hpp"

namespace moe {
namespace {

std::string text_of(const std::string& file, Diagnostics& found) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream all;
  if (in) all << in.rdbuf();
  std::string text = all.str();
  constexpr std::size_t kMostBytes = 64U << 20;
  if (!in) found.error("cannot read the file", {file, 0, 0, 1});
  else if (text.find_first_not_of(" \t\r\n") == std::string::npos) found.error("the file is empty", {file, 0, 0, 1});
  else if (text.size() > kMostBytes) found.error("the file is too large for a dump", {file, 0, 0, 1});
  found.remember(file, text);
  return text;
}

void write(const std::string& out, const std::string& text, const Streams& s) {
  if (out.empty()) {
    s.out << text;
    return;
  }
  std::ofstream file(out, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw InputError(fmt::format("cannot write `{}`", out));
  const bool is_path = out.find('/') != std::string::npos;  // a bare name would be looked for among the shipped ones
  s.err << fmt::format("wrote {}; next: moe-sim show {}{}\n", out, is_path ? "" : "./", out);
}

}  // namespace

int import_machine_command(const ImportMachineArguments& a, const Streams& s) {
  Diagnostics found;
  const std::string text = text_of(a.file, found);
  if (found.has_errors()) throw InputError(found);
  const bool xml = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF") == text.find('<');
  Sketch sketch = xml ? read_nccl_topology(text, a.file, found) : read_topology_matrix(text, a.file, found);
  if (!a.lspci.empty() && !found.has_errors()) {
    const std::string tree = text_of(a.lspci, found);
    if (!found.has_errors()) add_lspci(tree, a.lspci, sketch, found);
  }
  if (!a.measured.empty() && !found.has_errors()) add_measured(a.measured, a.transport, sketch, found);
  if (found.has_errors()) throw InputError(found);
  s.err << found.render(false);
  const std::string yaml = machine_text(sketch, a.gpu);
  Diagnostics check;
  parse_machine(yaml, "imported", check);
  if (check.has_errors()) throw InternalError("internal error: the imported machine is not valid:\n" + check.render());
  write(a.out, yaml, s);
  return kAnswered;
}

int import_collectives_command(const ImportCollectivesArguments& a, const Streams& s) {
  Diagnostics found;
  std::vector<MeasuredCollective> rows;
  for (const std::string& file : a.files) {
    const std::string text = text_of(file, found);
    if (found.has_errors()) break;
    for (const MeasuredCollective& r : read_nccl_tests(text, file, a.gpus, found)) rows.push_back(r);
  }
  if (found.has_errors()) throw InputError(found);
  s.err << found.render(false);
  write(a.out, collective_csv(rows, a.path), s);
  return kAnswered;
}

}  // namespace moe
