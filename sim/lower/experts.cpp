// The routed experts of one layer on one rank. Under tensor parallelism every rank holds a slice of every expert, so
// all ranks see all rows.
#include <algorithm>

#include "lower/recipe.hpp"

namespace moe {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

Item stage(const char* name, Category category, double time_us, const std::string& path) {
  Item item;
  item.name = name;
  item.category = category;
  item.cost.time_us = time_us;
  item.path = path;
  return item;
}

}  // namespace

Recipe cook_experts(const Case& c, const GpuSpec& gpu, const MoePath& path, const std::string& path_name,
                    const Mlp& mlp, const std::vector<int>& rows_per_expert, double tokens) {
  MoeShape shape;
  shape.tokens = tokens;
  shape.hidden = mlp.latent > 0 ? mlp.latent : c.model.hidden;
  shape.intermediate = static_cast<double>(mlp.expert_intermediate) / c.experiment.plan.tp;
  shape.topk = mlp.topk;
  shape.experts = shape.local_experts = mlp.experts;
  shape.gated = mlp.gated;
  const ExpertLoad load = load_of(rows_per_expert, tokens);
  const KernelCost total = grouped_experts(gpu, path, shape, load);
  const ExpertStages parts = expert_stages(gpu, path, shape, load);
  // One measured time, split for the breakdown; the parts add up to it.
  const bool quantises = contains(path.includes, "quantise");
  Recipe recipe;
  recipe.push_back(stage("top-k", Category::small_kernels, parts.route_us, path_name));
  recipe.push_back(stage(quantises ? "permute+quantise" : "permute",
                         quantises ? Category::cast : Category::small_kernels, parts.permute_us, path_name));
  recipe.push_back(stage("experts w1,w3", Category::experts, parts.gemm1_us, path_name));
  recipe.push_back(stage("experts w2", Category::experts, parts.gemm2_us, path_name));
  for (std::size_t i : {std::size_t{2}, std::size_t{3}}) {
    recipe[i].cost.compute = total.compute;
    recipe[i].cost.spread = total.spread;
    recipe[i].cost.in_range = total.in_range;
    const double share = i == 2 ? (mlp.gated ? 2.0 / 3 : 0.5) : (mlp.gated ? 1.0 / 3 : 0.5);
    recipe[i].cost.flop = total.flop * share;  // w1 and w3 against w2
    recipe[i].cost.dram_bytes = total.dram_bytes * share;
  }
  recipe[0].cost.spread = recipe[1].cost.spread = total.spread;
  recipe[0].cost.in_range = total.in_range;
  for (std::size_t i = 1; i < recipe.size(); ++i) recipe[i].part = true;
  if (!contains(path.includes, "gap")) recipe[0].timed_alone = true;
  return recipe;
}

}  // namespace moe
