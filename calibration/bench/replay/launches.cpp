// The launches of one rank, class by class. Pointers are fixed when a launch is prepared: a graph can hold it.
#include <fmt/core.h>

#include <memory>

#include "harness/check.hpp"
#include "kernels/attention.hpp"
#include "kernels/dense_gemm.hpp"
#include "kernels/experts.hpp"
#include "kernels/small.hpp"
#include "replay/rank.hpp"
#include "replay/routing.hpp"

namespace moe::bench {
namespace {

Fill fill_of(Format format) {
  return format == Format::bf16 ? Fill::small_bf16 : format == Format::fp8 ? Fill::normal_e4m3 : Fill::bits;
}

}  // namespace

Rank::Run Rank::dense(const ReplayOp& op) {
  const Format format = weight_format(op);
  const auto gemm = std::make_shared<DenseGemm>(format, op.whole("m"), op.whole("n"), op.whole("k"));
  const void* w = weights(op.weights, gemm->weight_bytes(), fill_of(format));
  void* workspace = scratch(op, gemm->workspace_bytes());
  const bf16* x = current();
  // The router's logits are no input of the experts; they are drawn by the simulator.
  bf16* y = op.name == "router" ? side_.as<bf16>() : next();
  if (op.name != "router") turn();
  return [=](cudaStream_t s) { gemm->launch(s, x, w, y, workspace); };
}

Rank::Run Rank::experts(const ReplayOp& op) {
  const Format format = weight_format(op);
  ExpertShape shape;
  shape.tokens = op.whole("tokens");
  shape.hidden = op.whole("hidden");
  shape.intermediate = op.whole("intermediate");
  shape.topk = op.whole("topk");
  shape.experts = op.whole("experts");
  shape.local_experts = op.whole("local_experts");
  shape.first_expert = shape.local_experts < shape.experts ? op.rank * shape.local_experts : 0;
  if (op.whole("gated") != 1) throw Unsupported("experts without a gate matrix");
  const auto local = static_cast<std::size_t>(shape.local_experts);
  ExpertWeights w;
  w.w13 = weights(op.weights + ".w13", w13_bytes(format, shape), fill_of(format));
  w.w2 = weights(op.weights + ".w2", w2_bytes(format, shape), fill_of(format));
  if (format == Format::fp8) {
    w.scale13 = static_cast<const float*>(weights(op.weights + ".scale13", local * sizeof(float), Fill::scale_f32));
    w.scale2 = static_cast<const float*>(weights(op.weights + ".scale2", local * sizeof(float), Fill::scale_f32));
  }
  const std::vector<float> drawn =
      logits_for(op.rows, shape.first_expert, shape.experts, shape.topk, shape.tokens, op.whole("tokens_here"));
  const Buffer& logits = kept_.emplace_back(drawn.size() * sizeof(float));
  BENCH_CHECK(cudaMemcpy(logits.as(), drawn.data(), drawn.size() * sizeof(float), cudaMemcpyHostToDevice));
  const float* l = logits.as<float>();
  void* workspace = scratch(op, experts_workspace_bytes(format, shape));
  const bf16* x = current();
  bf16* y = next();
  turn();
  return [=](cudaStream_t s) { launch_experts(s, format, shape, x, l, w, y, workspace); };
}

Rank::Run Rank::attention(const ReplayOp& op) {
  if (op.sizes.at("longest_context") > op.sizes.at("context")) throw Unsupported("sequences of unequal length");
  bf16* kv = static_cast<bf16*>(cache(op.cache, 0));
  const bf16* q = current();
  bf16* y = next();
  turn();
  if (op.op_class == "mla") {
    if (op.whole("head_dim") != kLatent || op.whole("score_dim") != kLatent + kRope)
      throw Unsupported("the MLA kernel is made for a latent of 512 and a rotary part of 64");
    const MlaShape s{op.whole("sequences"), op.whole("context"), op.whole("heads"), op.whole("queries")};
    void* workspace = scratch(op, mla_workspace_bytes(s));
    return [=](cudaStream_t stream) { launch_mla(stream, s, q, kv, y, workspace); };
  }
  GqaShape s{op.whole("sequences"), op.whole("context"), op.whole("heads"), op.whole("kv_heads"), op.whole("head_dim"),
             op.whole("queries")};
  const bf16* v = kv + static_cast<long>(s.sequences) * s.kv_heads * s.context * s.head_dim;
  void* workspace = scratch(op, gqa_workspace_bytes(s));
  return [=](cudaStream_t stream) { launch_gqa(stream, s, q, kv, v, y, workspace); };
}

Rank::Run Rank::absorb(const ReplayOp& op) {
  const int rows = op.whole("rows"), heads = op.whole("heads"), k = op.whole("k"), n = op.whole("n");
  const bool to_latent = k == 128 && n == kLatent, to_value = k == kLatent && n == 128;
  if (!to_latent && !to_value) throw Unsupported(fmt::format("absorbed products of {} x {}", k, n));
  const auto gemm = std::make_shared<BatchedGemm>(to_latent ? mla_pre(rows, heads) : mla_post(rows, heads));
  const auto bytes = static_cast<std::size_t>(heads) * static_cast<std::size_t>(k) * static_cast<std::size_t>(n) * 2;
  const auto* w = static_cast<const bf16*>(weights(op.weights, bytes, Fill::small_bf16));
  void* workspace = scratch(op, gemm->workspace_bytes());
  const bf16* x = current();
  bf16* y = next();
  turn();
  return [=](cudaStream_t s) { gemm->launch(s, x, w, y, workspace); };
}

}  // namespace moe::bench
