// Which communication constants can be fitted, where do they start, and which rows can tell them apart?
//
//   CommCost cost = generic_cost(transports, all_to_alls);    // starting values, of no GPU in particular
//   for (Constant& c : constants_of(cost)) ...                // what to vary
#pragma once
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "cost/collective.hpp"

namespace moe {

/// A fitted constant: its generic starting value, and the places that it sets.
struct Constant {
  double start = 1;
  std::vector<std::function<double&(CommCost&)>> places;
};

/// Rank counts of all-to-all rows, by their most expensive transport.
using AllToAllRows = std::map<Transport, std::set<int>>;

/// Starting values for transports and all-to-alls that the rows have. All-to-all over NVLink has constants of its own,
/// direct and host-bounced PCIe share one set: on the tables only two GPUs talk directly, and two alone say nothing about
/// what a further peer costs.
CommCost generic_cost(const std::set<Transport>& transports, const AllToAllRows& all_to_all);
std::vector<Constant> constants_of(const CommCost& cost);

/// `known` with the transports and rank counts of `wider` that it lacks, and the constants that these bring: hop latency and
/// rate of a transport, all-to-all rate of a rank count. What a pass costs is that of the pair's transport.
CommCost widened(const CommCost& known, const CommCost& wider, std::vector<Constant>& added);

/// Whether a started LL pass counts whole, and the least threads of a block: every combination.
std::vector<CommCost> pass_forms(const CommCost& start);
/// Every combination of threads per peer of one all-to-all set.
std::vector<CommCost> thread_forms(const CommCost& start, std::size_t set);

}  // namespace moe
