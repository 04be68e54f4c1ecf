#include "machine/load.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "machine/file.hpp"

namespace moe {
namespace {

/// Turns the entries of one file into a Machine and collects what contradicts.
class Builder {
 public:
  Builder(MachineFile file, Diagnostics& out) : file_(std::move(file)), machine_(file_.facts), out_(out) {}
  Machine build() {
    add_devices();
    for (const LinkEntry& l : file_.links) add_links(l);
    add_limits();
    check_nccl();
    check_speeds();
    check_links_of_gpus();
    if (!out_.has_errors()) check_reach();
    return std::move(machine_);
  }

 private:
  struct End {
    int device;
    const PlacedName* name;
  };
  void contradiction(std::string message, const PlacedName& at, std::string help, const Place& other,
                     std::string note) {
    out_.add({true, std::move(message), at.place, at.path, std::move(help), other, std::move(note)});
  }
  void add_devices();
  void add_links(const LinkEntry& entry);
  bool add_link(const LinkEntry& entry, const End& from, const End& to);
  std::vector<End> ends(const std::vector<PlacedName>& names);
  int device(const PlacedName& name);
  void add_limits();
  void check_nccl();
  void check_speeds();
  void check_links_of_gpus();
  void check_reach();

  MachineFile file_;
  Machine machine_;
  Diagnostics& out_;
  std::map<std::string, int> number_;                       ///< device by name
  std::vector<PlacedName> declared_;                        ///< by device
  std::set<int> linked_;                                    ///< devices that an entry of `links` names
  std::map<std::pair<int, int>, Place> joined_;             ///< directed pairs that have a link
  std::map<std::string, std::vector<int>> limited_;         ///< links by limit
};

void Builder::add_devices() {
  for (const DeviceEntry& entry : file_.devices)
    for (const PlacedName& name : entry.names) {
      const auto [known, is_new] = number_.emplace(name.text, static_cast<int>(declared_.size()));
      if (!is_new) {
        contradiction(fmt::format("two devices are called `{}`", name.text), name, "give each device its own name",
                      declared_[static_cast<std::size_t>(known->second)].place, "the first is declared here");
        continue;
      }
      if (entry.kind == DeviceKind::gpu) machine_.gpus.push_back(known->second);
      machine_.devices.push_back({name.text, entry.kind, entry.socket, entry.node});
      declared_.push_back(name);
    }
  if (machine_.gpus.empty() && !file_.devices.empty())
    out_.error("this machine has no GPU", file_.devices_place, "devices", "declare a device with `kind: gpu`");
}

/// The number of a device, or -1 with a diagnostic that points at the use and at the declarations.
int Builder::device(const PlacedName& name) {
  const auto found = number_.find(name.text);
  if (found != number_.end()) return found->second;
  std::vector<std::string> known;
  for (const Device& d : machine_.devices) known.push_back(d.name);
  contradiction(fmt::format("`{}` is not a device of this machine", name.text), name, suggestion(name.text, known),
                file_.devices_place, "devices are declared here");
  return -1;
}

void Builder::add_links(const LinkEntry& entry) {
  const std::vector<End> froms = ends(entry.from), tos = ends(entry.to);
  for (const End& from : froms)
    for (const End& to : tos)
      if (add_link(entry, from, to) && !entry.oneway) add_link(entry, to, from);
}

/// The devices of a list; an unknown name is reported once and left out.
std::vector<Builder::End> Builder::ends(const std::vector<PlacedName>& names) {
  std::vector<End> found;
  for (const PlacedName& name : names)
    if (const int number = device(name); number >= 0) found.push_back({number, &name}), linked_.insert(number);
  return found;
}

/// Adds one direction; false with a diagnostic when that is not possible.
bool Builder::add_link(const LinkEntry& entry, const End& from, const End& to) {
  const std::string &a = from.name->text, &b = to.name->text;
  if (from.device == to.device) {
    out_.error(fmt::format("`{}` is linked to itself", a), to.name->place, to.name->path, "name two different devices");
    return false;
  }
  const auto [first, is_new] = joined_.emplace(std::pair{from.device, to.device}, to.name->place);
  if (!is_new) {
    contradiction(fmt::format("`{}` already has a link to `{}`", a, b), *to.name,
                  "an entry counts for both directions unless `oneway: true`; write parallel cables as one link with "
                  "the sum of their bandwidths",
                  first->second, "the first is here");
    return false;
  }
  const Bandwidth capacity = entry.bandwidth_Bps > 0 ? Bandwidth{entry.bandwidth_Bps} : kUnlimited;
  if (!entry.limit.text.empty()) limited_[entry.limit.text].push_back(static_cast<int>(machine_.links.size()));
  machine_.links.push_back({from.device, to.device, entry.kind, capacity, Seconds{entry.latency_s}, a + " → " + b});
  return true;
}

void Builder::add_limits() {
  std::vector<std::string> known;
  for (const auto& [name, limit] : file_.limits) {
    known.push_back(name);
    const auto links = limited_.find(name);
    if (links == limited_.end())
      out_.error(fmt::format("no link names the limit `{}`, so it has no effect", name), limit.place,
                 "limits." + name + ".bandwidth", fmt::format("write `limit: {}` at the links that share it", name));
    else
      machine_.limits.push_back({name, links->second, {limit.bandwidth_Bps}});
  }
  for (const LinkEntry& l : file_.links)
    if (!l.limit.text.empty() && file_.limits.count(l.limit.text) == 0)
      out_.error(fmt::format("`{}` is not a limit of this machine", l.limit.text), l.limit.place, l.limit.path,
                 known.empty() ? "declare it under `limits`" : suggestion(l.limit.text, known));
}

void Builder::check_nccl() {
  if (!file_.says_nccl && machine_.gpus.size() > 1)
    out_.error("missing key `nccl`", file_.nccl_place, "nccl", "required with two GPUs or more");
  if (machine_.nccl.empty() && file_.says_communicators)
    out_.error("`communicators` must have at least one entry", file_.nccl_place, "nccl.communicators");
  for (std::size_t i = 1; i < machine_.nccl.size(); ++i)
    if (machine_.nccl[i].ranks <= machine_.nccl[i - 1].ranks)
      out_.error(fmt::format("`up_to_ranks` must ascend, but {} follows {}", machine_.nccl[i].ranks,
                             machine_.nccl[i - 1].ranks),
                 file_.nccl_place, fmt::format("nccl.communicators[{}].up_to_ranks", i));
}

void Builder::check_speeds() {
  if (!machine_.gpu_speed.empty() && machine_.gpu_speed.size() != machine_.gpus.size())
    out_.error(fmt::format("`gpu_speed` has {} entries for {} GPUs", machine_.gpu_speed.size(), machine_.gpus.size()),
               file_.speed_place, "gpu_speed", "one number per GPU, 1 = nominal");
}

void Builder::check_links_of_gpus() {
  if (file_.links.empty() && machine_.gpus.size() <= 1) return;
  for (const int g : machine_.gpus) {
    const PlacedName& name = declared_[static_cast<std::size_t>(g)];
    if (linked_.count(g) == 0)
      out_.error(fmt::format("`{}` has no link", name.text), name.place, name.path, "add it to an entry of `links`");
  }
}

/// Every GPU must reach every other one; says the first that each GPU misses.
void Builder::check_reach() {
  const Routes routes(machine_);
  for (const int from : machine_.gpus)
    for (const int to : machine_.gpus) {
      if (routes.reaches(from, to)) continue;
      const PlacedName& name = declared_[static_cast<std::size_t>(from)];
      contradiction(fmt::format("`{}` cannot reach `{}`", name.text, declared_[static_cast<std::size_t>(to)].text), name,
                    "join them by links that do not pass through another GPU",
                    declared_[static_cast<std::size_t>(to)].place, "the other GPU");
      break;
    }
}

Machine read(const Document& document, Diagnostics& out, std::vector<FieldInfo>* record) {
  MachineFile file;
  Diagnostics mine;
  read_map(document.root, "", mine, [&](Fields& f) { bind_machine(f, file); }, record);
  file.facts.name = std::filesystem::path(document.file).stem().string();
  const bool readable = document.root.is_map();
  Machine machine = readable ? Builder(std::move(file), mine).build() : Machine{};
  if (readable || !out.has_errors()) out.merge(mine);
  return machine;
}

}  // namespace

Machine load_machine(const std::string& file, Diagnostics& out, std::vector<FieldInfo>* record) {
  return read(load_document(file, out), out, record);
}

Machine parse_machine(const std::string& text, const std::string& file, Diagnostics& out,
                      std::vector<FieldInfo>* record) {
  return read(parse_document(text, file, out), out, record);
}

std::vector<FieldInfo> describe_machine() {
  MachineFile file;
  return describe([&](Fields& f) { bind_machine(f, file); });
}

}  // namespace moe
