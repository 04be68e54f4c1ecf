// How were the weights quantised? One scheme out of quantization_config and hf_quant_config.json, whatever its dialect:
// fp8 (blocks of 128x128), compressed-tensors, ModelOpt, mxfp4, AWQ, GPTQ.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/families.hpp"

namespace moe {

struct Scheme {
  std::string method = "bf16";                 ///< a sentence for the model file
  std::string id;                              ///< "awq", "gptq"; "": named after the experts' format
  std::optional<Format> base;                  ///< of every linear module that is not kept; none: nothing is quantised
  std::optional<Format> experts;               ///< of routed experts, where it is another one (expert_dtype: fp4)
  bool weights_only = false;                   ///< activations stay bf16
  bool fp8_activations = false;                ///< whatever the weights
  bool fp8_kv = false;
  std::vector<std::string> kept;               ///< patterns of modules that are not quantised
  bool lists_kept = false;                     ///< there was such a list
  std::map<std::string, Format> listed;        ///< modules with a format of their own, bare names
  std::vector<std::pair<std::string, Format>> patterns;  ///< the same by pattern
};

/// Reads the scheme out of the config's own key. `extra`: hf_quant_config.json, may be null. Throws Infeasible("unsupported-quantisation") for
/// formats that a model file cannot say, e.g. int8.
Scheme read_scheme(const nlohmann::ordered_json* extra, HfConfig& c);

/// The checkpoint of a model under a scheme: every tensor class gets the format of its modules. What the scheme does not
/// say becomes an assumption of `c`; patterns that name nothing known are returned in `unmapped`.
Checkpoint apply_scheme(const Scheme& s, const Family& family, const Model& m, HfConfig& c, std::vector<std::string>& unmapped);

}  // namespace moe
