#include "lower/writer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lower/traffic.hpp"

namespace moe {
namespace {

/// The stack's policy with the one-shot constants for this many ranks (the nearest measured count from below).
CollectivePolicy policy_for(const Stack& stack, int ranks) {
  CollectivePolicy p = stack.comm.policy;
  const OneShot* best = nullptr;
  for (const OneShot& o : stack.comm.one_shot)
    if (o.ranks <= ranks && (best == nullptr || o.ranks > best->ranks)) best = &o;
  if (best == nullptr) p.custom = p.best_of_both = false;
  else p.one_shot_t0_us = best->t0_us, p.one_shot_GBps = best->rate_GBps;
  return p;
}

CommCost faster_links(CommCost c, double factor) {
  c.wire_GBps *= factor;
  c.ll128_rate_GBps *= factor;
  for (auto& [name, t] : c.transport) t.rate_simple_GBps *= factor;
  for (auto& [ranks, rate] : c.a2a_rate_GBps) rate *= factor;
  return c;
}

}  // namespace

Writer::Writer(const Case& c, const GpuSpec& gpu, const LowerOptions& options)
    : case_(c), gpu_(gpu), options_(options), comm_cost_(faster_links(c.profile.comm, options.tweaks.links)),
      link_bytes_(c.machine->links.size(), 0.0) {
  const auto& gpus = c.experiment.gpus;
  if (gpus.size() > 1) comm_ = communicator(*c.machine, *c.routes, gpus);
  policy_ = policy_for(c.stack, static_cast<int>(gpus.size()));
  policy_.one_shot_GBps *= options.tweaks.links;
  bool identical = true;
  for (std::size_t r = 0; r < gpus.size(); ++r) identical = identical && speed(static_cast<int>(r)) == speed(0);
  if (!identical) options_.fold = false;
  ranks_.resize(options_.fold ? 1 : gpus.size());
}

double Writer::speed(int rank) const {
  const auto& all = case_.machine->gpu_speed;
  const auto gpu = static_cast<std::size_t>(case_.experiment.gpus[static_cast<std::size_t>(rank)]);
  return gpu < all.size() ? all[gpu] : 1.0;
}

std::uint16_t Writer::name_of_item(const std::string& name) { return builder_.name(name); }

PathUse& Writer::use(const std::string& path) {
  PathUse& u = uses_[path];
  u.path = path;
  return u;
}

void Writer::append(int rank, Stream stream, const Item& item, Time duration, int layer) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  const Label label{name_of_item(item.name), static_cast<std::int16_t>(layer), static_cast<std::int16_t>(rank), -1};
  const OpId op = builder_.compute(server(rank, stream), duration, item.category, label);
  OpId& last = stream == kMain ? r.main : stream == kAux ? r.aux : r.host;
  // The second stream starts from where the main stream stands when it is first used.
  const OpId before = stream == kAux && last == kNoOp ? r.main : last;
  if (before != kNoOp) builder_.order(before, op);
  if (stream == kMain && r.host_pending) {
    builder_.order(r.host, op);
    r.host_pending = false;
  }
  last = op;
  facts_.push_back({item.cost.flop, item.cost.dram_bytes, item.cost.compute, item.replicated});
}

void Writer::kernel(const Item& item, int layer) {
  const double faster = options_.tweaks.faster[static_cast<std::size_t>(item.category)];
  const double us = item.cost.time_us / faster;
  if (!item.path.empty()) {
    PathUse& u = use(item.path);
    u.calls += item.part ? 0 : 1;
    u.time_us += us;
    u.spread = std::max(u.spread, item.cost.spread);
    u.outside += item.cost.in_range || item.part ? 0 : 1;
  }
  if (item.aux_stream) aux_memory_us_ += item.cost.memory_us / faster;
  Item gap;
  gap.name = "graph gap";
  gap.category = Category::host;
  const bool graph = case_.stack.launch.mode != GraphMode::eager;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const int rank = static_cast<int>(r);
    const Stream stream = item.aux_stream ? kAux : kMain;
    if (item.timed_alone && graph && case_.stack.launch.node_gap_us > 0)
      append(rank, stream, gap, from_us(case_.stack.launch.node_gap_us / options_.tweaks.faster[static_cast<std::size_t>(Category::host)]), layer);
    append(rank, stream, item, from_us(us / speed(rank)), layer);
  }
}

