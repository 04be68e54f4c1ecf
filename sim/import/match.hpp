// Does a pattern of a quantisation config name this module? The dialects in use:
//
//   "re:.*self_attn.*"                    regular expression from the start (compressed-tensors)
//   "model.layers.3.self_attn*"           wildcard, also over a whole subtree (ModelOpt, mxfp4)
//   "model.layers.3.self_attn.o_proj"     a module or a subtree
//   "gate"                                any path component (fp8, AWQ)
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace moe {

/// "language_model.model.layers.3.x", "model.layers.3.x", "backbone.layers.3.x" -> "layers.3.x"
std::string bare_module(std::string_view name);

/// `module` is bare. A broken regular expression matches nothing.
bool names_module(const std::string& pattern, const std::string& module);

/// `*` stands for any text.
bool wildcard(std::string_view pattern, std::string_view text);

}  // namespace moe
