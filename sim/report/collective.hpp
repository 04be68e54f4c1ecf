// How are the times of a collective by size shown? For `moe-sim collective`.
//
//   bytes   time us  bus GB/s  implementation  why
//    4096     25.61      0.28  ring LL         NCCL expects LL 20.8 us, Simple 88.3 us and takes LL
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cost/collective.hpp"

namespace moe {

struct CollectiveLine {
  double bytes = 0;
  CollectiveCost cost;
  double flows_us = 0;      ///< the same as flows; 0: not asked for
  double together_us = 0;   ///< beside the other collectives; 0: none
  std::string lost_on;      ///< then: the link on which it lost most; empty: on none
};

/// nccl-tests' bus bandwidth: bytes / time x 2(n-1)/n for all-reduce, x (n-1)/n for the others [GB/s].
double bus_GBps(CollectiveOp op, int ranks, double bytes, double us);

std::string collective_text(CollectiveOp op, int ranks, const std::vector<CollectiveLine>& lines);
/// `name` is what the user called the operation.
std::string collective_csv(const std::string& name, CollectiveOp op, int ranks, const std::vector<CollectiveLine>& lines);
nlohmann::ordered_json collective_json(CollectiveOp op, int ranks, const std::vector<CollectiveLine>& lines);

}  // namespace moe
