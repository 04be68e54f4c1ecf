// Who holds what? The parallelism of a deployment, the rules that make it legal, and where every rank sits.
//
// A rank is one GPU. Ranks are numbered stage by stage, inside a stage group by group (attention data parallel), inside
// a group lane by lane (tensor parallel): tp 4, dp 2, pp 1 puts ranks 0-3 into group 0 and 4-7 into group 1.
// Routed experts are spread over `moe_ep` ranks whole and over `moe_tp` ranks in slices:
//   tp 8                     every expert in 8 slices                 moe_tp 8, moe_ep 1   (all-reduce)
//   tp 8, ep 8               whole experts inside the TP group        moe_tp 1, moe_ep 8   (all-reduce)
//   tp 8, ep 4               4 sets of experts, each in 2 slices      moe_tp 2, moe_ep 4   (all-reduce)
//   tp 1, dp 8, ep 8         attention data parallel, experts across  moe_tp 1, moe_ep 8   (dispatch and combine)
//   tp 4, dp 2               two groups with experts of their own     moe_tp 4, moe_ep 1   (no traffic between them)
#pragma once
#include <string>
#include <vector>

#include "config/fields.hpp"
#include "cost/gpu.hpp"
#include "model/model.hpp"
#include "workload/batch.hpp"

namespace moe {

/// none: one stream. single_batch: the shared expert runs while routed tokens travel. two_batch: the batch runs as two
/// halves, one communicates while the other computes.
enum class Overlap { none, single_batch, two_batch };

/// Degrees of parallelism as written; the product tp x dp x pp x replicas is the number of GPUs.
struct Plan {
  int tp = 1;        ///< tensor parallel
  int ep = 1;        ///< expert parallel: ranks over which whole experts are spread; 1: see moe_ep
  int dp = 1;        ///< attention data parallel: groups with a KV cache of their own
  int pp = 1;        ///< pipeline stages
  int dcp = 1;       ///< decode context parallel: KV cache split over ranks of a group by token
  int moe_tp = 1;    ///< slices of each expert, where it differs from what tp and ep imply
  int moe_ep = 1;    ///< the same as ep
  int replicas = 1;  ///< independent instances of everything above
  int micro_batches = 0;          ///< in flight in a pipeline; 0: one per stage
  std::vector<double> stage_layers;  ///< layers of each stage; empty: as even as possible
  Overlap overlap = Overlap::none;
  int gpus() const { return tp * dp * pp * replicas; }
};

/// The plan with everything that it implies.
struct Layout {
  int tp = 1, dp = 1, pp = 1, dcp = 1, moe_tp = 1, moe_ep = 1, replicas = 1, micro_batches = 1;
  bool experts_across_groups = false;  ///< routed tokens travel between data-parallel groups
  std::vector<int> first_layer;        ///< by stage; one more entry: the number of layers
  Overlap overlap = Overlap::none;

  int ranks_per_stage() const { return tp * dp; }
  int ranks() const { return ranks_per_stage() * pp; }  ///< of one replica
  int rank(int stage, int group, int lane) const { return (stage * dp + group) * tp + lane; }
  /// Which set of experts a lane holds: consecutive lanes share a set in slices.
  int expert_set(int group, int lane) const { return ((experts_across_groups ? group * tp : 0) + lane) / moe_tp; }
};
Layout layout_of(const Plan& plan, const Model& model);

/// "TP 4 · DP 2 · EP 8": the degrees above 1, TP always.
std::string plan_text(const Plan& plan);

/// The declarations of `plan:`.
void bind_plan(Fields& f, Plan& plan);

/// Every rule that the plan breaks for this model and checkpoint, as sentences that name the rule; empty: legal.
std::vector<std::string> broken_rules(const Plan& plan, const Model& model, const Checkpoint& checkpoint);

/// The part of the plan or model that is not simulated yet, as a sentence; empty: everything is.
std::string not_simulated(const Plan& plan, const Model& model);

/// Sequences `part` of `parts` as even shares; the first ones are larger. A share may be empty.
Batch slice(const Batch& batch, int part, int parts);

}  // namespace moe
