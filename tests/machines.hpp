// Small machines and random programs for engine tests. No machine file, no model: only servers, links and
// ops.
#pragma once
#include <algorithm>
#include <exception>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "program/builder.hpp"

namespace moe {

/// `servers` servers and one link per capacity [GB/s].
inline Resources machine(std::size_t servers, std::initializer_list<double> capacities_GBps) {
  Resources resources;
  for (std::size_t i = 0; i < servers; ++i) resources.server_names.push_back("server " + std::to_string(i));
  for (const double capacity_GBps : capacities_GBps) {
    resources.link_names.push_back("link " + std::to_string(resources.capacity.size()));
    resources.capacity.push_back(from_GBps(capacity_GBps));
  }
  return resources;
}

inline std::vector<LinkId> links(std::initializer_list<int> numbers) {
  std::vector<LinkId> path;
  for (const int number : numbers) path.push_back(LinkId(number));
  return path;
}

inline OpId send_bytes(Builder& b, std::initializer_list<int> path, double bytes, Time latency = {}) {
  return b.transfer(links(path), Bytes{bytes}, latency, Category::all_to_all, {b.name("send")});
}

inline constexpr int kRandomServers = 3, kRandomLinks = 5;

/// Link capacities between 1 and 64 GB/s.
inline Resources random_machine(Random& random) {
  Resources resources = machine(kRandomServers, {1, 1, 1, 1, 1});
  for (Bandwidth& capacity : resources.capacity) capacity = from_GBps(1 + 63 * random.uniform());
  return resources;
}

/// One to three different links.
inline std::vector<LinkId> random_path(Random& random) {
  std::vector<LinkId> path;
  for (auto hops = 1 + random.below(3); path.size() < hops;) {
    const auto link = LinkId(random.below(kRandomLinks));
    if (std::find(path.begin(), path.end(), link) == path.end()) path.push_back(link);
  }
  return path;
}

/// Up to 1 MB (every eighth moves nothing), up to 2 us latency (every fourth none), every fourth with a cap; weights 1 to 3.
inline OpId random_transfer(Builder& b, Random& random) {
  const Bytes bytes{random.below(8) == 0 ? 0.0 : 1e6 * random.uniform()};
  const Time latency = random.below(4) == 0 ? Time{0} : from_us(2 * random.uniform());
  const Bandwidth cap = random.below(4) == 0 ? from_GBps(1 + 9 * random.uniform()) : Bandwidth{};
  return b.transfer(random_path(random), bytes, latency, Category::all_to_all, {b.name("send")}, cap,
                    1 + random.below(3));
}

inline OpId random_op(Builder& b, Random& random) {
  const auto kind = random.below(8);
  if (kind == 0) return b.join({b.name("join")});
  if (kind < 5) return random_transfer(b, random);
  const auto server = ServerId(random.below(kRandomServers));
  const Time duration = random.below(8) == 0 ? Time{0} : from_us(20 * random.uniform());
  return b.compute(server, duration, Category::attention, {b.name("compute")});
}

/// 2 to 60 ops of all kinds; each waits for up to three earlier ones.
inline Program random_program(Random& random) {
  Builder b;
  const auto ops = 2 + random.below(59);
  for (std::uint32_t i = 0; i < ops; ++i) {
    const OpId op = random_op(b, random);
    for (auto edges = i == 0 ? 0 : random.below(4); edges > 0; --edges) b.order(OpId{random.below(i)}, op);
  }
  return b.seal();
}

/// what() of the exception that `action` throws; "" if it throws none.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// All ids of a program, for range-for.
inline std::vector<OpId> ops_of(const Program& program) {
  std::vector<OpId> ops;
  for (std::size_t i = 0; i < program.size(); ++i) ops.push_back(OpId(i));
  return ops;
}

}  // namespace moe
