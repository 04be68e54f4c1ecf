#include "network/collective_flows.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "network/fabric.hpp"

namespace moe {
namespace {

Category category_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce: return Category::all_reduce;
    case CollectiveOp::all_to_all: return Category::all_to_all;
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter: return Category::all_gather;
  }
  return Category::all_reduce;
}

/// What the stack and NCCL would take.
Algorithm resolved(const CollectiveRequest& r, const CommCost& cost, const Communicator& comm) {
  if (r.algorithm != Algorithm::automatic || r.op != CollectiveOp::all_reduce) return r.algorithm;
  const std::string chosen = collective(cost, comm, r.op, r.bytes, r.policy).implementation;
  return chosen == "one-shot" ? Algorithm::one_shot : chosen == "two-shot" ? Algorithm::two_shot : Algorithm::ring;
}

}  // namespace

std::vector<OpId> CollectiveWriter::write(const CollectiveRequest& r, std::span<const OpId> arrived, int layer) {
  const Communicator comm = communicator(machine_, routes_, r.gpus);
  category_ = category_of(r.op);
  name_ = builder_.name(moe::name_of(r.op));
  layer_ = layer;
  const OpId start = gathered(arrived);
  if (comm.ranks() < 2) return {start};
  if (r.op == CollectiveOp::all_to_all) return all_to_all(r, start);
  switch (resolved(r, cost_, comm)) {
    case Algorithm::one_shot: return shots(r, false, start);
    case Algorithm::two_shot: return shots(r, true, start);
    case Algorithm::tree: return tree(r, start);
    case Algorithm::hierarchical: return hierarchical(r, start);
    case Algorithm::gather: return gather(r, start);
    case Algorithm::copy_ring: return ring(comm, copy_ring_plan(r.engine, comm, r.op, r.bytes), start);
    case Algorithm::automatic:
    case Algorithm::ring: break;
  }
  return nccl_ring(comm, r.op, r.bytes, r.policy, start);
}

OpId CollectiveWriter::gathered(std::span<const OpId> ops) {
  const OpId all = builder_.join({name_, static_cast<std::int16_t>(layer_)});
  for (const OpId op : ops) builder_.order(op, all);
  return all;
}

OpId CollectiveWriter::delay(double us, int gpu) {
  return builder_.transfer({}, Bytes{}, from_us(us), category_,
                           {name_, static_cast<std::int16_t>(layer_), static_cast<std::int16_t>(gpu)});
}

CollectiveWriter::Sent CollectiveWriter::send(int from, int to, Transport transport, double bytes, double alone_us,
                                              double delay_us, int weight, bool read) {
  const auto path = message_path(machine_, routes_, transport, from, to);
  const Label label{name_, static_cast<std::int16_t>(layer_), static_cast<std::int16_t>(from),
                    static_cast<std::int16_t>(to)};
  const Bandwidth cap{alone_us > 0 ? bytes / (alone_us * 1e-6) : 0};
  const OpId flow = builder_.transfer(path, Bytes{bytes}, Time{0}, category_, label, cap,
                                      static_cast<std::uint32_t>(weight));
  reads_.resize(index(flow) + 1);
  reads_[index(flow)] = read;
  const OpId arrives = delay(delay_us, to);
  builder_.order(flow, arrives);
  return {flow, arrives};
}

std::vector<OpId> CollectiveWriter::ring(const Communicator& comm, const RingPlan& plan, OpId start) {
  const std::size_t n = comm.gpus.size();
  std::vector<OpId> may_send, last_flow(n, kNoOp), arrived(n, kNoOp), done;
  for (const int gpu : comm.gpus) {
    may_send.push_back(delay(plan.before_us, gpu));
    builder_.order(start, may_send.back());
  }
  for (int step = 0; step < plan.steps; ++step) {
    std::vector<OpId> arriving(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t to = (i + 1) % n;
      const Sent sent = send(comm.gpus[i], comm.gpus[to], comm.hops[i], plan.wire_bytes, plan.send_us,
                             plan.delay_us, plan.streams);
      builder_.order(may_send[i], sent.flow);
      if (last_flow[i] != kNoOp) builder_.order(last_flow[i], sent.flow);
      last_flow[i] = sent.flow;
      arriving[to] = sent.arrived;
    }
    may_send = arriving;
  }
  for (std::size_t i = 0; i < n; ++i) {
    done.push_back(delay(plan.after_us, comm.gpus[i]));
    builder_.order(may_send[i], done.back());
    builder_.order(last_flow[i], done.back());
  }
  return done;
}

