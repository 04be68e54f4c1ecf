// Which plans can run on this machine? Every way to spread a model over the GPUs, less those that break a rule of the
// model or the checkpoint, or that are not simulated yet.
//
//   8 GPUs: tp x dp x pp x replicas = 8; ep divides tp x dp; dcp divides tp; overlap none or two_batch
//   tp 8 · tp 8, ep 8 · tp 4, dp 2, ep 8 · tp 2, pp 4 · tp 4, replicas 2 · ...
#pragma once
#include <map>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "sweep/axis.hpp"

namespace moe {

struct PlanSpace {
  Axis axis;                          ///< one row per plan, all keys of a plan zipped
  std::map<std::string, int> dropped; ///< why candidates were left out, and how many
  int candidates = 0;
};

PlanSpace plan_space(const Model& model, const Checkpoint& checkpoint, int gpus);

/// Keys of the axis, in the order of its values.
inline const std::vector<std::string> kPlanKeys{"plan.tp", "plan.ep", "plan.dp", "plan.pp", "plan.dcp", "plan.replicas", "plan.overlap"};

/// The plan of one row of the axis.
Plan plan_of(const std::vector<std::string>& values);

}  // namespace moe
