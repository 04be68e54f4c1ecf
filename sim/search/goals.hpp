// Who wins, against whom, and why? Goals: the fastest for one user, the most tokens per second, and the balance of both.
#pragma once
#include <vector>

#include "search/search.hpp"

namespace moe {

std::vector<Goal> goals_of(const std::vector<Candidate>& all);

/// "1.9 ms less all-reduce per step, 0.8 ms less experts; 0.3 ms more attention"
std::string why_faster(const Candidate& best, const Candidate& second);

}  // namespace moe
