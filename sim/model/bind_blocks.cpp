#include "model/bind.hpp"
#include "model/keys.hpp"
#include "model/layer_ranges.hpp"

namespace moe {
namespace {

using A = Attention::Kind;
using M = Mlp::Kind;
const std::vector<std::string> kAttentionKinds{"mla", "gqa", "gdn", "mamba2", "dsv4"};
const std::vector<std::string> kMlpKinds{"dense", "moe"};
const std::vector<std::string> kOutputGates{"none", "headwise", "elementwise"};
const std::vector<std::string> kQkNorms{"none", "per_head", "per_layer", "none_weight"};

constexpr Key<Attention, int> kAttentionCounts[] = {
    {"heads", &Attention::heads, kinds(A::mla, A::gqa, A::mamba2, A::dsv4), 0, 1,
     "query heads; state heads of mamba2"},
    {"kv_heads", &Attention::kv_heads, kinds(A::gqa), 0, 1, "key and value heads"},
    {"head_dim", &Attention::head_dim, kinds(A::gqa, A::mamba2, A::dsv4), 0, 1, "width of a head"},
    {"window", &Attention::window, kinds(A::dsv4), kinds(A::gqa), 1, "tokens of a sliding or chunked window"},
    {"q_lora_rank", &Attention::q_lora_rank, kinds(A::mla, A::dsv4), 0, 1, "width of the compressed query"},
    {"kv_lora_rank", &Attention::kv_lora_rank, kinds(A::mla), 0, 1,
     "width of the compressed keys and values"},
    {"qk_nope_head_dim", &Attention::qk_nope_head_dim, kinds(A::mla), 0, 1,
     "query and key width without RoPE"},
    {"qk_rope_head_dim", &Attention::qk_rope_head_dim, kinds(A::mla), 0, 1, "query and key width with RoPE"},
    {"v_head_dim", &Attention::v_head_dim, kinds(A::mla, A::gdn), 0, 1, "width of a value head"},
    {"k_heads", &Attention::k_heads, kinds(A::gdn), 0, 1, "query and key heads"},
    {"v_heads", &Attention::v_heads, kinds(A::gdn), 0, 1, "value heads"},
    {"k_head_dim", &Attention::k_head_dim, kinds(A::gdn), 0, 1, "width of a query or key head"},
    {"conv_kernel", &Attention::conv_kernel, kinds(A::gdn, A::mamba2), 0, 1,
     "taps of the causal convolution"},
    {"state", &Attention::state, kinds(A::mamba2), 0, 1, "state width per head channel"},
    {"groups", &Attention::groups, kinds(A::mamba2), 0, 1, "groups that share B and C"},
    {"compress_ratio", &Attention::compress_ratio, kinds(A::dsv4), 0, 0,
     "tokens per compressed row; 0: window only"},
    {"rope_dim", &Attention::rope_dim, kinds(A::dsv4), 0, 1, "RoPE part of head_dim"},
    {"o_lora_rank", &Attention::o_lora_rank, kinds(A::dsv4), 0, 1, "width of a group's compressed output"},
    {"o_groups", &Attention::o_groups, kinds(A::dsv4), 0, 1, "groups of the output projection"},
    {"index_heads", &Attention::index_heads, 0, kinds(A::dsv4), 1, "indexer heads; absent: no indexer"},
    {"index_head_dim", &Attention::index_head_dim, 0, kinds(A::dsv4), 1, "width of an indexer head"},
    {"index_topk", &Attention::index_topk, 0, kinds(A::dsv4), 1, "compressed rows that a query reads"},
    {"input_mult", &Attention::input_mult, 0, kinds(A::mla, A::gqa), 1,
     "input width in units of hidden (drafts: 2)"},
};

constexpr Key<Attention, bool> kAttentionFlags[] = {
    {"qkv_bias", &Attention::qkv_bias, 0, kinds(A::gqa), 0, "biases on the q, k and v projections"},
    {"o_bias", &Attention::o_bias, 0, kinds(A::gqa), 0, "bias on the output projection"},
    {"sinks", &Attention::sinks, 0, kinds(A::gqa), 0, "one learned attention sink per head"},
    {"rope", &Attention::rope, 0, kinds(A::gqa), 0, "rotary position embedding"},
};

constexpr Key<Mlp, int> kMlpCounts[] = {
    {"intermediate", &Mlp::intermediate, kinds(M::dense), 0, 1, "inner width"},
    {"experts", &Mlp::experts, kinds(M::moe), 0, 1, "routed experts of a layer"},
    {"topk", &Mlp::topk, kinds(M::moe), 0, 1, "experts per token"},
    {"expert_intermediate", &Mlp::expert_intermediate, kinds(M::moe), 0, 1, "inner width of an expert"},
    {"groups", &Mlp::groups, 0, kinds(M::moe), 1, "groups of experts (group-limited routing)"},
    {"topk_groups", &Mlp::topk_groups, 0, kinds(M::moe), 1, "groups that a token may use"},
    {"shared_experts", &Mlp::shared_experts, 0, kinds(M::moe), 1, "experts that every token uses"},
    {"shared_intermediate", &Mlp::shared_intermediate, 0, kinds(M::moe), 1,
     "inner width of all shared experts together"},
    {"latent", &Mlp::latent, 0, kinds(M::moe), 1, "width on which routed experts work; absent: hidden"},
};

constexpr Key<Mlp, bool> kMlpFlags[] = {
    {"gated", &Mlp::gated, 0, kinds(M::dense, M::moe), 0, "two input matrices (w1, w3), else one"},
    {"shared_gate", &Mlp::shared_gate, 0, kinds(M::moe), 0, "a gate of one column on the shared expert"},
    {"expert_bias", &Mlp::expert_bias, 0, kinds(M::moe), 0, "biases inside the experts"},
    {"router_bias", &Mlp::router_bias, 0, kinds(M::moe), 0, "bias of the router projection"},
    {"correction_bias", &Mlp::correction_bias, 0, kinds(M::moe), 0, "load-balancing bias on the scores"},
    {"hash_routed", &Mlp::hash_routed, 0, kinds(M::moe), 0, "experts chosen by token id, not by score"},
};

/// Reports `part` not dividing `whole`; values that were not read (0) are not judged.
void check_divides(Fields& f, const char* part_key, int part, const char* whole_key, int whole) {
  if (part <= 0 || whole <= 0 || whole % part == 0) return;
  f.error(part_key, fmt::format("{} {} do not divide {} {}", part, part_key, whole, whole_key),
          fmt::format("`{}` must be a multiple of `{}`", whole_key, part_key));
}

/// Reports `part` above `whole`.
void check_at_most(Fields& f, const char* part_key, int part, const char* whole_key, int whole) {
  if (part <= 0 || whole <= 0 || part <= whole) return;
  f.error(part_key, fmt::format("`{}` is {}, but there are only {} `{}`", part_key, part, whole, whole_key));
}

/// Reports a key that needs another one beside it.
void check_needs(Fields& f, const char* key, const char* other) {
  if (!f.has(key) || f.has(other)) return;
  f.error(key, fmt::format("`{}` has no effect without `{}`", key, other), fmt::format("add `{}`", other));
}

void bind_indexer(Fields& f, Attention& block) {
  SparseIndexer dsa;
  std::string layers;
  const bool given =
      f.section("dsa", Need::optional, "DeepSeek sparse attention: its indexer (kind mla)", [&](Fields& g) {
        g.integer("heads", dsa.heads, Need::required, Range::between(1, 1e6), "indexer heads");
        g.integer("head_dim", dsa.head_dim, Need::required, Range::between(1, 1e6),
                  "width of an indexer head");
        g.integer("topk", dsa.topk, Need::required, Range::between(1, 1e6),
                  "cached tokens that a query reads");
        g.text("layers", layers, Need::optional,
               "layers that compute indices, e.g. `0..2, 6..74+4`; absent: all");
        if (layers.empty()) return;
        const LayerRanges ranges = parse_layer_ranges(layers);
        if (!ranges.problem.empty()) g.error("layers", ranges.problem, "write layers like `0..2, 6..74+4`");
        dsa.layers = ranges.layers;
      });
  if (given) block.dsa = dsa;
}

void check_attention(Fields& f, const Attention& a) {
  if (a.kind == A::gqa) check_divides(f, "kv_heads", a.kv_heads, "heads", a.heads);
  if (a.kind == A::gdn) check_divides(f, "k_heads", a.k_heads, "v_heads", a.v_heads);
  if (a.kind == A::mamba2) check_divides(f, "groups", a.groups, "heads", a.heads);
  if (a.kind != A::dsv4) return;
  check_divides(f, "o_groups", a.o_groups, "heads", a.heads);
  check_at_most(f, "rope_dim", a.rope_dim, "head_dim", a.head_dim);
  check_needs(f, "index_heads", "index_head_dim");
  check_needs(f, "index_heads", "index_topk");
  check_needs(f, "index_head_dim", "index_heads");
  check_needs(f, "index_topk", "index_heads");
  if (a.index_heads > 0 && a.compress_ratio == 0)
    f.error("index_heads", "`index_heads` has no effect when `compress_ratio` is 0",
            "there are no rows to choose from");
}

void check_mlp(Fields& f, const Mlp& m) {
  if (m.kind != M::moe) return;
  check_at_most(f, "topk", m.topk, "experts", m.experts);
  check_divides(f, "groups", m.groups, "experts", m.experts);
  check_at_most(f, "topk_groups", m.topk_groups, "groups", m.groups);
  check_needs(f, "shared_experts", "shared_intermediate");
  check_needs(f, "shared_intermediate", "shared_experts");
  check_needs(f, "shared_gate", "shared_experts");
}

}  // namespace

void bind_attention(Fields& f, Attention& block) {
  bind_kind(f, block, kAttentionKinds, "how the layer mixes tokens");
  bind_keys(f, block, kAttentionCounts, kAttentionKinds);
  bind_keys(f, block, kAttentionFlags, kAttentionKinds);
  if (applies(f, block, "output_gate", kinds(A::gqa), kAttentionKinds))
    f.choice("output_gate", block.output_gate, kOutputGates, Need::optional,
             "gate on the attention output: one value per head, or one per element (doubles q)");
  if (applies(f, block, "qk_norm", kinds(A::gqa), kAttentionKinds))
    f.choice("qk_norm", block.qk_norm, kQkNorms, Need::optional,
             "norm of queries and keys: weights of one head, of all heads, or none (none_weight: normed, no "
             "weight)");
  if (applies(f, block, "dsa", kinds(A::mla), kAttentionKinds)) bind_indexer(f, block);
  if (!f.describing()) check_attention(f, block);
}

void bind_mlp(Fields& f, Mlp& block) {
  static const std::vector<std::string> formats(kFormatNames.begin(), kFormatNames.end());
  bind_kind(f, block, kMlpKinds, "dense, or a mixture of experts");
  bind_keys(f, block, kMlpCounts, kMlpKinds);
  bind_keys(f, block, kMlpFlags, kMlpKinds);
  if (applies(f, block, "router_format", kinds(M::moe), kMlpKinds))
    f.choice("router_format", block.router_format, formats, Need::optional,
             "storage format of the router, for checkpoints that do not say otherwise");
  if (!f.describing()) check_mlp(f, block);
}

}  // namespace moe
