// How large is the model: parameters, checkpoint bytes, KV cache, weights on one GPU? All follow from
// model.hpp.
//
// Example (Kimi-K2.5, INT4): 1026.4 B parameters, of which a token uses 30.5 B in the layers; a checkpoint of
// 595 GB; 61 layers x 2 x (512 + 64) B = 70.3 KB of bf16 KV per token; 72 GiB of weights on a GPU under TP8.
//
//   total(count_parameters(kimi).main)                 ->  1026.4e9
//   checkpoint_bytes(kimi, int4).total()               ->  595.1e9
//   kv_size(kimi, KvDtype::bf16).bytes_per_token       ->  70272
//   weights_on_rank(kimi, int4, 8).total()             ->  71.95 GiB
#pragma once
#include <array>
#include <optional>
#include <string_view>

#include "base/table.hpp"
#include "model/model.hpp"

namespace moe {

/// One number per tensor class, parameters or bytes: by_class[index(TensorClass::router)].
using ByClass = std::array<double, kTensorClassCount>;
double total(const ByClass& by_class);

/// Bytes of one stored weight element, block scales included, scales per tensor left out.
///   nvfp4          1/2 + 1/16     e2m1, one e4m3 scale per 16
///   mxfp4          1/2 + 1/32     e2m1, one e8m0 scale per 32
///   int4_g32       1/2 + 2/32     one bf16 scale per 32
///   int4_g128      1/2 + 2/128    one bf16 scale per 128; zero points, where there are any, not counted
///   fp8_b128       1 + 4/128^2    one fp32 scale per 128x128 tile
///   fp8_b128_e8m0  1 + 1/128^2    one e8m0 scale per 128x128 tile
///   fp8_channel    1 + 4/5120     one fp32 scale per row; rows of about 5120 elements are assumed
/// Source: OCP Microscaling Formats (MX) 1.0 for mxfp4, the quantisation configs of the releases for the
/// rest.
double bytes_per_element(Format format);

/// Parameters of one attention block on a residual stream of width `hidden`; `indexer`: with its DSA indexer.
ByClass attention_params(const Attention& block, int hidden, bool indexer);
/// Parameters of one MLP block: all experts, not only the active ones.
ByClass mlp_params(const Mlp& block, int hidden);
/// Share of a class that one token uses: topk / experts for what routed experts own, else 1.
double active_share(TensorClass c, const Mlp& block);

struct ParameterCount {
  ByClass main{};  ///< decoder layers, final norm, embedding, output head
  ByClass mtp{};   ///< all MTP layers
  double vision = 0;
  double active_body = 0;  ///< a token uses these in the decoder layers: no embedding, no output head
  double active_mtp = 0;   ///< one pass over all MTP layers, without an output head
  double embed = 0;        ///< vocab x hidden
  double head = 0;         ///< the same, also where the head is tied to the embedding
  bool tied = false;
};
ParameterCount count_parameters(const Model& model);

/// Names of published counts. Publishers mix three conventions of "active"; each is spelled out.
inline constexpr std::array<std::string_view, 8> kCountNames{
    "total_main",  "total_with_mtp",   "total_with_vision",      "total_with_mtp_vision",
    "active_body", "active_with_head", "active_with_embed_head", "mtp"};
/// The count of that name, in parameters; nullopt for an unknown name.
std::optional<double> count_named(const ParameterCount& count, std::string_view name);

/// Bytes of the weight files.
struct CheckpointBytes {
  ByClass main{};
  ByClass mtp{};          ///< zero where the checkpoint has none
  double mtp_copies = 0;  ///< embedding and head stored again with each MTP layer
  double vision = 0;      ///< bf16
  double extra = 0;
  double total() const;
};
CheckpointBytes checkpoint_bytes(const Model& model, const Checkpoint& checkpoint);

/// Weight bytes resident on one GPU under tensor parallelism; whole or sliced experts cost the same.
struct RankWeights {
  ByClass main{};
  double absorbed_copy = 0;  ///< second copy of MLA's kv_b, bf16: W_UK and W_UV for absorbed decode
  double mtp = 0;
  double vision = 0;
  double total() const;
};
struct RankOptions {
  bool with_mtp = false;
  bool vision_sharded = false;  ///< engines replicate the vision tower unless told otherwise
  int expert_ranks = 0;         ///< ranks that divide the routed experts among them; 0: tp
  int first_layer = 0;          ///< pipeline stage: layers [first_layer, end_layer)
  int end_layer = -1;           ///< -1: all that follow
  bool embedding = true;        ///< the stage holds the embedding (and the vision tower)
  bool head = true;             ///< the stage holds final norm and output head
};
/// Norms, routers, the DSA indexer, latent projections, compressors, hyper-connections, the MTP input
/// projection and the down-projections of MLA are replicated; KV heads are repeated when there are fewer than
/// ranks; the rest is divided by `tp`. Tested against engine logs in tests/validation/model_sizes.cpp.
RankWeights weights_on_rank(const Model& model, const Checkpoint& checkpoint, int tp,
                            RankOptions options = {});

enum class KvDtype { bf16, fp8 };
inline constexpr std::array<std::string_view, 2> kKvDtypeNames{"bf16", "fp8"};

/// What one layer caches for one sequence, all heads (before any division by TP).
struct KvLayer {
  double bytes_per_token = 0;
  int window = 0;          ///< tokens kept at most; 0: all
  double state_bytes = 0;  ///< fixed, whatever the context
};
KvLayer kv_of_layer(const Attention& block, KvDtype dtype, bool indexer);

/// The decoder layers together; MTP layers not counted.
struct KvSize {
  double bytes_per_token = 0;  ///< of the layers that keep every token
  double window_bytes = 0;     ///< of the windowed layers, once their windows are full
  double state_bytes = 0;      ///< fixed state per sequence: GDN, Mamba2, the raw window of DeepSeek-V4
};
KvSize kv_size(const Model& model, KvDtype dtype);
/// Bytes cached for one sequence of `context` tokens, windows applied.
double kv_bytes(const Model& model, KvDtype dtype, double context);

}  // namespace moe
