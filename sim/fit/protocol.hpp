// How were the rows of a path measured, and what is the path called? A YAML file, so that a user can change
// it.
//
//   schema: 1
//   formats: {nvfp4: {bytes_per_weight: 0.5625, bytes_per_activation: 0.5625, compute: fp4, quantises: true},
//   ...} score:   {gemm: {m: [1, 512], n: [128, 65536]}, ...}           rows that are fitted and scored
//   paths:                                                         the first entry that fits applies
//     - {op: gemm, rows: sglang-0.5.14/*, dtype: nvfp4, name: sglang-0.5.14/nvfp4, copies: 6}
//
// Found: the folder's own protocol.yaml, else --protocol, else calibration/protocols/default.yaml.
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
  /// Inside the scored sizes, and not excluded.
  bool scored(const Series& s, const Point& p) const;
};

Protocol load_protocol(const std::string& file);
void bind_protocol(Fields& f, Protocol& protocol);
/// Protocol for a folder of measurements: see above. Throws InputError when there is none.
Protocol find_protocol(const std::string& folder, const std::string& given,
                       const std::string& profile_folder);

/// Name of the profile path: the protocol's, with {engine}, {dtype} and {path} filled in, else by op:
/// path/dtype; path/gqa/kv_dtype; path/mla/kv_dtype; engine/mla_bmm/dtype; engine/cast_dtype, engine/absmax;
/// path.
std::string path_name(const PathProtocol& rule, const Series& s);
/// `*` matches any text.
bool fits(const std::string& pattern, const std::string& text);

}  // namespace moe
