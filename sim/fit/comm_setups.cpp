#include "fit/comm_setups.hpp"


#include <algorithm>
#include <filesystem>

namespace moe {
namespace {

const std::vector<std::string> kOps{"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
const std::vector<std::string> kProtocols{"LL", "LL128", "Simple"};

void bind_setup(Fields& f, CommSetup& s, const MachineByName& machine) {
  std::string name, protocol;
  std::vector<std::string> ops;
  f.text("path", s.path, Need::required, "rows of this path; a `*` at the end stands for anything");
  f.text("machine", name, Need::required, "they were measured on the first GPUs of this machine");
  f.text("protocol", protocol, Need::optional, "that NCCL was held to: LL, LL128 or Simple; left out: its own choice");
  f.texts("ops", ops, Need::optional, "all_reduce, all_gather, reduce_scatter, all_to_all; left out: all");
  f.integer("gpus_at_least", s.least_gpus, Need::optional, Range::at_least(2), "fewer GPUs ran another kernel");
  f.flag("adds", s.adds, Need::optional, "the rows decide only transports and rank counts that no other setup has");
  f.number("bytes_at_most", s.most_bytes, Need::optional, Range::positive(), "larger rows are not used");
  if (f.describing()) return;
  const auto position = [&](const std::string& key, const std::string& word, const std::vector<std::string>& known) {
    const auto found = std::find(known.begin(), known.end(), word);
    if (found == known.end()) f.error(key, "unknown word `" + word + "`", suggestion(word, known));
    return static_cast<int>(found - known.begin());
  };
  for (const std::string& op : ops) s.ops.push_back(static_cast<CollectiveOp>(position("ops", op, kOps)));
  if (!protocol.empty()) s.protocols = {static_cast<Protocol>(position("protocol", protocol, kProtocols))};
  if (name.empty()) return;
  try {
    s.machine = machine(name);
  } catch (const InputError& e) {
    f.error("machine", "the machine `" + name + "` cannot be used", e.what());
  }
}

}  // namespace

void bind_setups(Fields& f, std::vector<CommSetup>& setups, const MachineByName& machine) {
  int schema = 1;
  f.integer("schema", schema, Need::required, Range::between(1, 1), "version of this file's format");
  f.list("setups", Need::required, "the first entry that fits a row applies", [&](Fields& item, std::size_t) {
    setups.emplace_back();
    bind_setup(item, setups.back(), machine);
  });
}

std::vector<CommSetup> load_setups(const std::string& text, const MachineByName& machine) {
  if (!text.ends_with(".yaml") || !std::filesystem::exists(text)) return {{"nccl*", machine(text)}};
  Diagnostics out;
  const Document document = load_document(text, out);
  if (out.has_errors()) throw InputError(out);
  if (document.root.find("setups") == nullptr) return {{"nccl*", machine(text)}};
  std::vector<CommSetup> setups;
  read_map(document.root, "", out, [&](Fields& f) { bind_setups(f, setups, machine); });
  if (out.has_errors()) throw InputError(out);
  return setups;
}

}  // namespace moe
