#include "plan/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace moe {

void bind_plan(Fields& f, Plan& p) {
  auto degree = [&](const char* key, int& into, const char* help) {
    f.integer(key, into, Need::optional, Range::between(1, 4096), help);
  };
  degree("tp", p.tp, "tensor parallel: GPUs that share every layer");
  degree("ep", p.ep, "expert parallel: GPUs over which whole experts are spread, inside tp or across tp x dp");
  degree("dp", p.dp, "attention data parallel: groups with a KV cache of their own");
  degree("pp", p.pp, "pipeline stages");
  degree("dcp", p.dcp, "decode context parallel: GPUs of a group over which the KV cache is split by token");
  degree("moe_tp", p.moe_tp, "slices of each expert, where it differs from (tp or tp x dp) / ep");
  degree("moe_ep", p.moe_ep, "the same as ep");
  degree("replicas", p.replicas, "independent instances that share the batch evenly");
  f.integer("micro_batches", p.micro_batches, Need::optional, Range::between(0, 64),
            "batches in flight in a pipeline; 0: one per stage");
  f.numbers("stage_layers", p.stage_layers, Unit::count, Need::optional, Range::positive(),
            "layers of each pipeline stage; default: as even as possible");
  f.choice("overlap", p.overlap, {"none", "single_batch", "two_batch"}, Need::optional,
           "two_batch: the batch runs as two halves, one communicates while the other computes");
  if (p.ep > 1 && p.moe_ep > 1 && p.ep != p.moe_ep) f.error("moe_ep", "`ep` and `moe_ep` are the same thing and differ");
  if (p.pp == 1) f.inert("stage_layers", "pp", "1");
  if (p.pp == 1 && p.micro_batches > 1 && p.overlap != Overlap::two_batch)
    f.warning("micro_batches", "`micro_batches` above 1 only costs time with pp 1");
}

std::string plan_text(const Plan& p) {
  std::string out = fmt::format("TP {}", p.tp);
  const std::pair<const char*, int> others[] = {{"EP", std::max(p.ep, p.moe_ep)}, {"MoE-TP", p.moe_tp}, {"DP", p.dp},
                                                {"PP", p.pp}, {"DCP", p.dcp}, {"replicas", p.replicas}};
  for (const auto& [name, degree] : others)
    if (degree > 1) out += fmt::format(" · {} {}", name, degree);
  if (p.overlap == Overlap::two_batch) out += " · two batches in flight";
  if (p.overlap == Overlap::single_batch) out += " · single-batch overlap";
  return out;
}

