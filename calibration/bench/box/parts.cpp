#include "box/parts.hpp"

#include "comm/gpu_group.hpp"

namespace moe::bench {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

Part nccl(const std::string& name, const std::string& what, Environment environment) {
  return {"nccl-" + name, "NCCL, " + what, std::move(environment), {}, "/" + name, name == "default"};
}

}  // namespace

const std::vector<Part>& parts() {
  static const std::vector<Part> all{
      {"p2p", "every pair of GPUs, and the host: bandwidth and latency", {}, {"p2p.csv"}, "", true},
      {"flows", "several transfers at the same time", {}, {"flows.csv", "flow_patterns.csv"}, ""},
      {"own", "our one-shot and two-shot all-reduce", {}, {}, "_shot"},
      nccl("default", "as it chooses", {}),
      nccl("p2p_off", "host-bounced", {{"NCCL_P2P_DISABLE", "1"}}),
      nccl("p2p_sys", "peer access across sockets too", {{"NCCL_P2P_LEVEL", "SYS"}}),
      nccl("ll", "protocol LL", {{"NCCL_PROTO", "LL"}}),
      nccl("ll128", "protocol LL128", {{"NCCL_PROTO", "LL128"}}),
      nccl("simple", "protocol Simple", {{"NCCL_PROTO", "Simple"}}),
      nccl("p2p_off_ll", "host-bounced, protocol LL", {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_PROTO", "LL"}}),
      nccl("net", "through sockets", {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SHM_DISABLE", "1"}, {"NCCL_NET", "Socket"}})};
  return all;
}

Results continued(const Session& session, const std::string& name, const Key& columns) {
  return Results(session.options().out, name, columns, false);
}

std::vector<int> group_sizes() {
  std::vector<int> sizes;
  const int all = device_count();
  for (int n = 2; n < all; n *= 2) sizes.push_back(n);
  if (all >= 2) sizes.push_back(all);
  return sizes;
}

std::vector<std::size_t> message_sizes(int ranks, std::size_t most_bytes, bool between, bool quick) {
  std::vector<std::size_t> sizes;
  const std::size_t unit = 16 * static_cast<std::size_t>(ranks);
  for (std::size_t power = 1024; power <= most_bytes; power *= quick ? 4 : 2)
    for (std::size_t quarters = 4; quarters < 8; ++quarters) {
      if (quarters != 4 && (!between || quick)) break;
      const std::size_t bytes = power * quarters / 4 / unit * unit;
      if (bytes > 0 && bytes <= most_bytes) sizes.push_back(bytes);
    }
  return sizes;
}

}  // namespace moe::bench
