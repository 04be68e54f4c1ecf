// What happens to collectives that run at the same time? Those whose links nobody else uses keep their closed form; the
// others become flows in one program.
//
// Example: an all-reduce over GPUs 0 to 3 and one over 4 to 7 of wrx90-2sw-flat stay inside their switches: closed form.
// Over 0,1,4,5 and 2,3,6,7 both cross the uplinks: flows.
#pragma once
#include <string>
#include <vector>

#include "network/collective_flows.hpp"

namespace moe {

struct TogetherResult {
  double alone_us = 0;      ///< as flows with nobody else; the closed form where nothing is shared
  double together_us = 0;   ///< all starting at once
  bool shares = false;      ///< a link of it is used by another one
  std::string lost_on;      ///< the link on which its transfers lost most time to others; empty: on none
};

/// Time of a collective as flows, alone on the machine [us]; `links`: every link is so many times as fast.
double alone_as_flows_us(const Machine& machine, const Routes& routes, const CommCost& cost,
                         const CollectiveRequest& request, double links = 1);

std::vector<TogetherResult> run_together(const Machine& machine, const Routes& routes, const CommCost& cost,
                                         const std::vector<CollectiveRequest>& requests);

}  // namespace moe