void Writer::join_aux() {
  for (Rank& r : ranks_) {
    if (r.aux == kNoOp) continue;
    const OpId both = builder_.join({});
    facts_.push_back({});
    builder_.order(r.aux, both);
    builder_.order(r.main, both);
    r.main = both;
    r.aux = kNoOp;
  }
}

void Writer::collective(const Item& item, int layer) {
  const auto key = std::make_pair(static_cast<int>(item.op), item.bytes);
  auto found = collectives_.find(key);
  if (found == collectives_.end())
    found = collectives_.emplace(key, moe::collective(comm_cost_, comm_, item.op, item.bytes, policy_,
                                                      case_.experiment.batch.sequences)).first;
  const CollectiveCost& cost = found->second;
  const double us = cost.time_us / options_.tweaks.faster[static_cast<std::size_t>(item.category)];
  PathUse& u = use(std::string(moe::name_of(item.op)) + " " + cost.implementation);
  ++u.calls;
  u.time_us += us;
  u.spread = cost.spread;
  u.outside += cost.in_range ? 0 : 1;
  u.reason = cost.reason;
  add_ring_traffic(*case_.routes, comm_, cost.wire_bytes_per_hop, link_bytes_);
  OpId arrived = kNoOp;
  if (ranks_.size() > 1) {
    arrived = builder_.join({});
    facts_.push_back({});
    for (const Rank& r : ranks_)
      if (r.main != kNoOp) builder_.order(r.main, arrived);
  }
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (arrived != kNoOp) ranks_[r].main = arrived;
    append(static_cast<int>(r), kMain, item, from_us(us), layer);
  }
}

void Writer::write(const Item& item, int layer) {
  if (item.what == Item::What::collective) {
    join_aux();
    collective(item, layer);
  } else {
    kernel(item, layer);
  }
}

double Writer::take_aux_memory_us() { return std::exchange(aux_memory_us_, 0.0); }

void Writer::host_launch(const char* name, double us, int layer) {
  Item item;
  item.name = name;
  item.category = Category::host;
  us /= options_.tweaks.faster[static_cast<std::size_t>(Category::host)];
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    append(static_cast<int>(r), kHost, item, from_us(us), layer);
    ranks_[r].host_pending = true;
  }
}

void Writer::host_gap(double us) {
  Item item;
  item.name = "host gap";
  item.category = Category::host;
  us /= options_.tweaks.faster[static_cast<std::size_t>(Category::host)];
  join_aux();
  if (us > 0)
    for (std::size_t r = 0; r < ranks_.size(); ++r) append(static_cast<int>(r), kMain, item, from_us(us), -1);
}

Lowered Writer::finish() {
  Lowered out;
  out.program = builder_.seal();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const std::string gpu = "gpu" + std::to_string(case_.experiment.gpus[r]);
    for (const char* stream : {"", " aux", " host"}) out.resources.server_names.push_back(gpu + stream);
  }
  for (const Link& link : case_.machine->links) {
    out.resources.capacity.push_back(link.capacity * options_.tweaks.links);
    out.resources.link_names.push_back(link.name);
  }
  out.facts.reserve(facts_.size());
  for (const OpFacts& f : facts_) out.facts.push_back(f);
  for (auto& [name, u] : uses_) out.paths.push_back(std::move(u));
  out.link_bytes = std::move(link_bytes_);
  out.ranks = static_cast<int>(case_.experiment.gpus.size());
  out.folded = options_.fold && out.ranks > 1;
  return out;
}

}  // namespace moe
