// Who holds what? The parallelism of a deployment, the rules that make it legal, and what each GPU stores.
#pragma once
#include <string>
#include <vector>

#include "config/fields.hpp"
#include "cost/gpu.hpp"
#include "model/model.hpp"
#include "workload/batch.hpp"

namespace moe {

/// Degrees of parallelism; the product tp x dp x pp is the number of GPUs.
struct Plan {
  int tp = 1;      ///< tensor parallel
  int ep = 1;      ///< expert parallel: experts stay whole, experts/ep per rank
  int dp = 1;      ///< attention data parallel
  int pp = 1;      ///< pipeline stages
  int dcp = 1;     ///< decode context parallel: KV cache split over ranks by token
  int moe_tp = 1;  ///< slices of each expert; 1 with ep 1: follows tp
  int moe_ep = 1;
  int gpus() const { return tp * dp * pp; }
};

/// The declarations of `plan:`.
void bind_plan(Fields& f, Plan& plan);

/// Every rule that the plan breaks for this model and checkpoint, as sentences that name the rule; empty: legal.
std::vector<std::string> broken_rules(const Plan& plan, const Model& model, const Checkpoint& checkpoint);

/// The part of the plan that is not simulated yet, as a sentence; empty: everything is.
std::string not_simulated(const Plan& plan, const Model& model);

}  // namespace moe