std::vector<OpId> CollectiveWriter::nccl_ring(const Communicator& comm, CollectiveOp op, double bytes,
                                              const CollectivePolicy& policy, OpId start) {
  if (comm.ranks() < 2) return {start};
  return ring(comm, ring_plan(ring_protocol(policy, comm, op, bytes), cost_, comm, op, bytes), start);
}

std::vector<OpId> CollectiveWriter::gather(const CollectiveRequest& r, OpId start) {
  const Communicator comm = communicator(machine_, routes_, r.gpus);
  const auto scattered = nccl_ring(comm, CollectiveOp::reduce_scatter, r.bytes, r.policy, start);
  return nccl_ring(comm, CollectiveOp::all_gather, r.bytes, r.policy, gathered(scattered));
}

std::vector<OpId> CollectiveWriter::hierarchical(const CollectiveRequest& r, OpId start) {
  const auto islands = islands_of(machine_, routes_, r.gpus);
  const auto groups = across(islands);
  const auto all_islands = [&](CollectiveOp op, OpId from) {
    std::vector<OpId> ends;
    for (const auto& island : islands)
      for (const OpId end : nccl_ring(communicator(machine_, routes_, island), op, r.bytes, r.policy, from)) ends.push_back(end);
    return ends;
  };
  const OpId scattered = gathered(all_islands(CollectiveOp::reduce_scatter, start));
  std::vector<OpId> reduced;
  for (const auto& group : groups)
    for (const OpId end :
         nccl_ring(group_communicator(machine_, routes_, group, groups.size()), CollectiveOp::all_reduce,
                   r.bytes / static_cast<double>(groups.size()), r.policy, scattered))
      reduced.push_back(end);
  return all_islands(CollectiveOp::all_gather, gathered(reduced));
}

std::vector<OpId> CollectiveWriter::tree(const CollectiveRequest& r, OpId start) {
  const Communicator comm = communicator(machine_, routes_, r.gpus);
  const TreePlan plan = tree_plan(ring_protocol(r.policy, comm, r.op, r.bytes), cost_, comm, r.bytes);
  const OpId launched = delay(plan.before_us, r.gpus.front());
  builder_.order(start, launched);
  std::vector<OpId> done = chain(comm, plan, false, launched);
  for (const OpId end : chain(comm, plan, true, launched)) done.push_back(end);
  const OpId all = gathered(done);
  return std::vector<OpId>(r.gpus.size(), all);
}

/// Chunk by chunk along the GPUs in order, and back.
std::vector<OpId> CollectiveWriter::chain(const Communicator& comm, const TreePlan& plan, bool backwards, OpId start) {
  const std::size_t n = comm.gpus.size(), hops = 2 * (n - 1);
  std::vector<OpId> last_flow(hops, kNoOp), ends;
  for (int chunk = 0; chunk < plan.chunks; ++chunk) {
    OpId arrived = start;
    for (std::size_t hop = 0; hop < hops; ++hop) {
      std::size_t from = hop < n - 1 ? hop : hops - hop, to = hop < n - 1 ? hop + 1 : hops - hop - 1;
      if (backwards) from = n - 1 - from, to = n - 1 - to;
      const Transport transport = comm.hops[std::min(from, to)];
      const Sent sent =
          send(comm.gpus[from], comm.gpus[to], transport, plan.chunk_bytes, plan.send_us, plan.delay_us);
      builder_.order(arrived, sent.flow);
      if (last_flow[hop] != kNoOp) builder_.order(last_flow[hop], sent.flow);
      last_flow[hop] = sent.flow;
      arrived = sent.arrived;
    }
    ends.push_back(arrived);
  }
  return ends;
}

}  // namespace moe
