// What rate does each of these simultaneous transfers get, and which link holds it back?
//
//   parse_flows("0>4,1>5", 8)      ->  {0, 4}, {1, 5}
//   parse_flows("0-3>4-7", 8)      ->  each of 0 to 3 to each of 4 to 7: 16 flows
//   parse_flows("0-7>0-7", 8)      ->  all to all: 56 flows, nobody sends to itself
//   parse_flows("0>4*3,1>5", 8)    ->  the first gets three parts of a full link, the second one
//
// Example: wrx90-2sw-flat, "0>4,1>5": both cross the 53.8 GB/s uplink of their switch, 26.9 GB/s each.
#pragma once
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "program/program.hpp"

namespace moe {

struct FlowPair {
  int from = 0, to = 0;  ///< GPU numbers, in the direction of the data
  std::uint32_t weight = 1;  ///< its parts of a full link
  friend bool operator==(const FlowPair&, const FlowPair&) = default;
};

/// Reads "0>4,1>5", "0-3>4-7" (each to each, none to itself) or "0>4*3" (weight 3). Throws InputError that shows the item that is wrong.
std::vector<FlowPair> parse_flows(const std::string& text, int gpus);
/// Reads "0-7", "0,2,4" or a mix. Throws InputError.
std::vector<int> parse_ranks(const std::string& text, int gpus);

struct FlowOptions {
  double bytes = 256e6;       ///< of each flow
  bool reads = false;         ///< the receiver reads, instead of the sender writing
  bool corrected = true;      ///< false: plain max-min sharing of nominal capacities
  double cap_GBps = 0;        ///< of each flow by itself; 0: none
};

struct FlowResult {
  FlowPair pair;
  double rate_GBps = 0;       ///< while all flows are active
  double alone_GBps = 0;      ///< if no other flow were there
  double end_us = 0;          ///< when its bytes have arrived, all starting at 0
  std::string held_by;        ///< the link that limits it while all are active; empty: its own cap
};

struct LinkResult {
  std::string name;
  double nominal_GBps = 0, capacity_GBps = 0;  ///< as in the machine file; after the corrections
  double carried_GBps = 0;                     ///< while all flows are active
  int flows = 0;
};

struct FlowsResult {
  std::vector<FlowResult> flows;
  std::vector<LinkResult> links;   ///< those that a flow crosses and that can limit, fullest first
  double sum_GBps = 0;             ///< of the rates while all flows are active
  double total_GBps = 0;           ///< all bytes over the time of the last flow
  double without_corrections_GBps = 0;  ///< total_GBps by plain max-min
};

/// Equal bytes on every flow, all starting at once; a flow that ends leaves its share to the others.
FlowsResult play_flows(const Machine& machine, const Routes& routes, const std::vector<FlowPair>& pairs,
                       const FlowOptions& options);

/// When each flow ends [us]; what play_flows tells, without the rest.
std::vector<double> flow_ends_us(const Machine& machine, const Routes& routes, const std::vector<FlowPair>& pairs,
                                 const FlowOptions& options);

}  // namespace moe
