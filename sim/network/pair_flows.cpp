// Collectives in which every GPU talks to every other one: all-to-all by send/receive, one-shot and two-shot kernels.
#include <algorithm>

#include "base/check.hpp"
#include "cost/all_to_all.hpp"
#include "network/collective_flows.hpp"

namespace moe {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix uniform(std::size_t n, double value) {
  Matrix m(n, std::vector<double>(n, value));
  for (std::size_t i = 0; i < n; ++i) m[i][i] = 0;
  return m;
}

double largest(const Matrix& m) {
  double most = 0;
  for (const auto& row : m) most = std::max(most, *std::max_element(row.begin(), row.end()));
  return most;
}

}  // namespace

/// All pairs at once; a rank is done when it has sent and received everything.
std::vector<OpId> CollectiveWriter::exchange(const Communicator& comm, const Matrix& bytes, const Matrix& alone_us,
                                             double before_us, bool reads, OpId start) {
  const std::size_t n = comm.gpus.size();
  const OpId launched = delay(before_us, comm.gpus.front());
  builder_.order(start, launched);
  std::vector<std::vector<OpId>> ends(n);
  const Transport transport = worst_hop(comm);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (bytes[i][j] <= 0) continue;
      const Sent sent = send(comm.gpus[i], comm.gpus[j], transport, bytes[i][j], alone_us[i][j], 0, 1, reads);
      builder_.order(launched, sent.flow);
      ends[i].push_back(sent.flow);
      ends[j].push_back(sent.arrived);
    }
  std::vector<OpId> done;
  for (auto& end : ends) {
    end.push_back(launched);
    done.push_back(gathered(end));
  }
  return done;
}

/// Grouped send/receive. A message moves as the closed form says for its size; larger ones do not slow smaller ones
/// down, since NCCL gives every peer its own channels.
std::vector<OpId> CollectiveWriter::all_to_all(const CollectiveRequest& r, OpId start) {
  const Communicator comm = communicator(machine_, routes_, r.gpus);
  const std::size_t n = r.gpus.size();
  const Matrix sizes = r.pair_bytes.empty() ? uniform(n, r.bytes / static_cast<double>(n)) : r.pair_bytes;
  MOE_CHECK(sizes.size() == n, "a byte matrix has a row per rank");
  Matrix alone = uniform(n, 0), wire = uniform(n, 0);
  const AllToAllParts start_cost = all_to_all_parts(cost_, comm, 0);
  double before_us = start_cost.before_us;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j || sizes[i][j] <= 0) continue;
      const AllToAllParts parts = all_to_all_parts(cost_, comm, sizes[i][j] * static_cast<double>(n));
      alone[i][j] = parts.message_us;
      wire[i][j] = parts.wire_bytes;
      before_us = std::max(before_us, parts.before_us);
    }
  return exchange(comm, wire, alone, before_us, r.pulls, start);
}

/// One-shot: every rank reads all peers' buffers. Two-shot: it reads its share of them, then everyone's result.
std::vector<OpId> CollectiveWriter::shots(const CollectiveRequest& r, bool two, OpId start) {
  const Communicator comm = communicator(machine_, routes_, r.gpus);
  const auto n = static_cast<double>(r.gpus.size());
  MOE_CHECK(r.policy.one_shot_GBps > 0, "a custom all-reduce has a rate");
  const double message = two ? r.bytes / n : r.bytes;
  const Matrix bytes = uniform(r.gpus.size(), message);
  const Matrix alone = uniform(r.gpus.size(), (n - 1) * message / (r.policy.one_shot_GBps * 1e3));
  MOE_CHECK(largest(bytes) > 0, "there is something to send");
  const auto first = exchange(comm, bytes, alone, r.policy.one_shot_t0_us, true, start);
  if (!two) return first;
  return exchange(comm, bytes, alone, r.policy.two_shot_extra_us, true, gathered(first));
}

}  // namespace moe
