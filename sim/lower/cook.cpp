#include <fmt/core.h>

#include <algorithm>

#include "config/diagnostic.hpp"
#include "lower/recipe.hpp"

namespace moe {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Bytes of one activation element that a GEMM of this family reads.
bool quantised_input(const std::string& format) { return format.starts_with("fp8") || format == "nvfp4"; }

}  // namespace

void missing_kernel(const Case& c, const std::string& section, const std::string& op, const std::string& format,
                    const std::string& path) {
  Diagnostics d;
  if (path.empty())
    d.error(fmt::format("stack `{}` names no kernel for `{}` in {}, which {} {} needs", c.stack.name, op, format,
                        c.model.name, c.weights().id),
            {}, {}, fmt::format("add `kernels.{}.{}` to the stack file, or choose another checkpoint or stack", op, format));
  else
    d.error(fmt::format("stack `{}` runs `{}` in {} by `{}`, which profile `{}` does not have under `{}`",
                        c.stack.name, op, format, path, c.profile.name, section),
            {}, {}, "fit a profile from measurements of this kernel, or name another path in the stack");
  throw InputError(std::move(d));
}

void Cook::add(const char* name, Category category, const KernelCost& cost, const std::string& path,
                const std::vector<std::string>& includes, bool replicated, CallShape call) {
  Item item;
  item.name = name;
  item.category = category;
  item.cost = cost;
  item.path = path;
  item.timed_alone = !contains(includes, "gap");
  item.replicated = replicated;
  item.call = std::move(call);
  recipe_.push_back(std::move(item));
}

void Cook::dense(const char* name, TensorClass weights, double n, double k, bool replicated, Category category,
                 double rows) {
  const double m = rows > 0 ? rows : rows_;
  const Format format = case_.weights().format[static_cast<std::size_t>(weights)];
  const std::string family = kernel_format(format);
  std::string path_name;
  DenseGemmPath path = kernel_path(case_, case_.profile.dense_gemm, "dense_gemm", "dense", family, path_name);
  if (format == Format::fp32) path.bytes_per_weight = 4;
  if (quantised_input(family) && !contains(path.includes, "quantise")) {
    other("quantise", "cast", family, Category::cast, m, 3 * m * k, kInL2, replicated);
    sized({{"m", m}, {"k", k}});
  }
  KernelCost cost = dense_gemm(gpu_, path, m, n, k);
  add(name, category, cost, path_name, path.includes, replicated,
      {"dense", format == Format::fp32 ? "fp32" : family, {{"m", m}, {"n", n}, {"k", k}}});
}

void Cook::sized(CallSizes sizes) {
  CallSizes& all = recipe_.back().call.sizes;
  all.insert(all.end(), sizes.begin(), sizes.end());
}

void Cook::other(const char* name, const char* op, const std::string& format, Category category, double x,
                 double bytes, double reuse_bytes, bool replicated) {
  std::string path_name;
  const ElementwisePath& path = kernel_path(case_, case_.profile.elementwise, "elementwise", op, format, path_name);
  add(name, category, moe::elementwise(gpu_, path, x, bytes, reuse_bytes), path_name, path.includes, replicated,
      {op, format, {{"bytes", bytes}}});
}

void Cook::reduction(const char* name, const char* fusable, double width, double row) {
  if (case_.stack.fuses(fusable)) return;
  const bool in_all_reduce = case_.stack.comm.fused_with_norm && layout_.tp > 1 && std::string_view(fusable) == "add_norm";
  if (in_all_reduce) return;
  if (row <= 0) row = width;
  const char* op = case_.stack.kernels.contains(fusable) ? fusable : "reduction";
  other(name, op, "any", Category::small_kernels, 1e-3 * row, 4 * rows_ * width, kInL2, false);
  sized({{"rows", rows_ * width / row}, {"width", row}});
}

void Cook::elementwise(const char* name, const char* fusable, double bytes, Category category, const CallSizes& sizes) {
  if (case_.stack.fuses(fusable)) return;
  const char* op = case_.stack.kernels.contains(fusable) ? fusable : "elementwise";
  other(name, op, "any", category, 0, bytes, kInL2, false);
  sized({{"rows", rows_}});
  sized(sizes);
}

void Cook::attention(const char* name, const char* op, const AttentionShape& shape, double longest_context,
                     bool replicated_kv) {
  const std::string format = case_.experiment.kv_dtype == KvDtype::fp8 ? "fp8" : "bf16";
  std::string path_name;
  const AttentionPath& path = kernel_path(case_, case_.profile.attention, "attention_decode", op, format, path_name);
  KernelCost cost = decode_attention(gpu_, path, shape);
  // Uneven lengths: the step is not over before the longest sequence is, even if it ran alone.
  AttentionShape longest = shape;
  longest.sequences = 1;
  longest.context = longest_context;
  if (longest_context > shape.context)
    cost.time_us = std::max(cost.time_us, decode_attention(gpu_, path, longest).time_us);
  const double score_dim = shape.score_dim > 0 ? shape.score_dim : shape.head_dim;
  add(name, Category::attention, cost, path_name, path.includes, replicated_kv,
      {op, format, {{"sequences", shape.sequences}, {"queries", shape.queries}, {"context", shape.context},
                    {"longest_context", longest_context}, {"heads", shape.heads}, {"kv_heads", shape.kv_heads},
                    {"head_dim", shape.head_dim}, {"score_dim", score_dim}, {"kv_row_bytes", shape.kv_row_bytes}}});
}

CallShape collective_call(CollectiveOp op, double bytes) {
  std::string op_class(name_of(op));
  std::replace(op_class.begin(), op_class.end(), '-', '_');
  return {op_class, "bf16", {{"bytes", bytes}}};
}

int Cook::ranks_of(Scope scope) const {
  switch (scope) {
    case Scope::group: return layout_.tp;
    case Scope::context: return layout_.dcp;
    case Scope::across: return layout_.dp;
    case Scope::stage: return layout_.ranks_per_stage();
  }
  return 1;
}

void Cook::collective(const char* name, Category category, CollectiveOp op, Scope scope, double bytes) {
  if (ranks_of(scope) == 1) return;
  Item item;
  item.what = Item::What::collective;
  item.name = name;
  item.category = category;
  item.op = op;
  item.scope = scope;
  item.bytes = bytes;
  item.rows = batch_.sequences * shape_.queries;
  item.call = collective_call(op, bytes);
  recipe_.push_back(std::move(item));
}

void Cook::all_reduce(const char* name) {
  collective(name, Category::all_reduce, CollectiveOp::all_reduce, Scope::group, rows_ * case_.model.hidden * 2);
}

void Cook::mark(Item::What what) {
  Item item;
  item.what = what;
  recipe_.push_back(std::move(item));
}

void Cook::move_to_aux(std::size_t from) {
  for (std::size_t i = from; i < recipe_.size(); ++i) recipe_[i].aux_stream = true;
}

}  // namespace moe
