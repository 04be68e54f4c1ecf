// The attention half of a layer, per rank: projections, cache, core, output projection. Sizes: decode GEMM list of
// the model facts (M = rows of the step, t = tp, R = repeated on every rank).
#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "lower/recipe.hpp"

namespace moe {
namespace {

double kv_element_bytes(const Cook& c) { return c.inputs().experiment.kv_dtype == KvDtype::fp8 ? 1 : 2; }

/// Tokens that the core of one rank reads: the cached ones and the step's own, split by token over the dcp ranks.
/// Read once per sequence, however many of its tokens ask.
double context_read(const Cook& c, double limit) { return (c.batch().mean_capped(limit) + c.queries()) / c.layout().dcp; }
double longest_read(const Cook& c, double limit) { return (std::min(c.batch().max_context(), limit) + c.queries()) / c.layout().dcp; }

/// Queries of one sequence share its cache; they fill the rows of a tile instead of reading it again.
AttentionShape shape_of(const Cook& c, double context) {
  AttentionShape s;
  s.sequences = c.batch().sequences;
  s.queries = c.queries();
  s.context = context;
  s.shared_context = c.batch().shared_prefix / c.layout().dcp;
  return s;
}

/// Decode context parallel: every rank attends with the queries of the whole dcp group over its part of the tokens.
/// Before the core the queries are gathered, after it the partial outputs are merged by their log-sum-exp.
/// Sizes: vLLM's ag_rs backend (all-gather of q, all-gather of LSE in fp32, reduce-scatter of the output).
void gather_queries(Cook& c, double heads, double dim) {
  if (c.layout().dcp == 1) return;
  c.collective("all-gather q", Category::all_gather, CollectiveOp::all_gather, Scope::context, c.rows() * heads * dim * 2);
}
void merge_outputs(Cook& c, double heads, double dim) {
  if (c.layout().dcp == 1) return;
  const double dcp = c.layout().dcp;
  c.collective("all-gather LSE", Category::all_gather, CollectiveOp::all_gather, Scope::context, c.rows() * heads * dcp * 4);
  for (const char* name : {"correct output", "scale output", "cast LSE"}) c.elementwise(name, "", 4 * c.rows() * heads * dim);
  c.collective("reduce-scatter output", Category::all_gather, CollectiveOp::reduce_scatter, Scope::context,
               c.rows() * heads * dim * 2);
}

/// DSA indexer, R: three projections, rotary and quantise, logits over the index cache, top-k.
void cook_indexer(Cook& c, const Attention& a) {
  const SparseIndexer& d = *a.dsa;
  const double b = c.batch().sequences;
  const double context = context_read(c, 1e18);
  c.dense("indexer wq_b", TensorClass::indexer, d.heads * d.head_dim, a.q_lora_rank, true);
  c.dense("indexer wk", TensorClass::indexer, d.head_dim, c.inputs().model.hidden, true);
  c.dense("indexer weights", TensorClass::indexer_w, d.heads, c.inputs().model.hidden, true);
  c.elementwise("indexer rope", "rope", 4 * c.rows() * (d.heads + 1) * d.head_dim);
  c.elementwise("indexer quantise", "", 3 * c.rows() * (d.heads + 1) * d.head_dim);
  c.elementwise("index cache write", "kv_write", 3 * c.rows() * d.head_dim);
  // 128 values in FP8 and one fp32 scale per cached token.
  c.other("indexer logits", "indexer_logits", "any", Category::attention, 0, b * context * (d.head_dim + 4 + 4 * c.queries()), kCold, true);
  // A radix select reads 32-bit logits once per 8 bits.
  c.other("indexer top-k", "indexer_topk", "any", Category::attention, 0, 4 * b * c.queries() * context * 4, kInL2, true);
  // Every rank keeps its own best; value and position of each go round.
  c.collective("all-gather top-k", Category::all_gather, CollectiveOp::all_gather, Scope::context,
               c.rows() * d.topk * 8 * c.layout().dcp);
}

/// MLA over the selected tokens only. The FP8 rows of the sparse kernels hold the latent in FP8, a scale per 128 and the
/// rotary part in bf16: 656 B for 512 + 64.
void cook_sparse_core(Cook& c, const Attention& a) {
  const bool fp8 = c.inputs().experiment.kv_dtype == KvDtype::fp8;
  AttentionShape s = shape_of(c, context_read(c, a.dsa->topk - 1));
  s.heads = a.heads * c.layout().dcp / c.tp();
  s.head_dim = a.kv_lora_rank;
  s.score_dim = a.kv_lora_rank + a.qk_rope_head_dim;
  s.kv_row_bytes = fp8 ? a.kv_lora_rank + 4.0 * a.kv_lora_rank / 128 + 2.0 * a.qk_rope_head_dim : 2 * s.score_dim;
  c.attention("sparse MLA", "sparse_mla", s, longest_read(c, a.dsa->topk - 1), true);
}

/// One absorbed product: heads x [rows, rank] x [rank, dim], weights streamed.
/// From `from` values per head to `to`.
void cook_absorb(Cook& c, const char* name, double heads, double from, double to) {
  const std::string format = kernel_format(c.inputs().weights().format[index(TensorClass::attn_kv_b)]);
  const double weight = format.starts_with("fp8") ? 1 : 2;
  c.other(name, "absorb", format, Category::dense_gemm, 2e-9 * c.rows() * heads * from * to,
          weight * heads * from * to + 2 * c.rows() * heads * (from + to), kCold, false);
  c.sized({{"rows", c.rows()}, {"heads", heads}, {"k", from}, {"n", to}});
}

void cook_mla_core(Cook& c, const Attention& a) {
  AttentionShape s = shape_of(c, context_read(c, 1e18));
  s.heads = a.heads * c.layout().dcp / c.tp();
  s.kv_heads = 1;
  s.head_dim = a.kv_lora_rank;
  s.score_dim = a.kv_lora_rank + a.qk_rope_head_dim;
  s.kv_row_bytes = s.score_dim * kv_element_bytes(c);
  c.attention("MLA decode", "mla", s, longest_read(c, 1e18), true);
}

void cook_mla(Cook& c, const Attention& a, bool indexer) {
  const double h = c.inputs().model.hidden, m = c.rows();
  const double heads = a.heads / c.tp();
  const double rank = a.kv_lora_rank, rope = a.qk_rope_head_dim, nope = a.qk_nope_head_dim;
  const bool sparse = a.dsa.has_value() && c.inputs().stack.sparse_attention;
  c.dense("qkv_a", TensorClass::attn_q, a.q_lora_rank + rank + rope, h * a.input_mult, true);
  c.reduction("q_a norm", "qk_norm", a.q_lora_rank);
  c.reduction("kv_a norm", "qk_norm", rank);
  c.dense("q_b", TensorClass::attn_q, heads * (nope + rope), a.q_lora_rank, false);
  if (sparse && indexer) cook_indexer(c, a);
  c.elementwise("rope", "rope", 4 * m * (heads + 1) * rope, Category::small_kernels, {{"dim", rope}});
  c.elementwise("kv write", "kv_write", (2 + kv_element_bytes(c)) * m * (rank + rope));
  cook_absorb(c, "absorb W_UK", heads, nope, rank);
  c.elementwise("q concat", "q_concat", (2 + kv_element_bytes(c)) * m * heads * (rank + rope));
  const double group_heads = heads * c.layout().dcp;
  gather_queries(c, group_heads, rank + rope);
  if (sparse) cook_sparse_core(c, a);
  else cook_mla_core(c, a);
  merge_outputs(c, group_heads, rank);
  cook_absorb(c, "absorb W_UV", heads, rank, a.v_head_dim);
  c.dense("o_proj", TensorClass::attn_o, h, heads * a.v_head_dim, false);
}

void cook_gqa(Cook& c, const Attention& a) {
  const double h = c.inputs().model.hidden, m = c.rows(), d = a.head_dim;
  const double heads = a.heads / c.tp(), kv_heads = std::max(1.0, a.kv_heads / c.tp());
  const double gate = a.output_gate == Attention::OutputGate::elementwise ? 2 : 1;
  c.dense("qkv", TensorClass::attn_q, (heads * gate + 2 * kv_heads) * d, h * a.input_mult, false);
  if (a.output_gate == Attention::OutputGate::headwise)
    c.dense("head gate", TensorClass::attn_gate, heads, h, false);
  if (a.qk_norm != Attention::QkNorm::none) {
    const double row = a.qk_norm == Attention::QkNorm::per_layer ? 0 : d;
    c.reduction("q norm", "qk_norm", heads * d, row);
    c.reduction("k norm", "qk_norm", kv_heads * d, row);
  }
  if (a.rope) c.elementwise("rope", "rope", 4 * m * (heads + kv_heads) * d, Category::small_kernels, {{"dim", d}});
  c.elementwise("kv write", "kv_write", (2 + kv_element_bytes(c)) * m * 2 * kv_heads * d);
  const double limit = a.window > 0 ? a.window - 1 : 1e18;
  const double group_heads = heads * c.layout().dcp;
  gather_queries(c, group_heads, d);
  AttentionShape s = shape_of(c, context_read(c, limit));
  s.heads = group_heads;
  s.kv_heads = kv_heads;
  s.head_dim = d;
  s.kv_row_bytes = 2 * kv_heads * d * kv_element_bytes(c);
  c.attention("GQA decode", "gqa", s, longest_read(c, limit), false);
  merge_outputs(c, group_heads, d);
  if (a.output_gate != Attention::OutputGate::none) c.elementwise("output gate", "output_gate", 6 * m * heads * d);
  c.dense("o_proj", TensorClass::attn_o, h, heads * d, false);
}

/// Gated delta net: recurrent state instead of a cache; its cost does not depend on the context.
void cook_gdn(Cook& c, const Attention& a) {
  const double h = c.inputs().model.hidden, m = c.rows(), b = c.batch().sequences;
  const double key = a.k_heads * a.k_head_dim / c.tp(), value = a.v_heads * a.v_head_dim / c.tp();
  c.dense("in_proj qkvz", TensorClass::linattn_in, 2 * key + 2 * value, h, false);
  c.dense("in_proj b,a", TensorClass::linattn_small, 2 * a.v_heads / c.tp(), h, false);
  c.elementwise("split", "q_concat", 4 * m * (2 * key + value));
  // Conv state of kernel - 1 taps read and written once, input and output per token, 16 bit: 16 B per channel for 4 taps
  // and one token.
  const double q = c.queries();
  c.other("conv update", "gdn_conv", "any", Category::attention, 0, 4.0 * (a.conv_kernel - 1 + q) * b * (2 * key + value), kCold, false);
  // fp32 state of every local value head, read once and written after every token: a rejected draft must be undone.
  c.other("recurrent update", "gdn_recurrent", "any", Category::attention, 0,
          (1 + q) * 4 * b * a.v_heads / c.tp() * a.k_head_dim * a.v_head_dim, kCold, false);
  c.reduction("gated norm", "", value);
  c.dense("out_proj", TensorClass::linattn_out, h, value, false);
}

/// DeepSeek-V4: one latent KV head of 512; a raw window, and beyond it tokens compressed by `compress_ratio` (4: of those
/// an indexer picks the best; 128: all are read). The output projection works in groups.
void cook_dsv4(Cook& c, const Attention& a) {
  const double h = c.inputs().model.hidden, m = c.rows(), b = c.batch().sequences, dim = a.head_dim;
  const double heads = a.heads / c.tp(), groups = std::max(1.0, a.o_groups / c.tp());
  c.dense("wqkv_a", TensorClass::attn_q, a.q_lora_rank + dim, h, true);
  c.reduction("q norm", "qk_norm", a.q_lora_rank);
  c.reduction("kv norm", "qk_norm", dim);
  c.dense("wq_b", TensorClass::attn_q, heads * dim, a.q_lora_rank, false);
  c.elementwise("rope", "rope", 4 * m * (heads + 1) * a.rope_dim);
  c.elementwise("kv write", "kv_write", 3 * m * dim);
  if (a.compress_ratio > 0) {
    c.dense("compressor", TensorClass::compressor, 2 * (a.compress_ratio == 4 ? 2 : 1) * dim, h, true);
    c.elementwise("compress", "", 4 * m * dim);
  }
  double tokens = std::min<double>(a.window, context_read(c, 1e18)), longest = std::min<double>(a.window, longest_read(c, 1e18));
  if (a.compress_ratio == 4) {
    const double seen = context_read(c, 1e18) / 4;
    c.dense("indexer wq_b", TensorClass::indexer, a.index_heads * a.index_head_dim, a.q_lora_rank, true);
    c.dense("indexer weights", TensorClass::indexer_w, a.index_heads, h, true);
    c.dense("index compressor", TensorClass::compressor, 4 * a.index_head_dim, h, true);
    c.other("indexer logits", "indexer_logits", "any", Category::attention, 0, b * seen * (a.index_head_dim + 4 + 4 * c.queries()), kCold, true);
    c.other("indexer top-k", "indexer_topk", "any", Category::attention, 0, 4 * b * c.queries() * seen * 4, kInL2, true);
    tokens += std::min<double>(a.index_topk, seen);
    longest += std::min<double>(a.index_topk, longest_read(c, 1e18) / 4);
  } else if (a.compress_ratio > 0) {
    tokens += context_read(c, 1e18) / a.compress_ratio;
    longest += longest_read(c, 1e18) / a.compress_ratio;
  }
  AttentionShape s = shape_of(c, tokens);
  s.heads = heads;
  s.head_dim = dim;
  // FP8 rows: 448 values, a scale per 64 and one for the row, the rotary part in bf16 (584 B).
  s.kv_row_bytes = kv_element_bytes(c) == 1 ? dim - a.rope_dim + 2.0 * a.rope_dim + (dim - a.rope_dim) / 64 + 1 : 2 * dim;
  c.attention("sparse attention", "sparse_mla", s, longest, true);
  c.dense("wo_a", TensorClass::attn_o, groups * a.o_lora_rank, a.heads * dim / a.o_groups, false);
  c.dense("wo_b", TensorClass::attn_o, h, a.o_groups * a.o_lora_rank / c.tp(), false);
}

}  // namespace

/// Residual streams are mixed before and after each half of a layer, where the model has several.
void cook_residual(Cook& c) {
  if (c.inputs().model.hyper_connections > 0)
    c.other("mHC mix", "mhc", "any", Category::small_kernels, 0,
            4 * c.rows() * c.inputs().model.hyper_connections * c.inputs().model.hidden, kInL2, true);
}

void cook_attention(Cook& c, const Attention& a, bool indexer) {
  if (a.kind == Attention::Kind::none) return;
  cook_residual(c);
  c.reduction("add+norm", "add_norm", c.inputs().model.hidden);
  c.mark(Item::What::eager_attention);
  switch (a.kind) {
    case Attention::Kind::mla: cook_mla(c, a, indexer); break;
    case Attention::Kind::gqa: cook_gqa(c, a); break;
    case Attention::Kind::gdn: cook_gdn(c, a); break;
    case Attention::Kind::dsv4: cook_dsv4(c, a); break;
    default: throw Infeasible("not-simulated-yet", "attention block `" + a.name + "` is not simulated yet");
  }
  c.all_reduce("all-reduce attention");
}

}  // namespace moe
