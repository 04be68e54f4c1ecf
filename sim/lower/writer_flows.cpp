// Collectives whose links other traffic can cross at the same time: flows instead of a closed form.
//
// A ring of n GPUs becomes n flows, one per hop, with all bytes of the hop, at the rate at which its steps send; what its
// steps wait besides comes before. So nothing is lost while nobody else is there, and what others cost is booked on the link.
// Rings that start together, as groups of one plan do, send in step with each other: their sends meet as these flows meet.
#include <algorithm>

#include "cost/algorithms.hpp"
#include "cost/one_shot.hpp"
#include "cost/ring.hpp"
#include "lower/writer.hpp"
#include "network/fabric.hpp"

namespace moe {
namespace {

struct Message {
  std::size_t from = 0, to = 0;  ///< positions in the group
  double bytes = 0;
};

bool is_ring(const CollectiveCost& cost) { return cost.implementation.starts_with("ring"); }

/// Neighbours of a ring, or everyone with everyone.
std::vector<Message> messages_of(const Communicator& comm, const CollectiveCost& cost) {
  const std::size_t n = comm.gpus.size();
  std::vector<Message> all;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 1; k < n; ++k) {
      if (is_ring(cost) && k > 1) break;
      all.push_back({i, (i + k) % n, cost.wire_bytes_per_hop / (is_ring(cost) ? 1.0 : static_cast<double>(n - 1))});
    }
  return all;
}

bool overlap(const std::set<LinkId>& a, const std::set<LinkId>& b) {
  return std::any_of(a.begin(), a.end(), [&](LinkId l) { return b.count(l) != 0; });
}

}  // namespace

std::set<LinkId> Writer::limited(const std::vector<LinkId>& path) const {
  const Resources links = fabric(*case_.machine);
  std::set<LinkId> out;
  for (const LinkId l : path)
    if (links.capacity[l] < kUnlimited) out.insert(l);
  return out;
}

std::set<LinkId> Writer::links_of(const std::vector<int>& gpus, const CollectiveCost& cost) {
  std::set<LinkId> out;
  if (gpus.size() < 2) return out;
  const Communicator& comm = communicator_of(gpus);
  for (const Message& m : messages_of(comm, cost)) {
    const Transport t = is_ring(cost) ? comm.hops[m.from] : worst_hop(comm);
    out.merge(limited(message_path(*case_.machine, *case_.routes, t, gpus[m.from], gpus[m.to])));
  }
  return out;
}

/// What other pipeline stages move meanwhile, and what one stage hands to the next.
std::set<LinkId> Writer::links_of_other_stages(int stage, const CollectiveCost& cost) {
  const auto gpu = [&](int s, int g, int t) { return case_.experiment.gpus[static_cast<std::size_t>(layout_.rank(s, g, t))]; };
  std::set<LinkId> out;
  for (int s = 0; s < layout_.pp; ++s)
    for (int g = 0; g < layout_.dp; ++g) {
      std::vector<int> group;
      for (int t = 0; t < layout_.tp; ++t) {
        group.push_back(gpu(s, g, t));
        if (s + 1 < layout_.pp)
          out.merge(limited(path_of(*case_.machine, case_.routes->between_gpus(group.back(), gpu(s + 1, g, t)))));
      }
      if (s != stage) out.merge(links_of(group, cost));
    }
  return out;
}

bool Writer::meets_others(const std::vector<std::vector<int>>& groups, int stage, const CollectiveCost& cost) {
  const auto key = std::make_pair(&groups, is_ring(cost));
  if (const auto found = meets_.find(key); found != meets_.end()) return found->second;
  std::set<LinkId> all;
  bool meets = false;
  for (const std::vector<int>& gpus : groups) {
    std::set<LinkId> mine = links_of(gpus, cost);
    meets = meets || overlap(mine, all);
    all.merge(mine);
  }
  const bool tokens_travel = layout_.experts_across_groups && case_.stack.comm.dispatch_all_to_all;
  meets = meets || (layout_.overlap == Overlap::two_batch && tokens_travel && !all.empty());
  meets = meets || (layout_.pp > 1 && overlap(all, links_of_other_stages(stage, cost)));
  return meets_.emplace(key, meets).first->second;
}

double Writer::moving_us(const Communicator& comm, const Item& item, const CollectiveCost& cost) const {
  const CollectivePolicy policy = policy_for(comm.ranks());
  if (is_ring(cost)) {
    const Protocol p = ring_protocol(policy, comm, item.op, item.bytes);
    const RingPlan plan = ring_plan(p, comm_cost_, comm, item.op, item.bytes);
    return plan.steps * plan.send_us;
  }
  const auto us = cost.implementation == "two-shot" ? two_shot_us : one_shot_us;
  return us(policy, comm.ranks(), item.bytes) - us(policy, comm.ranks(), 0);
}

void Writer::add_flows(const std::vector<int>& members, const std::vector<int>& gpus, const std::vector<OpId>& launched,
                       const Item& item, const CollectiveCost& cost, double us, int layer, OpId done) {
  const Communicator& comm = communicator_of(gpus);
  const auto at = [&](std::size_t i) { return std::min(i, members.size() - 1); };  // folded: one stands for all
  for (const Message& m : messages_of(comm, cost)) {
    const Transport t = is_ring(cost) ? comm.hops[m.from] : worst_hop(comm);
    const Label label{static_cast<std::uint16_t>(label_of(item)), static_cast<std::int16_t>(layer),
                      static_cast<std::int16_t>(members[at(m.from)]), static_cast<std::int16_t>(members[at(m.to)])};
    const OpId flow = builder_.transfer(message_path(*case_.machine, *case_.routes, t, gpus[m.from], gpus[m.to]),
                                        Bytes{m.bytes}, Time{0}, booked(item.category), label,
                                        Bandwidth{m.bytes / (us * 1e-6)},
                                        static_cast<std::uint32_t>(is_ring(cost) ? comm.channels : 1));
    facts_.push_back({});
    builder_.order(launched[at(m.from)], flow);
    if (at(m.from) != at(m.to)) builder_.order(launched[at(m.to)], flow);
    if (done != kNoOp) builder_.order(flow, done);
  }
}

void Writer::collective_as_flows(const std::vector<int>& members, const std::vector<std::vector<int>>& groups,
                                 std::size_t which, int micro, const Item& item, int layer, const CollectiveCost& cost) {
  const Communicator& comm = communicator_of(groups[which]);
  const double moving = std::min(moving_us(comm, item, cost), cost.time_us) / faster(item.category);
  const double still = cost.time_us / faster(item.category) - moving;
  const bool on_own_stream = layout_.overlap == Overlap::two_batch;
  std::vector<OpId> launched, done;
  for (const int m : members) launched.push_back(append(m, micro, on_own_stream ? kComm : kMain, item, still, layer));
  // The communication stream stays taken, so that the other half batch's collective waits its turn.
  for (const int m : members)
    if (on_own_stream) done.push_back(append(m, micro, kComm, item, moving, layer));
  const OpId arrived = builder_.join({});
  facts_.push_back({});
  for (const OpId op : done) builder_.order(op, arrived);
  add_flows(members, groups[which], launched, item, cost, moving, layer, arrived);
  // Folded: the other groups do the same at the same time.
  for (std::size_t g = 0; folded_ && g < groups.size(); ++g)
    if (g != which) add_flows(members, groups[g], launched, item, cost, moving, layer, kNoOp);
  for (const int m : members) chain(m, micro).main = arrived;
}

}  // namespace moe
