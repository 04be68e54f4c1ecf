#include "lower/experts.hpp"

#include <algorithm>

#include "experiment/bind_routing.hpp"

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

Experts prepare_experts(const Case& c, const Mlp& mlp, int step, RoutingVariant variant, std::vector<Source> sources) {
  const auto format = c.weights().format[static_cast<std::size_t>(TensorClass::routed_experts)];
  std::string name;
  const MoePath& path = kernel_path(c, c.profile.moe, "moe", "experts", kernel_format(format), name);
  Routing routing = c.experiment.routing;
  routing.seed += 0x51ed2701ULL * static_cast<std::uint64_t>(variant.number);
  routing.tokens_per_sequence = variant.tokens_per_sequence;
  routing.token_overlap = c.experiment.speculation.token_overlap;
  int tokens = 0, padding = 0;
  for (const Source& s : sources) tokens += s.tokens, padding += s.padding;
  Router router(routing, router_shape(mlp), tokens, padding);
  router.start_step(step);
  return {&mlp, with_stack(path, c.stack), name, std::move(router), std::move(sources), {}, stages_of(path, name)};
}

RankLoads route(const Case& c, Experts& e, int layer, int sets) {
  const Placement& placement = c.experiment.placement;
  if (placement.kind == Placement::Kind::balanced)
    return e.router.draw(layer, e.sources, place_experts(placement, sets, e.router.expected_load(layer)));
  if (e.contiguous.ranks() != sets)
    e.contiguous = place_experts(placement, sets, std::vector<double>(static_cast<std::size_t>(e.mlp->experts), 1.0));
  return e.router.draw(layer, e.sources, e.contiguous);
}

void cost_stages(const Case& c, const GpuSpec& gpu, Experts& e, const Layout& layout, const std::vector<int>& rows,
                 double tokens, double here) {
  MoeShape shape;
  shape.tokens = tokens;
  shape.hidden = e.mlp->latent > 0 ? e.mlp->latent : c.model.hidden;
  shape.intermediate = static_cast<double>(e.mlp->expert_intermediate) / layout.moe_tp;
  shape.topk = e.mlp->topk;
  shape.experts = e.mlp->experts;
  shape.local_experts = static_cast<int>(rows.size());
  shape.gated = e.mlp->gated;
  const ExpertLoad load = load_of(rows, here);
  e.stages[0].call = {"experts", kernel_format(c.weights().format[static_cast<std::size_t>(TensorClass::routed_experts)]),
                      {{"tokens", tokens}, {"hidden", shape.hidden}, {"intermediate", shape.intermediate},
                       {"topk", shape.topk}, {"experts", shape.experts}, {"local_experts", shape.local_experts},
                       {"gated", shape.gated ? 1 : 0}}};
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
