#include "box/nccl_dump.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace moe::bench {
namespace {

/// Value of an attribute of an XML tag; 0 when it is not there.
double attribute(const std::string& tag, const std::string& name) {
  const std::string key = " " + name + "=\"";
  const std::size_t at = tag.find(key);
  return at == std::string::npos ? 0 : std::strtod(tag.c_str() + at + key.size(), nullptr);
}

void set_or_clear(const char* name, const std::string& value) {
  if (value.empty()) unsetenv(name);
  else setenv(name, value.c_str(), 1);
}

}  // namespace

void dump_nccl_to(const std::string& graph, const std::string& topology) {
  set_or_clear("NCCL_GRAPH_DUMP_FILE", graph);
  set_or_clear("NCCL_TOPO_DUMP_FILE", topology);
}

NcclGraph read_nccl_graph(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream all;
  all << in.rdbuf();
  const std::string text = all.str();
  const std::size_t begin = text.find("<graph id=\"0\"");
  if (begin == std::string::npos) return {};
  const std::string tag = text.substr(begin, text.find('>', begin) - begin);
  const int found = static_cast<int>(attribute(tag, "nchannels"));
  return {2 * found, found * attribute(tag, "speedintra")};
}

}  // namespace moe::bench
