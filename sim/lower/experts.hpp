// What do the routed experts of one layer cost on each rank, and which tokens travel to them?
#pragma once
#include <string>
#include <vector>

#include "lower/recipe.hpp"
#include "workload/router.hpp"

namespace moe {

/// One MoE block of the model for the tokens that are routed together, with the kernel path that runs it.
struct Experts {
  const Mlp* mlp = nullptr;
  MoePath path;                 ///< with the stack's properties applied
  std::string path_name;
  Router router;
  std::vector<Source> sources;  ///< where the tokens come from, by data-parallel group
  ExpertMap contiguous;         ///< where experts sit without a balanced placement; filled when first needed
  Recipe stages;                ///< top-k, permute, first GEMM, second GEMM; costs of the layer at hand
};
inline constexpr std::size_t kFirstGemm = 2, kStages = 4;

/// What sets the routing of a pass apart: micro-batches and draft passes draw their own; tokens of one sequence are alike.
struct RoutingVariant {
  int number = 0;
  int tokens_per_sequence = 1;
};

/// Finds the kernel path and prepares the router.
Experts prepare_experts(const Case& c, const Mlp& mlp, int step, RoutingVariant variant, std::vector<Source> sources);

/// The routing of one layer by expert set, with the experiment's placement of experts.
RankLoads route(const Case& c, Experts& e, int layer, int sets);

/// Costs the stages for one rank's experts. `tokens` are all that are routed together, `here` those with a local expert.
void cost_stages(const Case& c, const GpuSpec& gpu, Experts& e, const Layout& layout, const std::vector<int>& rows,
                 double tokens, double here);

}  // namespace moe
