#include <algorithm>

#include "plan/plan.hpp"

namespace moe {
namespace {

std::vector<int> split_layers(const Plan& plan, int layers) {
  std::vector<int> first{0};
  for (int s = 0; s < plan.pp; ++s) {
    const int even = layers / plan.pp + (s < layers % plan.pp ? 1 : 0);
    const bool given = static_cast<int>(plan.stage_layers.size()) == plan.pp;
    first.push_back(first.back() + (given ? static_cast<int>(plan.stage_layers[static_cast<std::size_t>(s)]) : even));
  }
  return first;
}

}  // namespace

Layout layout_of(const Plan& plan, const Model& model) {
  Layout l;
  l.tp = plan.tp;
  l.dp = plan.dp;
  l.pp = plan.pp;
  l.dcp = plan.dcp;
  l.replicas = plan.replicas;
  l.micro_batches = plan.micro_batches > 0 ? plan.micro_batches : plan.overlap == Overlap::two_batch ? 2 : plan.pp;
  l.overlap = plan.overlap;
  l.first_layer = split_layers(plan, static_cast<int>(model.layers.size()));
  l.moe_ep = std::max(plan.ep, plan.moe_ep);
  // Experts reach across data-parallel groups when the plan gives them more ranks than one group has.
  l.experts_across_groups = plan.dp > 1 && l.moe_ep * std::max(1, plan.moe_tp) > plan.tp;
  const int ranks = l.experts_across_groups ? plan.tp * plan.dp : plan.tp;
  l.moe_tp = plan.moe_tp > 1 ? plan.moe_tp : std::max(1, ranks / l.moe_ep);
  return l;
}

Batch slice(const Batch& batch, int part, int parts) {
  const int base = batch.sequences / parts, extra = batch.sequences % parts;
  const int from = part * base + std::min(part, extra), count = base + (part < extra ? 1 : 0);
  Batch out;
  out.sequences = count;
  out.shared_prefix = batch.shared_prefix;
  if (batch.context.size() == 1) {
    out.context = batch.context;
  } else {
    out.context.assign(batch.context.begin() + from, batch.context.begin() + from + count);
    if (out.context.empty()) out.context = {0};
  }
  return out;
}

}  // namespace moe
