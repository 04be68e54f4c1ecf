// What does a file of models/ say? Reads one model and reports every error of the file in one pass.
//
//   Diagnostics found;
//   const Model kimi = load_model("models/kimi-k2.5.yaml", found);   // kimi.name == "kimi-k2.5"
//   if (found.has_errors()) throw InputError(found);
//
//   schema: 1                              the keys are those of model/model.hpp
//   hidden: 7168
//   layer_count: 61
//   attention: {mla: {kind: mla, heads: 64, ...}}           named blocks
//   mlp: {dense: {...}, moe: {...}}
//   layers: {0: {attention: mla, mlp: dense}, 1..60: {attention: mla, mlp: moe}}
//   checkpoints: [{id: int4, formats: {default: bf16, routed_experts: int4_g32}, ...}]
#pragma once
#include <string>
#include <vector>

#include "config/fields.hpp"
#include "model/model.hpp"

namespace moe {

/// Reads a model file. With errors in `out` the returned model has a name and nothing else.
/// `record` (may be null) receives every field with its resolved value.
Model load_model(const std::string& file, Diagnostics& out, std::vector<FieldInfo>* record = nullptr);

/// The same for a text in memory; `file` names it in messages and gives the model its name.
Model parse_model(const std::string& text, const std::string& file, Diagnostics& out);

/// The declarations of a model file, for reading and for `explain`:
///   describe([](Fields& f) { Model m; bind_model(f, m); });
void bind_model(Fields& f, Model& model);

}  // namespace moe
