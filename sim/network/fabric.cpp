#include "network/fabric.hpp"

#include <algorithm>

namespace moe {
namespace {

/// Appends the limits that links of the path share; each once.
void add_limits(const Machine& machine, std::vector<LinkId>& path) {
  const std::size_t links = path.size();
  for (std::size_t i = 0; i < machine.limits.size(); ++i) {
    const std::vector<int>& limited = machine.limits[i].links;
    const bool crosses = std::any_of(path.begin(), path.begin() + std::ptrdiff_t(links), [&](LinkId l) {
      return std::find(limited.begin(), limited.end(), static_cast<int>(index(l))) != limited.end();
    });
    if (crosses) path.push_back(static_cast<LinkId>(machine.links.size() + i));
  }
}

}  // namespace

Resources fabric(const Machine& machine, double factor) {
  Resources r;
  for (const Link& link : machine.links) {
    r.capacity.push_back(link.capacity * factor);
    r.link_names.push_back(link.name);
  }
  for (const SharedLimit& limit : machine.limits) {
    r.capacity.push_back(limit.capacity * factor);
    r.link_names.push_back(limit.name + " (shared)");
  }
  return r;
}

std::vector<LinkId> path_of(const Machine& machine, const Route& route) {
  std::vector<LinkId> path;
  for (const int l : route.links) path.push_back(static_cast<LinkId>(l));
  add_limits(machine, path);
  return path;
}

std::vector<LinkId> bounced_path(const Machine& machine, const Routes& routes, int from_gpu, int to_gpu) {
  std::vector<LinkId> path;
  for (const int l : bounce_links(machine, routes, from_gpu, to_gpu)) path.push_back(static_cast<LinkId>(l));
  add_limits(machine, path);
  return path;
}

std::vector<LinkId> message_path(const Machine& machine, const Routes& routes, Transport transport, int from_gpu,
                                 int to_gpu) {
  const bool bounces = transport == Transport::shm || transport == Transport::shm_x;
  return bounces ? bounced_path(machine, routes, from_gpu, to_gpu) : path_of(machine, routes.between_gpus(from_gpu, to_gpu));
}

}  // namespace moe
