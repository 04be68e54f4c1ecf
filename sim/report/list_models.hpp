// Which models are known, and how large are they? The answer of `moe-sim list models`.
//
//   model                 total    active  KV cache  KV cache     fixed  checkpoints
//                             B         B  KB/token  KB/token    MB/seq  GB on disk
//                                              bf16       fp8      bf16
//   gpt-oss-20b            20.9       3.6      24.6      12.3       3.1  mxfp4 13.8
//   qwen3.5-122b-a10b     122.1       9.0      24.6      12.3     153.6  bf16 250.2, nvfp4 83.5, fp8 127.2*
//   step-3.5-flash        197.0      11.5      49.2      24.6      69.2  bf16 398.9, fp8 208.7*
//
// B = 1e9 parameters, KB, MB, GB = 1e3, 1e6, 1e9 bytes. Total: decoder layers, embedding and head, without
// MTP and vision. Active: what a token multiplies, decoder layers and head. Fixed: full windows and recurrent
// state of one sequence. An asterisk marks a checkpoint whose list of quantised tensors was inferred.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace moe {

/// The table above, one line per model in the given order.
std::string models_table(const std::vector<Model>& models);

/// The same as a list of objects, sizes in bytes and counts in parameters. The keys are stable:
///   name, repository, architecture, layers, max_context, parameters, mtp_parameters, vision_parameters,
///   active_parameters {body, with_head, with_embed_head},
///   kv_cache {bf16, fp8} of {bytes_per_token, window_bytes_per_sequence, state_bytes_per_sequence},
///   checkpoints [{id, repository, bytes, activation, kv_dtype, verified}]
nlohmann::json models_json(const std::vector<Model>& models);

}  // namespace moe
