// Collectives and transfers of the writer.
#include <algorithm>

#include "lower/traffic.hpp"
#include "lower/writer.hpp"
#include "network/fabric.hpp"
#include "network/together.hpp"

namespace moe {
namespace {

/// The stack's policy with the one-shot constants for this many ranks (the nearest measured count from below).
CollectivePolicy policy_for(const Stack& stack, int ranks, double faster) {
  CollectivePolicy p = stack.comm.policy;
  const OneShot* best = nullptr;
  for (const OneShot& o : stack.comm.one_shot)
    if (o.ranks <= ranks && (best == nullptr || o.ranks > best->ranks)) best = &o;
  if (best == nullptr) p.custom = p.best_of_both = false;
  else p.one_shot_t0_us = best->t0_us, p.one_shot_GBps = best->rate_GBps * faster;
  return p;
}

}  // namespace

const Communicator& Writer::communicator_of(const std::vector<int>& gpus) {
  const auto found = communicators_.find(gpus);
  if (found != communicators_.end()) return found->second;
  return communicators_.emplace(gpus, communicator(*case_.machine, *case_.routes, gpus)).first->second;
}

const CollectiveCost& Writer::cost_of(const Communicator& comm, const Item& item) {
  const auto key = std::make_tuple(&comm, static_cast<int>(item.op), item.bytes);
  const auto found = collectives_.find(key);
  if (found != collectives_.end()) return found->second;
  const CollectivePolicy policy = policy_for(case_.stack, comm.ranks(), options_.tweaks.links);
  return collectives_.emplace(key, moe::collective(comm_cost_, comm, item.op, item.bytes, policy, static_cast<int>(item.rows)))
      .first->second;
}

const std::vector<double>& Writer::slowdown(const std::vector<std::vector<int>>& groups, const Item& item) {
  const auto key = std::make_tuple(&groups, static_cast<int>(item.op), item.bytes);
  const auto found = slowdowns_.find(key);
  if (found != slowdowns_.end()) return found->second;
  std::vector<double> out(groups.size(), 1.0);
  if (groups.size() > 1) {
    std::vector<CollectiveRequest> requests;
    for (const std::vector<int>& gpus : groups) {
      CollectiveRequest r;
      r.op = item.op;
      r.gpus = gpus;
      r.bytes = item.bytes;
      r.policy = policy_for(case_.stack, static_cast<int>(gpus.size()), options_.tweaks.links);
      requests.push_back(std::move(r));
    }
    const std::vector<TogetherResult> together = run_together(*case_.machine, *case_.routes, comm_cost_, requests);
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (together[i].shares) out[i] = std::max(1.0, together[i].together_us / together[i].alone_us);
  }
  return slowdowns_.emplace(key, std::move(out)).first->second;
}

void Writer::collective(const std::vector<int>& members, const std::vector<std::vector<int>>& groups, std::size_t which,
                        int micro, const Item& item, int layer) {
  const Communicator& comm = communicator_of(groups[which]);
  const CollectiveCost& cost = cost_of(comm, item);
  const double alone_us = cost.time_us / faster(item.category);
  const double us = alone_us * (options_.alone ? 1.0 : slowdown(groups, item)[which]);
  if (is_counted(members.front(), micro)) shared_us_ += us - alone_us;
  if (is_counted(members.front(), micro)) {
    if (item.use < 0) item.use = use_of(std::string(name_of(item.op)) + " " + cost.implementation);
    count(item.use, us, cost.spread, !cost.in_range, false);
    uses_[static_cast<std::size_t>(item.use)].reason = cost.reason;
  }
  add_ring_traffic(*case_.routes, comm, cost.wire_bytes_per_hop, link_bytes_);
  OpId arrived = kNoOp;
  if (members.size() > 1) {
    arrived = builder_.join({});
    facts_.push_back({});
    for (const int m : members)
      if (chain(m, micro).main != kNoOp) builder_.order(chain(m, micro).main, arrived);
  }
  const Stream stream = layout_.overlap == Overlap::two_batch ? kComm : kMain;
  for (const int m : members) {
    if (arrived != kNoOp) chain(m, micro).main = arrived;
    append(m, micro, stream, item, us, layer);
    if (records()) {
      Call& call = calls_[last_call_[static_cast<std::size_t>(m)]];
      call.group = groups[which];
      call.path = cost.implementation;
    }
    if (case_.stack.l2_prefetch)
      chain(m, micro).prefetched_bytes = std::min(gpu_.l2_bytes, us * 1e-6 * gpu_.dram_Bps);
  }
}

void Writer::exchange(const std::vector<int>& members, int micro, const std::vector<std::vector<double>>& bytes,
                      const Item& item, double launch_us, int layer) {
  const Stream stream = layout_.overlap == Overlap::two_batch ? kComm : kMain;
  std::vector<OpId> launched, done;
  for (const int m : members) {
    launched.push_back(append(m, micro, stream, item, launch_us / faster(item.category), layer));
    done.push_back(builder_.join({}));
    facts_.push_back({});
    builder_.order(launched.back(), done.back());
  }
  for (std::size_t i = 0; i < members.size(); ++i)
    for (std::size_t j = 0; j < members.size(); ++j) {
      if (i == j || bytes[i][j] <= 0) continue;
      const Played &from = played_[static_cast<std::size_t>(members[i])], &to = played_[static_cast<std::size_t>(members[j])];
      const Route& route = case_.routes->between_gpus(from.gpu, to.gpu);
      const std::vector<LinkId> path = path_of(*case_.machine, route);
      const Label label{static_cast<std::uint16_t>(label_of(item)), static_cast<std::int16_t>(layer),
                        static_cast<std::int16_t>(members[i]), static_cast<std::int16_t>(members[j])};
      const OpId flow = builder_.transfer(path, Bytes{bytes[i][j]}, to_time(route.latency), booked(item.category), label);
      facts_.push_back({});
      builder_.order(launched[i], flow);
      builder_.order(launched[j], flow);
      builder_.order(flow, done[i]);
      builder_.order(flow, done[j]);
    }
  for (std::size_t i = 0; i < members.size(); ++i) chain(members[i], micro).main = done[i];
  if (is_counted(members.front(), micro)) count(use_of(item.name + " by flows"), launch_us, 0, false, false);
}

void Writer::hand_off(int from_stage, int micro, double bytes) {
  Item item;
  item.name = "hand-off";
  item.call.op_class = "send";
  item.category = Category::pipeline;
  const std::vector<int>&senders = stage_ranks(from_stage), &receivers = stage_ranks(from_stage + 1);
  const int groups = layout_.dp, lanes = layout_.tp;
  for (const int r : senders) append(r, micro, kMain, item, (comm_cost_.t_base_us + case_.stack.comm.pipeline_us) / faster(item.category), -1);
  std::vector<OpId> arrived;
  for (const int r : receivers) {
    arrived.push_back(builder_.join({}));
    facts_.push_back({});
    if (chain(r, micro).main != kNoOp) builder_.order(chain(r, micro).main, arrived.back());
  }
  for (int g = 0; g < groups; ++g)
    for (int t = 0; t < lanes; ++t) {
      const std::size_t at = folded_ ? 0 : static_cast<std::size_t>(g * lanes + t);
      const int from = case_.experiment.gpus[static_cast<std::size_t>(layout_.rank(from_stage, g, t))];
      const int to = case_.experiment.gpus[static_cast<std::size_t>(layout_.rank(from_stage + 1, g, t))];
      const Route& route = case_.routes->between_gpus(from, to);
      const std::vector<LinkId> path = path_of(*case_.machine, route);
      const Label label{static_cast<std::uint16_t>(label_of(item)), -1, static_cast<std::int16_t>(senders[at]), static_cast<std::int16_t>(receivers[at])};
      const OpId flow = builder_.transfer(path, Bytes{bytes}, to_time(route.latency), item.category, label);
      facts_.push_back({});
      builder_.order(chain(senders[at], micro).main, flow);
      builder_.order(flow, arrived[at]);
    }
  for (std::size_t i = 0; i < receivers.size(); ++i) chain(receivers[i], micro).main = arrived[i];
}

void Writer::next_round(int micro) {
  if (layout_.pp == 1) return;  // one stage: the rank's own order already says so
  const OpId token = builder_.join({});
  facts_.push_back({});
  for (const int r : stage_ranks(layout_.pp - 1)) builder_.order(chain(r, micro).main, token);
  for (const int r : stage_ranks(0)) {
    builder_.order(chain(r, micro).main, token);
    chain(r, micro).main = token;
  }
}

}  // namespace moe
