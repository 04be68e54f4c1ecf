// What do the routed experts of one layer cost on each rank, and which tokens travel to them?
#pragma once
#include <string>
#include <vector>

#include "lower/recipe.hpp"
#include "workload/routing.hpp"

namespace moe {

/// One MoE block of the model for one set of tokens that are routed together, with the kernel path that runs it.
struct Experts {
  const Mlp* mlp = nullptr;
  MoePath path;               ///< with the stack's properties applied
  std::string path_name;
  Router router;
  Recipe stages;              ///< top-k, permute, first GEMM, second GEMM; costs of the layer at hand
};
inline constexpr std::size_t kFirstGemm = 2;

/// Finds the kernel path and prepares the router. `tokens` rows route independently, `padding` rows are dummies.
Experts prepare_experts(const Case& c, const Mlp& mlp, int position, int step, int tokens, int padding);

/// Rows of every expert held by one set of ranks: experts [set * E / sets, (set + 1) * E / sets).
std::vector<int> rows_of_set(const std::vector<int>& rows, int set, int sets);

/// Costs the stages for one rank's experts. `tokens` are all that are routed together.
void cost_stages(const Case& c, const GpuSpec& gpu, Experts& e, const Layout& layout, const std::vector<int>& rows,
                 double tokens);

}  // namespace moe
