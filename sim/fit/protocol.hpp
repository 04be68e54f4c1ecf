// How were the rows of a path measured, and what is the path called? A YAML file, so that a user can change
// it.
//
//   schema: 1
//   formats: {nvfp4: {bytes_per_weight: 0.5625, bytes_per_activation: 0.5625, compute: fp4, quantises: true},
//   ...} score:   {gemm: {m: [1, 512], n: [128, 65536]}, ...}           rows that are fitted and scored
//   paths:                                                         the first entry that fits applies
//     - {op: gemm, rows: sglang-0.5.14/*, dtype: nvfp4, name: sglang-0.5.14/nvfp4, copies: 6}
//
// Found: --protocol, else the folder's own protocol.yaml, else calibration/protocols/ENGINE.yaml where all paths are of
// one engine (suite-1/... -> suite.yaml), else calibration/protocols/default.yaml.
#pragma once
#include <map>
#include <optional>

#include "config/fields.hpp"
#include "cost/gpu.hpp"
#include "fit/measurements.hpp"

namespace moe {

/// A number format of weights: what one weight weighs and how it is multiplied.
struct Format {
  double bytes_per_weight = 2, bytes_per_activation = 2;
  ComputeType compute = ComputeType::bf16;
  bool quantises = false;  ///< the rows' time contains quantising the activations
};

/// Sizes of an MLA block: what the weights around its core are.
struct MlaModel {
  double hidden = 0, q_lora_rank = 0, kv_lora_rank = 0, qk_rope_head_dim = 0, qk_nope_head_dim = 0,
         v_head_dim = 0;
  /// Down-projections, which every rank holds whole; elements.
  double shared_weights() const { return hidden * (q_lora_rank + kv_lora_rank + qk_rope_head_dim); }
  /// Up-projection of q and output projection of one head; elements.
  double head_weights() const { return (qk_nope_head_dim + qk_rope_head_dim) * q_lora_rank + v_head_dim * hidden; }
  /// The two absorbed products of one head, kept in 16 bit; elements.
  double absorbed_weights() const { return kv_lora_rank * (qk_nope_head_dim + v_head_dim); }
};

struct PathProtocol {
  std::string rows = "*",
              dtype = "*";     ///< patterns for the path and the tags joined by `/`; `*` stands for anything
  std::string name;            ///< of the path in the profile; empty: default_name()
  std::string format;          ///< in `formats`; empty: the dtype
  double copies = 1;           ///< sets of weights that the benchmark used in turn; 0: data never re-used
  double fill_l2 = 0;          ///< at most this many sets, as many as fit into L2; 0: `copies` holds
  std::string skip;            ///< why the rows are not used; empty: they are
  bool clamped = false;        ///< remote experts' rows were folded onto local expert 0
  std::vector<Where> ungated;  ///< shapes without a gate matrix
  std::vector<Where> only;     ///< shapes that the entry is for; empty: all
  std::vector<Where> exclude;  ///< shapes that are not used
  std::vector<std::string> parts;  ///< what the time contains besides the kernel; empty: by op and format
  std::optional<Op> op;
};

struct Protocol {
  std::string file, hash;
  std::map<std::string, Format> formats;
  std::map<std::string, MlaModel> models;  ///< of mla_module.csv, by the name in its column `model`
  std::map<std::string, std::map<std::string, std::pair<double, double>>>
      score;  ///< op -> column -> [low, high]
  std::vector<PathProtocol> paths;
  int hold_out = 4;  ///< one shape of this many is held out
  std::vector<std::string> sources;

  /// Entries that fit a series: those for some shapes only, then the first for all.
  std::vector<const PathProtocol*> rules_of(const Series& s) const;
  /// The entry of one row.
  const PathProtocol& of(const Series& s, const Point& p) const;
  Format format(const std::string& dtype) const;
  const MlaModel& model(const std::string& name) const;
  /// Inside the scored sizes, and not excluded.
  bool scored(const Series& s, const Point& p) const;
};

Protocol load_protocol(const std::string& file);
void bind_protocol(Fields& f, Protocol& protocol);
/// Protocol for a folder of measurements: see above. Throws InputError when there is none.
Protocol find_protocol(const Measurements& m, const std::string& given,
                       const std::string& profile_folder);

/// Name of the profile path: the protocol's, with {engine}, {dtype} and {path} filled in, else by op:
/// path/dtype; path/gqa/kv_dtype; path/mla/kv_dtype; path/mla_module/model/gemm_dtype/kv_dtype;
/// engine/mla_bmm/dtype; engine/cast_dtype, engine/absmax; path; path/sparse_mla/kv_dtype, path/indexer_logits,
/// path/indexer_topk.
std::string path_name(const PathProtocol& rule, const Series& s);
/// `*` matches any text.
bool fits(const std::string& pattern, const std::string& text);

}  // namespace moe
