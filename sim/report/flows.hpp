// How are simultaneous transfers shown? For `moe-sim flows`.
//
//   flow    rate GB/s  alone GB/s  ends at us  held by
//   0 → 4        26.9        53.8     9516.7   sw0 → rp0
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "network/flows.hpp"

namespace moe {

/// Flows, then the fullest links (`most_links`; 0: all), then the totals.
std::string flows_text(const Machine& machine, const FlowsResult& r, const FlowOptions& o, std::size_t most_links);
/// One line per flow: from,to,rate_GBps,alone_GBps,end_us,held_by.
std::string flows_csv(const FlowsResult& r);
nlohmann::ordered_json flows_json(const Machine& machine, const FlowsResult& r);

}  // namespace moe
