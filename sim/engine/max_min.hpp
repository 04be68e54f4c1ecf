// How fast does each flow run when links are shared? Weighted max-min fair rates by progressive filling: all
// rates rise together from zero, each in proportion to its flow's weight; when a link is full, or a flow
// reaches its own limit, the flows concerned stay where they are and the others go on.
//
// Example (the parking lot): links L0 and L1 carry 12 B/s each; flow a crosses both, flow b only L0, flows c
// and d only L1. At 4 B/s L1 is full: a, c, d stop there. b takes what a leaves on L0: 12 - 4 = 8 B/s.
//
// Weights: if c has weight 2, L1 is full at 12 / 4 = 3 B/s per weight: a and d get 3 B/s, c 6, and b 9. A flow of
// weight w gets what w equal flows would get together (a ring of w channels).
//
// The result has a certificate: every flow runs at its limit or crosses a full link on which nobody has a
// larger rate per weight. Which links are full is decided before any flow is touched, all flows that stop in
// one round get one rate per weight, and weights are whole numbers, so their sums are exact: the order of the
// flows cannot matter. Cost: O(rounds x (links + hops of the flows)); a link that cannot be full even with every flow at
// its limit is left out, so flows that nothing but their limits hold back cost O(links + flows).
// Source: Bertsekas, Gallager, Data Networks, 2nd ed., section 6.5.2.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/table.hpp"
#include "engine/capacity_rule.hpp"

namespace moe {

/// What a flow gets.
struct Share {
  double rate_Bps = 0;
  std::uint32_t bottleneck = 0;  ///< position in the path of the full link; means nothing at the flow's limit
};

class MaxMin {
 public:
  /// Allocates nothing later while it is asked for at most `most_flows` at one time.
  MaxMin(std::size_t links, std::size_t most_flows);

  /// One share per flow, in the order of `flows`; valid until the next call. `crossing`: the weight of the flows on each
  /// link, for callers that keep count of it.
  std::span<const Share> solve(std::span<const ActiveFlow> flows, const Table<LinkId, Bandwidth>& capacity,
                               const Table<LinkId, std::uint32_t>& crossing);
  std::span<const Share> solve(std::span<const ActiveFlow> flows, const Table<LinkId, Bandwidth>& capacity);

 private:
  struct Load {
    double left_Bps = 0;         ///< capacity that no stopped flow uses
    double fair_Bps = 0;         ///< left_Bps per rising weight; infinite: cannot be full
    std::uint32_t rising = 0;    ///< weight of the flows that have not stopped yet
    std::uint32_t stopping = 0;  ///< weight of those that stop in this round
  };
  void open(std::span<const ActiveFlow> flows, const Table<LinkId, Bandwidth>& capacity,
            const Table<LinkId, std::uint32_t>& crossing);
  double next_level(std::span<const ActiveFlow> flows);
  void stop_flows(std::span<const ActiveFlow> flows, double level_Bps);
  void close_round(double level_Bps);

  Table<LinkId, Load> loads_;
  Table<LinkId, std::uint32_t> counted_;  ///< weights, where the caller keeps no count
  std::vector<LinkId> used_;           ///< links with rising flows that may become full
  std::vector<std::uint32_t> rising_;  ///< flows that have not stopped yet
  std::vector<Share> shares_;
};

}  // namespace moe
