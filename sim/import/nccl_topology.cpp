// NCCL_TOPO_DUMP_FILE and NCCL_TOPO_FILE: <system><cpu><pci>...<gpu>. The only file that sees pugixml.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <pugixml.hpp>
#include <set>

#include "import/sketch.hpp"

namespace moe {
namespace {

constexpr const char* kNvidia = "0x10de";

/// Line and column of a byte.
Place place_at(const std::string& text, const std::string& file, std::ptrdiff_t offset) {
  const auto end = text.begin() + std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text.size()));
  const auto line = 1 + std::count(text.begin(), end, '\n');
  const auto start = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
  return {file, static_cast<int>(line), static_cast<int>(end - start) + 1, 1};
}

struct Reader {
  const std::string& text;
  const std::string& file;
  Diagnostics& out;
  Sketch sketch;
  std::map<std::string, int> gpu_at;      ///< by bus id
  std::vector<std::pair<int, pugi::xml_node>> gpu_nodes;
  std::set<std::string> hosts;
  int nics = 0;
  bool speed_missing = false, bridge_implausible = false;

  void refuse(const pugi::xml_node& node, const std::string& why, const std::string& help = {}) {
    out.error(why, place_at(text, file, node.offset_debug()), "", help);
  }
  void read(const pugi::xml_node& system);
  void read_cpu(const pugi::xml_node& cpu);
  void read_pci(const pugi::xml_node& pci, int parent, int root_complex);
  void read_gpu(const pugi::xml_node& pci, int parent, int root_complex);
  void read_nvlinks();
  void finish();
  double rate_of(const pugi::xml_node& pci);
};

/// "32.0 GT/s PCIe", "8 GT/s", "16 GT/s"; 0: missing or without lanes.
double Reader::rate_of(const pugi::xml_node& pci) {
  const double speed = std::strtod(pci.attribute("link_speed").as_string("0"), nullptr);
  const int lanes = pci.attribute("link_width").as_int(0);
  if (speed > 0 && speed < 1000 && lanes > 0 && lanes <= 32) return pcie_GBps(speed, lanes);
  speed_missing = true;
  return 0;
}

bool is_bridge(const pugi::xml_node& pci) {
  return std::string(pci.attribute("class").as_string()).starts_with("0x0604") ||
         (!pci.attribute("class") && !pci.children("pci").empty());
}

bool is_gpu(const pugi::xml_node& pci) {
  const std::string type = pci.attribute("class").as_string();
  const std::string vendor = pci.attribute("vendor").as_string(kNvidia);
  return pci.child("gpu") || ((type.starts_with("0x0302") || type.starts_with("0x0300")) && vendor == kNvidia);
}

/// GPUs of another vendor: RCCL writes the same format.
bool is_foreign(const pugi::xml_node& pci) {
  const std::string vendor = pci.attribute("vendor").as_string(kNvidia);
  const pugi::xml_node gpu = pci.child("gpu");
  return gpu && (vendor != kNvidia || gpu.attribute("gcn") || gpu.attribute("arch") || gpu.child("xgmi") ||
                 std::string(pci.attribute("class").as_string()).starts_with("0x0380"));
}

void Reader::read_gpu(const pugi::xml_node& pci, int parent, int root_complex) {
  const auto partitions = pci.children("gpu");
  if (std::distance(partitions.begin(), partitions.end()) > 1)
    return refuse(pci, "one PCI device holds several GPUs: partitions of a GPU are not supported");
  if (is_foreign(pci))
    return refuse(pci, "this GPU is not NVIDIA's: the file comes from RCCL or another library",
                  "there are no profiles for such GPUs");
  const int number = static_cast<int>(sketch.gpus.size());
  const std::string bus = pci.attribute("busid").as_string();
  if (!gpu_at.emplace(bus, number).second) return refuse(pci, fmt::format("two GPUs have the bus id `{}`", bus));
  sketch.gpus.push_back({parent, root_complex, rate_of(pci), 0, bus});
  gpu_nodes.emplace_back(number, pci.child("gpu"));
}

void Reader::read_pci(const pugi::xml_node& pci, int parent, int root_complex) {
  if (is_gpu(pci)) return read_gpu(pci, parent, root_complex);
  if (!is_bridge(pci)) {
    nics += pci.child("nic") || std::string(pci.attribute("class").as_string()).starts_with("0x02") ? 1 : 0;
    return;
  }
  const std::size_t gpus_before = sketch.gpus.size();
  const int number = static_cast<int>(sketch.switches.size());
  sketch.switches.push_back({parent, root_complex, rate_of(pci)});
  for (const pugi::xml_node& below : pci.children("pci")) read_pci(below, number, root_complex);
  if (sketch.gpus.size() == gpus_before) {  // only NICs behind it
    sketch.switches.resize(static_cast<std::size_t>(number));
    return;
  }
  double fastest = 0;
  for (std::size_t g = gpus_before; g < sketch.gpus.size(); ++g) fastest = std::max(fastest, sketch.gpus[g].GBps);
  double& own = sketch.switches[static_cast<std::size_t>(number)].GBps;
  constexpr double kNoRealBridge = 1.0;  // GB/s; virtual bridges report 2.5 GT/s x1
  if (own > 0 && own < kNoRealBridge) bridge_implausible = true, own = fastest;
}

