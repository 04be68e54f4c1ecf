// How well do the corrections of PCIe links explain measured transfer patterns, and which factors explain them best?
//
//   machine,name,flows,access,harness,measured_GBps,source
//   wrx90-2sw-flat,2 node same src,0>4 1>5,write,copy,53.8,wrx90-cpayne-2switch-flat.md
//
// The same flows are simulated on the machine and compared by what the harness reports:
//   copy      all bytes over the time of the last flow
//   p2pmark   sum over GPUs of the bytes that one sent over the time of its last flow, times `p2pmark`
//   probe     one flow per GPU, to the k-th neighbour: the same sum, times `probe`
// The last two factors are what the tool itself loses by scheduling its copies; they belong to no machine.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/diagnostic.hpp"
#include "machine/machine.hpp"

namespace moe {

struct FlowPattern {
  std::string machine, name, flows;
  bool reads = false;
  std::string harness;
  double measured_GBps = 0;
  std::string source;
};

std::vector<FlowPattern> read_flow_patterns(const std::string& file, Diagnostics& out);

/// What is fitted: the links' factors and the harnesses' own.
struct FlowFactors {
  PcieFactors pcie;
  double p2pmark = 0.9077, probe = 0.9727;
};

using Machines = std::map<std::string, Machine>;

/// What the harness would report [GB/s].
double predicted_GBps(const Machines& machines, const FlowPattern& pattern, const FlowFactors& factors);

/// Least Huber loss of ln(predicted / measured), 5 % wide, by a search along one factor after the other. Starts from "no correction";
/// `duplex` (measured by itself) and the head-of-line limits (theory) stay as they are.
FlowFactors fit_flow_factors(const Machines& machines, const std::vector<FlowPattern>& patterns);

}  // namespace moe
