// How much of a collective is transfer, and how much is a rank waiting for the others? A collective kernel
// runs on every rank from the rank's own arrival to the common end, so the rank that arrives last has the
// transfer time, the others wait.
//
//   several ranks   the k-th call of the same collective on every rank: what it lasts longer than on the rank
//   where it is
//                   shortest is waiting. Needs no common clock.
//   one rank        what a call lasts longer than the shortest call of the same collective: at least that is
//   waiting, if all
//                   calls move the same bytes. A rank that always waits hides its waiting in the shortest
//                   call.
#pragma once
#include <string>
#include <vector>

#include "kineto/rules.hpp"
#include "kineto/trace.hpp"

namespace moe {

enum class WaitMethod { none, one_rank, several_ranks };
std::string text_of(WaitMethod method);

/// One kind of collective of the first trace: same kernel, size and group.
struct TracedCollective {
  std::uint32_t name = 0;
  std::size_t category = 0;
  std::int32_t facts = -1;          ///< into KinetoTrace::collectives
  std::vector<std::size_t> events;  ///< calls in order
  double transfer_us = 0;  ///< estimate of one call without waiting: median over calls of the shortest rank,
                           ///< or the shortest call of one rank
  WaitMethod method = WaitMethod::none;
};

struct Waiting {
  WaitMethod method = WaitMethod::none;
  std::vector<std::int64_t> waits_ns;  ///< per event of the first trace
  std::vector<TracedCollective> collectives;
};

/// `traces`: of the ranks of one run, the one that is reported first; `categories`: of each. Ranks whose
/// calls do not match fall back to one rank, with a warning.
Waiting find_waiting(const std::vector<const KinetoTrace*>& traces,
                     const std::vector<std::vector<std::size_t>>& categories, Diagnostics& out);

}  // namespace moe
