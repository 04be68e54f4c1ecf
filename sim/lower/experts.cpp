#include "lower/experts.hpp"

#include <algorithm>
#include <numeric>

namespace moe {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

Item stage(const char* name, Category category, const std::string& path) {
  Item item;
  item.name = name;
  item.category = category;
  item.path = path;
  return item;
}

/// What the stack changes about the kernel: no partial waves, or fewer weight bytes.
MoePath with_stack(MoePath path, const Stack& stack) {
  if (stack.persistent_experts) path.wave_quant = 0;
  path.bytes_per_weight *= stack.expert_sparsity;
  return path;
}

/// One measured time, split for the breakdown; the parts add up to it.
Recipe stages_of(const MoePath& path, const std::string& path_name) {
  const bool quantises = contains(path.includes, "quantise");
  Recipe recipe{stage("top-k", Category::small_kernels, path_name),
                stage(quantises ? "permute+quantise" : "permute", quantises ? Category::cast : Category::small_kernels, path_name),
                stage("experts w1,w3", Category::experts, path_name), stage("experts w2", Category::experts, path_name)};
  for (std::size_t i = 1; i < recipe.size(); ++i) recipe[i].part = true;
  recipe[0].timed_alone = !contains(path.includes, "gap");
  return recipe;
}

}  // namespace

Experts prepare_experts(const Case& c, const Mlp& mlp, int position, int step, int tokens, int padding) {
  const auto format = c.weights().format[static_cast<std::size_t>(TensorClass::routed_experts)];
  std::string name;
  const MoePath& path = kernel_path(c, c.profile.moe, "moe", "experts", kernel_format(format), name);
  Routing routing = c.experiment.routing;
  routing.seed += 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(step * 64 + position + 1);
  return {&mlp, with_stack(path, c.stack), name, Router(routing, mlp.experts, mlp.topk, tokens, padding), stages_of(path, name)};
}

std::vector<int> rows_of_set(const std::vector<int>& rows, int set, int sets) {
  const std::size_t n = rows.size() / static_cast<std::size_t>(sets), from = n * static_cast<std::size_t>(set);
  return {rows.begin() + static_cast<std::ptrdiff_t>(from), rows.begin() + static_cast<std::ptrdiff_t>(from + n)};
}

void cost_stages(const Case& c, const GpuSpec& gpu, Experts& e, const Layout& layout, const std::vector<int>& rows,
                 double tokens) {
  MoeShape shape;
  shape.tokens = tokens;
  shape.hidden = e.mlp->latent > 0 ? e.mlp->latent : c.model.hidden;
  shape.intermediate = static_cast<double>(e.mlp->expert_intermediate) / layout.moe_tp;
  shape.topk = e.mlp->topk;
  shape.experts = e.mlp->experts;
  shape.local_experts = static_cast<int>(rows.size());
  shape.gated = e.mlp->gated;
  // Tokens with a local expert: all of them when the rank has every expert, at most its rows otherwise.
  const double here = std::accumulate(rows.begin(), rows.end(), 0.0);
  const ExpertLoad load = load_of(rows, layout.moe_ep == 1 ? tokens : std::min(tokens, here));
  const KernelCost total = grouped_experts(gpu, e.path, shape, load);
  const ExpertStages parts = expert_stages(gpu, e.path, shape, load);
  const double times[] = {parts.route_us, parts.permute_us, parts.gemm1_us, parts.gemm2_us};
  const double first = e.mlp->gated ? 2.0 / 3 : 0.5;  // w1 and w3 against w2
  for (std::size_t i = 0; i < e.stages.size(); ++i) {
    KernelCost& cost = e.stages[i].cost;
    cost.time_us = times[i];
    cost.spread = total.spread;
    cost.in_range = total.in_range;
    const double share = i < kFirstGemm ? 0 : i == kFirstGemm ? first : 1 - first;
    cost.compute = total.compute;
    cost.flop = total.flop * share;
    cost.dram_bytes = total.dram_bytes * share;
    cost.memory_us = total.memory_us * share;
    cost.compute_us = total.compute_us * share;
  }
}

}  // namespace moe
