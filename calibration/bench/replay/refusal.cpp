// Which ops the suite can execute. Paths are those of calibration/stacks/moe-calibrate.yaml.
#include <fmt/core.h>

#include <array>

#include "harness/check.hpp"
#include "replay/rank.hpp"

namespace moe::bench {
namespace {

/// Kernel paths by op class: the class alone does not say which kernel was costed.
struct Known {
  const char* op_class;
  const char* path;
  Format weights = Format::bf16;
};
constexpr Known kKnown[] = {
    {"dense", "suite-1/cublaslt/bfloat16"},      {"dense", "suite-1/cublaslt/fp8", Format::fp8},
    {"experts", "suite-1/grouped_bf16"},     {"experts", "suite-1/grouped_fp8", Format::fp8},
    {"experts", "suite-1/grouped_w4a16", Format::int4},      {"gqa", "suite-1/gqa_split/gqa/kv_bfloat16"},
    {"mla", "suite-1/mla_split/mla/kv_bfloat16"},          {"absorb", "suite-1/mla_bmm/bfloat16"},
    {"add_norm", "suite-1/add_rmsnorm"},         {"qk_norm", "suite-1/rmsnorm"},
    {"rope", "suite-1/rope"},                    {"kv_write", "suite-1/kv_write"},
    {"q_concat", "suite-1/copy"},                {"activation", "suite-1/silu_mul"},
    {"shared_add", "suite-1/add"},               {"embedding", "suite-1/copy"},
    {"sampling", "suite-1/gumbel"}};
constexpr std::array kCollectives{"all_reduce", "all_gather", "reduce_scatter"};

const Known* known(const ReplayOp& op) {
  for (const Known& k : kKnown)
    if (op.op_class == k.op_class && op.path == k.path) return &k;
  return nullptr;
}

}  // namespace

Format weight_format(const ReplayOp& op) {
  if (const Known* k = known(op); k != nullptr) return k->weights;
  throw Unsupported(refusal(op));
}

std::string refusal(const ReplayOp& op) {
  if (op.stream != "main") return fmt::format("runs on the {} stream; a replay has one stream per GPU", op.stream);
  for (const char* c : kCollectives)
    if (op.op_class == c) return {};
  if (op.format == "fp32") return "fp32 weights: the suite measures no fp32 multiply";
  if (known(op) != nullptr) return {};
  std::string paths;
  for (const Known& k : kKnown)
    if (op.op_class == k.op_class) paths += fmt::format("{}{}", paths.empty() ? "" : ", ", k.path);
  if (paths.empty()) return fmt::format("no kernel of the suite does `{}`", op.op_class);
  return fmt::format("costed as `{}`, the suite's kernels are {}", op.path, paths);
}

}  // namespace moe::bench
