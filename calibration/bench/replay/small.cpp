// The small kernels of one rank.
#include <fmt/core.h>

#include <vector>

#include "harness/check.hpp"
#include "kernels/small.hpp"
#include "replay/rank.hpp"

namespace moe::bench {
namespace {

/// Elements per row when a kernel moves `per_element` bytes for each.
int width_of(const ReplayOp& op, int rows, double per_element) {
  const double width = op.bytes() / rows / per_element;
  if (width != static_cast<int>(width) || static_cast<int>(width) % 8 != 0)
    throw Unsupported(fmt::format("`{}`: rows of {} values are no multiple of 8", op.name, width));
  return static_cast<int>(width);
}

/// Rows spread over `places` rows of a table.
Buffer spread(int rows, long places) {
  std::vector<int> at(static_cast<std::size_t>(rows));
  for (int r = 0; r < rows; ++r) at[static_cast<std::size_t>(r)] = static_cast<int>(r * (places / rows));
  Buffer out(at.size() * sizeof(int));
  BENCH_CHECK(cudaMemcpy(out.as(), at.data(), at.size() * sizeof(int), cudaMemcpyHostToDevice));
  return out;
}

}  // namespace

Rank::Run Rank::small(const ReplayOp& op) {
  const int rows = op.whole("rows");
  const bf16* x = current();
  if (op.op_class == "sampling") {
    const int vocab = op.whole("vocab");
    void* workspace = scratch(op, sampling_workspace_bytes(rows));
    const float* logits =
        kept_.emplace_back(sizeof(float) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(vocab), Fill::normal_f32).as<float>();
    int* ids = kept_.emplace_back(sizeof(int) * static_cast<std::size_t>(rows)).as<int>();
    return [=](cudaStream_t s) { launch_sample(s, logits, rows, vocab, 1.0f, 1, ids, workspace); };
  }
  if (op.op_class == "rope") {
    const int dim = op.whole("dim"), width = width_of(op, rows, 4), heads = width / dim;
    const float* table = static_cast<float*>(weights("rope table", sizeof(float) * static_cast<std::size_t>(dim) * 64, Fill::scale_f32));
    const int* positions = integers_.as<int>();
    bf16* data = current();
    return [=](cudaStream_t s) { launch_rope(s, data, positions, table, rows, heads, dim); };
  }
  if (op.op_class == "kv_write") {
    const int width = width_of(op, rows, 4);
    const auto found = cache_of_layer_.find(fmt::format("L{}", op.layer));
    if (found == cache_of_layer_.end()) throw Unsupported("a cache write in a layer without attention");
    const auto [data, bytes] = found->second;
    const int* slots = kept_.emplace_back(spread(rows, static_cast<long>(bytes / 2) / width)).as<int>();
    bf16* into = data;
    return [=](cudaStream_t s) { launch_kv_write(s, x, slots, into, rows, width); };
  }
  bf16* y = next();
  turn();
  if (op.op_class == "activation") {
    const int width = width_of(op, rows, 6);
    return [=](cudaStream_t s) { launch_silu_mul(s, x, y, rows, width); };
  }
  if (op.op_class == "shared_add") {
    const long elements = static_cast<long>(rows) * width_of(op, rows, 6);
    const bf16* other = side_.as<bf16>();
    return [=](cudaStream_t s) { launch_add(s, x, other, y, elements); };
  }
  if (op.path.ends_with("/copy")) {
    const long elements = static_cast<long>(rows) * width_of(op, rows, 4);
    return [=](cudaStream_t s) { launch_copy(s, x, y, elements); };
  }
  const int width = op.whole("width");
  const bf16* weight = norm_weight_.as<bf16>();
  if (op.op_class == "qk_norm") return [=](cudaStream_t s) { launch_rmsnorm(s, x, weight, y, rows, width); };
  bf16* residual = residual_.as<bf16>();
  return [=](cudaStream_t s) { launch_add_rmsnorm(s, x, residual, weight, y, rows, width); };
}

}  // namespace moe::bench