void Reader::read_cpu(const pugi::xml_node& cpu) {
  const std::string vendor = cpu.attribute("vendor").as_string();
  sketch.amd_cpu = sketch.amd_cpu || vendor == "AuthenticAMD";
  if (cpu.attribute("host_hash")) hosts.insert(cpu.attribute("host_hash").as_string());
  const int root_complex = static_cast<int>(sketch.socket_of.size());
  sketch.socket_of.push_back(root_complex);
  for (const pugi::xml_node& pci : cpu.children("pci")) read_pci(pci, -1, root_complex);
  for ([[maybe_unused]] const pugi::xml_node& nic : cpu.children("nic")) ++nics;
}

/// A link to class 0x068000 ends at an NVSwitch, one to another GPU's bus id there, one to itself nowhere.
void Reader::read_nvlinks() {
  std::map<std::pair<int, int>, int> between;
  int to_itself = 0, to_nobody = 0;
  for (const auto& [number, gpu] : gpu_nodes) {
    for (const pugi::xml_node& link : gpu.children("nvlink")) {
      const int count = link.attribute("count").as_int(0);
      if (count <= 0 || count > 72) { refuse(link, "an NVLink has no sensible `count`"); continue; }
      const auto peer = gpu_at.find(link.attribute("target").as_string());
      if (std::string(link.attribute("tclass").as_string()).starts_with("0x0680"))
        sketch.gpus[static_cast<std::size_t>(number)].switch_links += count;
      else if (peer == gpu_at.end()) ++to_nobody;
      else if (peer->second == number) ++to_itself;
      else between[std::minmax(number, peer->second)] = count;
    }
  }
  for (const auto& [pair, count] : between) sketch.nvlinks.push_back({pair.first, pair.second, count});
  if (to_itself + to_nobody > 0)
    sketch.inferred.push_back(fmt::format("{} NVLink rows are left out: they lead to the GPU itself or to a device that "
                                          "is not in the file", to_itself + to_nobody));
  if (!between.empty() || (!sketch.gpus.empty() && sketch.gpus[0].switch_links > 0))
    sketch.assumed_rates.push_back("25 GB/s per NVLink and direction (NVLink 2 to 4; NVLink 5 has 50)");
  else sketch.inferred.push_back("no NVLink between GPUs is in the file: they talk over PCIe");
}

void Reader::finish() {
  sketch.source = fmt::format("{} (NCCL topology XML, {} GPUs)", file, sketch.gpus.size());
  sketch.inferred.push_back(fmt::format("{} switches, {} NUMA nodes, each taken for a socket with one root complex",
                                        sketch.switches.size(), sketch.socket_of.size()));
  if (nics > 0) sketch.inferred.push_back(fmt::format("{} NICs are left out", nics));
  if (bridge_implausible)
    sketch.inferred.push_back("a bridge of less than 1 GB/s is virtual: it is given the bandwidth of its GPUs");
  if (speed_missing) sketch.assumed_rates.push_back("Gen5 x16 (56.4 GB/s) where the file has no link speed or width");
  if (sketch.socket_of.size() > 1) sketch.assumed_rates.push_back("50 GB/s between NUMA nodes");
  sketch.assumed.push_back("latencies of other machines");
}

void Reader::read(const pugi::xml_node& system) {
  for (const pugi::xml_node& cpu : system.children("cpu")) read_cpu(cpu);
  if (sketch.gpus.empty() && !out.has_errors())
    refuse(system, "no device of this file says that it is a GPU", "a dump by NCCL_TOPO_DUMP_FILE has <gpu> elements");
  if (hosts.size() > 1) refuse(system, fmt::format("the file holds {} hosts; import one at a time", hosts.size()));
  if (out.has_errors()) return;
  read_nvlinks();
  finish();
}

}  // namespace

Sketch read_nccl_topology(const std::string& text, const std::string& file, Diagnostics& out) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    out.error(fmt::format("this is no complete XML: {}", parsed.description()), place_at(text, file, parsed.offset), "",
              "the file is damaged or cut");
    return {};
  }
  Reader reader{text, file, out, {}, {}, {}, {}};
  const pugi::xml_node root = document.document_element();
  const std::string name = root.name();
  if (name == "graphs") reader.refuse(root, "these are NCCL's rings and trees, not a topology", "use NCCL_TOPO_DUMP_FILE");
  else if (name == "pci" || name == "cpu" || name == "gpu")
    reader.refuse(root, fmt::format("this is a part of a dump: it begins with <{}>, not with <system>", name));
  else if (name != "system") reader.refuse(root, fmt::format("the file begins with <{}>, not with <system>", name));
  else reader.read(root);
  return reader.sketch;
}

}  // namespace moe