namespace {

/// Slices of a quantised matrix must keep whole scale groups: FP8 tiles of 128, NVFP4 and INT4 groups. MXFP4 kernels
/// pad instead (gpt-oss: width 2880 runs on any tp).
int group_of(Format format) {
  switch (format) {
    case Format::fp8_b128:
    case Format::fp8_b128_e8m0:
    case Format::int4_g128: return 128;
    case Format::nvfp4: return 16;
    case Format::int4_g32: return 32;
    default: return 1;
  }
}

void check_attention(const Attention& a, int tp, std::vector<std::string>& out) {
  auto divides = [&](int heads, const char* what) {
    if (heads > 0 && heads % tp != 0) out.push_back(fmt::format("heads: {} {} do not divide over tp {}", heads, what, tp));
  };
  switch (a.kind) {
    case Attention::Kind::mla: divides(a.heads, "query heads"); break;
    case Attention::Kind::gqa:
      divides(a.heads, "query heads");
      if (a.kv_heads % tp != 0 && tp % a.kv_heads != 0)
        out.push_back(fmt::format("KV heads: {} KV heads neither divide over tp {} nor repeat evenly", a.kv_heads, tp));
      break;
    case Attention::Kind::gdn:
      divides(a.k_heads, "key heads");
      divides(a.v_heads, "value heads");
      break;
    case Attention::Kind::dsv4: divides(a.heads, "query heads"); break;
    default: break;
  }
}

void check_width(int width, int tp, Format format, const char* what, std::vector<std::string>& out) {
  if (width <= 0) return;
  if (width % tp != 0) {
    out.push_back(fmt::format("width: {} {} does not divide over tp {}", what, width, tp));
    return;
  }
  const int group = group_of(format);
  if (tp > 1 && width % group == 0 && (width / tp) % group != 0)
    out.push_back(fmt::format("{}: {} {} over tp {} leaves {}, not a multiple of {}",
                              group == 128 ? "128-wide tiles" : "scale groups", what, width, tp, width / tp, group));
}

void check_experts(const Plan& plan, const Layout& l, const Mlp& m, std::vector<std::string>& out) {
  const int ranks = l.experts_across_groups ? plan.tp * plan.dp : plan.tp;
  if (l.moe_tp * l.moe_ep != ranks)
    out.push_back(fmt::format("experts: moe_tp {} x moe_ep {} is not the {} ranks that share them ({})", l.moe_tp,
                              l.moe_ep, ranks, l.experts_across_groups ? "tp x dp" : "tp"));
  if (m.experts % l.moe_ep != 0)
    out.push_back(fmt::format("experts: {} experts do not divide over ep {}", m.experts, l.moe_ep));
}

void check_context_parallel(const Plan& plan, const Attention& a, std::vector<std::string>& out) {
  if (plan.dcp == 1) return;
  if (plan.tp % plan.dcp != 0) out.push_back(fmt::format("dcp: {} does not divide tp {}", plan.dcp, plan.tp));
  if (a.kind == Attention::Kind::gqa && plan.dcp > std::max(1, plan.tp / a.kv_heads))
    out.push_back(fmt::format("dcp: {} is more than the {} ranks that repeat each of {} KV heads at tp {}", plan.dcp,
                              std::max(1, plan.tp / a.kv_heads), a.kv_heads, plan.tp));
}

void check_stages(const Plan& plan, const Model& model, std::vector<std::string>& out) {
  const auto layers = static_cast<int>(model.layers.size());
  if (plan.pp > layers) out.push_back(fmt::format("layers: {} layers cannot fill {} stages", layers, plan.pp));
  if (plan.stage_layers.empty() || plan.pp == 1) return;
  const double sum = std::accumulate(plan.stage_layers.begin(), plan.stage_layers.end(), 0.0);
  if (static_cast<int>(plan.stage_layers.size()) != plan.pp || static_cast<int>(sum) != layers)
    out.push_back(fmt::format("layers: `stage_layers` gives {:.0f} layers in {} stages; the model has {} and the plan {}",
                              sum, plan.stage_layers.size(), layers, plan.pp));
}

}  // namespace

std::vector<std::string> broken_rules(const Plan& plan, const Model& model, const Checkpoint& checkpoint) {
  std::vector<std::string> out;
  const Layout l = layout_of(plan, model);
  auto format = [&](TensorClass c) { return checkpoint.format[static_cast<std::size_t>(c)]; };
  for (const Attention& a : model.attention) {
    check_attention(a, plan.tp, out);
    check_context_parallel(plan, a, out);
  }
  for (const Mlp& m : model.mlp) {
    if (m.kind == Mlp::Kind::dense)
      check_width(m.intermediate, plan.tp, format(TensorClass::dense_mlp), "dense MLP width", out);
    if (m.kind != Mlp::Kind::moe) continue;
    check_width(m.expert_intermediate, l.moe_tp, format(TensorClass::routed_experts), "expert width", out);
    check_width(m.shared_intermediate, plan.tp, format(TensorClass::shared_experts), "shared expert width", out);
    check_experts(plan, l, m, out);
  }
  check_stages(plan, model, out);
  return out;
}

std::string not_simulated(const Plan&, const Model& model) {
  for (const Attention& a : model.attention)
    if (a.kind == Attention::Kind::mamba2)
      return fmt::format("attention block `{}` of {} (Mamba2) is not simulated yet", a.name, model.name);
  return {};
}

}  // namespace moe
