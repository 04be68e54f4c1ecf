#include "plan/plan.hpp"

#include <fmt/core.h>

namespace moe {

void bind_plan(Fields& f, Plan& p) {
  auto degree = [&](const char* key, int& into, const char* help) {
    f.integer(key, into, Need::optional, Range::between(1, 4096), help);
  };
  degree("tp", p.tp, "tensor parallel: GPUs that share every layer");
  degree("ep", p.ep, "expert parallel: GPUs over which whole experts are spread");
  degree("dp", p.dp, "attention data parallel: groups with a KV cache of their own");
  degree("pp", p.pp, "pipeline stages");
  degree("dcp", p.dcp, "decode context parallel: GPUs over which the KV cache is split by token");
  degree("moe_tp", p.moe_tp, "GPUs that slice each expert, where it differs from tp");
  degree("moe_ep", p.moe_ep, "GPUs over which experts are spread inside the tensor-parallel group");
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
    default: divides(a.heads, "heads"); break;
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

}  // namespace

std::vector<std::string> broken_rules(const Plan& plan, const Model& model, const Checkpoint& checkpoint) {
  std::vector<std::string> out;
  auto format = [&](TensorClass c) { return checkpoint.format[static_cast<std::size_t>(c)]; };
  for (const Attention& a : model.attention) check_attention(a, plan.tp, out);
  for (const Mlp& m : model.mlp) {
    if (m.kind == Mlp::Kind::dense)
      check_width(m.intermediate, plan.tp, format(TensorClass::dense_mlp), "dense MLP width", out);
    if (m.kind != Mlp::Kind::moe) continue;
    check_width(m.expert_intermediate, plan.tp, format(TensorClass::routed_experts), "expert width", out);
    check_width(m.shared_intermediate, plan.tp, format(TensorClass::shared_experts), "shared expert width", out);
  }
  return out;
}

std::string not_simulated(const Plan& plan, const Model& model) {
  const std::pair<const char*, int> later[] = {{"ep", plan.ep},   {"dp", plan.dp},         {"pp", plan.pp},
                                               {"dcp", plan.dcp}, {"moe_tp", plan.moe_tp}, {"moe_ep", plan.moe_ep}};
  for (const auto& [name, degree] : later)
    if (degree != 1) return fmt::format("plan.{} = {} is not simulated yet; this version runs tp with all others 1", name, degree);
  for (const Attention& a : model.attention)
    if (a.kind == Attention::Kind::mamba2 || a.kind == Attention::Kind::dsv4)
      return fmt::format("attention block `{}` of {} ({}) is not simulated yet", a.name, model.name,
                         a.kind == Attention::Kind::mamba2 ? "Mamba2" : "compressed attention");
  return {};
}

}  // namespace moe
