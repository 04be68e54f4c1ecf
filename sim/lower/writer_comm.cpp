// Collectives and transfers of the writer.
#include <fmt/core.h>

#include <algorithm>

#include "cost/all_to_all.hpp"
#include "cost/ring.hpp"
#include "lower/traffic.hpp"
#include "lower/writer.hpp"
#include "network/closed_form.hpp"
#include "network/fabric.hpp"

namespace moe {
CollectivePolicy Writer::policy_for(int ranks) const {
  CollectivePolicy p = case_.stack.comm.policy;
  const OneShot* best = nullptr;
  for (const OneShot& o : case_.stack.comm.one_shot)
    if (o.ranks <= ranks && (best == nullptr || o.ranks > best->ranks)) best = &o;
  if (best == nullptr) p.custom = p.best_of_both = false;
  else p.one_shot_t0_us = best->t0_us, p.one_shot_GBps = best->rate_GBps * options_.tweaks.links;
  if (best != nullptr && best->ranks != ranks && p.custom)
    notes_.insert(fmt::format("stack {}: its own all-reduce was measured on {} GPUs, its constants are used for {}",
                              case_.stack.name, best->ranks, ranks));
  return p;
}

const Communicator& Writer::communicator_of(const std::vector<int>& gpus) {
  const auto found = communicators_.find(gpus);
  if (found != communicators_.end()) return found->second;
  return communicators_.emplace(gpus, communicator(*case_.machine, *case_.routes, gpus)).first->second;
}

const CollectiveCost& Writer::cost_of(const Communicator& comm, const Item& item) {
  const auto key = std::make_tuple(&comm, static_cast<int>(item.op), item.bytes);
  const auto found = collectives_.find(key);
  if (found != collectives_.end()) return found->second;
  const CollectivePolicy policy = policy_for(comm.ranks());
  const CollectiveCost cost = moe::collective(comm_cost_, comm, item.op, item.bytes, policy, static_cast<int>(item.rows));
  CollectiveRequest request;
  request.op = item.op, request.gpus = comm.gpus, request.bytes = item.bytes, request.policy = policy;
  const double links_us =
      as_links_allow(*case_.machine, *case_.routes, comm_cost_, request, cost, options_.tweaks.links).time_us;
  if (constexpr double kWorthSaying = 1.05; links_us > kWorthSaying * cost.time_us)
    notes_.insert(fmt::format("stack {}: its own all-reduce of {:.0f} B takes {:.1f} us by the constants that were measured for it; "
                              "sent as flows, the links of {} would need {:.1f} us, which is not counted",
                              case_.stack.name, item.bytes, cost.time_us, case_.machine->name, links_us));
  return collectives_.emplace(key, cost).first->second;
}

void Writer::collective(const std::vector<int>& members, const std::vector<std::vector<int>>& groups, std::size_t which,
                        int micro, const Item& item, int layer) {
  const Communicator& comm = communicator_of(groups[which]);
  const CollectiveCost& cost = cost_of(comm, item);
  const double us = cost.time_us / faster(item.category);
  if (is_counted(members.front(), micro)) {
    if (item.use < 0) item.use = use_of(std::string(name_of(item.op)) + " " + cost.implementation);
    count(item.use, us, cost.spread, !cost.in_range, false);
    uses_[static_cast<std::size_t>(item.use)].reason = cost.reason;
  }
  OpId arrived = kNoOp;
  if (members.size() > 1) {
    arrived = builder_.join({});
    facts_.push_back({});
    for (const int m : members)
      if (chain(m, micro).main != kNoOp) builder_.order(chain(m, micro).main, arrived);
  }
  if (arrived != kNoOp)
    for (const int m : members) chain(m, micro).main = arrived;
  const Stream stream = layout_.overlap == Overlap::two_batch ? kComm : kMain;
  const int stage = played_[static_cast<std::size_t>(members.front())].stage;
  const bool in_flows = comm.ranks() > 1 && us > 0 && !options_.alone && !records() && meets_others(groups, stage, cost);
  if (in_flows) collective_as_flows(members, groups, which, micro, item, layer, cost);
  else add_ring_traffic(*case_.routes, comm, cost.wire_bytes_per_hop, link_bytes_);
  for (const int m : members) {
    if (!in_flows) append(m, micro, stream, item, us, layer);
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
                      const Item& item, int layer) {
  const Stream stream = layout_.overlap == Overlap::two_batch ? kComm : kMain;
  const std::size_t n = members.size();
  std::vector<int> gpus;
  for (const int m : members) gpus.push_back(played_[static_cast<std::size_t>(m)].gpu);
  const Communicator& comm = communicator_of(gpus);
  const auto parts = [&](double b) { return all_to_all_parts(comm_cost_, comm, b * static_cast<double>(n)); };
  double most = 0;
  for (const auto& row : bytes) most = std::max(most, *std::max_element(row.begin(), row.end()));
  const double launch_us = parts(most).before_us;
  std::vector<OpId> launched, done;
  for (const int m : members) {
    launched.push_back(append(m, micro, stream, item, launch_us / faster(item.category), layer));
    done.push_back(builder_.join({}));
    facts_.push_back({});
    builder_.order(launched.back(), done.back());
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j || bytes[i][j] <= 0) continue;
      const AllToAllParts message = parts(bytes[i][j]);
      const Label label{static_cast<std::uint16_t>(label_of(item)), static_cast<std::int16_t>(layer),
                        static_cast<std::int16_t>(members[i]), static_cast<std::int16_t>(members[j])};
      const OpId flow = builder_.transfer(message_path(*case_.machine, *case_.routes, worst_hop(comm), gpus[i], gpus[j]),
                                          Bytes{message.wire_bytes}, Time{0}, booked(item.category), label,
                                          Bandwidth{message.wire_bytes / (message.message_us * 1e-6)});
      facts_.push_back({});
      builder_.order(launched[i], flow);
      builder_.order(launched[j], flow);
      builder_.order(flow, done[i]);
      builder_.order(flow, done[j]);
    }
  for (std::size_t i = 0; i < n; ++i) chain(members[i], micro).main = done[i];
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
