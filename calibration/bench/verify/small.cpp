#include <fmt/core.h>

#include "harness/check.hpp"
#include "kernels/linear_attention.hpp"
#include "kernels/small.hpp"
#include "verify/checks.hpp"
#include "verify/reference.hpp"

namespace moe::bench {
namespace {

std::size_t size(long a, long b, long c = 1) { return static_cast<std::size_t>(a * b * c); }

double norm_error(cudaStream_t stream, int rows, int cols) {
  const Buffer x(size(rows, cols) * 2, Fill::normal_bf16, 71), w(size(cols, 2), Fill::normal_bf16, 72);
  const Buffer y = poisoned(size(rows, cols) * 2), good = poisoned(size(rows, cols) * 2);
  launch_rmsnorm(stream, x.as<bf16>(), w.as<bf16>(), y.as<bf16>(), rows, cols);
  reference::rmsnorm(stream, x.as<bf16>(), w.as<bf16>(), good.as<bf16>(), rows, cols);
  return relative_error(stream, y.as<bf16>(), good.as<bf16>(), size(rows, cols));
}

/// Against add, then norm of the sum.
double add_norm_error(cudaStream_t stream, int rows, int cols) {
  const std::size_t bytes = size(rows, cols) * 2;
  const Buffer x(bytes, Fill::normal_bf16, 71), residual(bytes, Fill::normal_bf16, 73), w(size(cols, 2), Fill::normal_bf16, 72);
  const Buffer y = poisoned(bytes), good = poisoned(bytes), sum = poisoned(bytes);
  launch_add(stream, x.as<bf16>(), residual.as<bf16>(), sum.as<bf16>(), static_cast<long>(rows) * cols);
  launch_add_rmsnorm(stream, x.as<bf16>(), residual.as<bf16>(), w.as<bf16>(), y.as<bf16>(), rows, cols);
  reference::rmsnorm(stream, sum.as<bf16>(), w.as<bf16>(), good.as<bf16>(), rows, cols);
  const double kept = relative_error(stream, residual.as<bf16>(), sum.as<bf16>(), size(rows, cols));
  return kept + relative_error(stream, y.as<bf16>(), good.as<bf16>(), size(rows, cols));
}

double softmax_error(cudaStream_t stream, int rows, int vocab) {
  const Buffer x(size(rows, vocab) * 4, Fill::normal_f32, 74), y = poisoned(size(rows, vocab) * 4), good = poisoned(size(rows, vocab) * 4);
  launch_softmax(stream, x.as<float>(), y.as<float>(), rows, vocab);
  reference::softmax(stream, x.as<float>(), good.as<float>(), rows, vocab);
  return relative_error(stream, y.as<float>(), good.as<float>(), size(rows, vocab));
}

double argmax_error(cudaStream_t stream, int rows, int vocab) {
  const Buffer x(size(rows, vocab) * 4, Fill::normal_f32, 75), y = poisoned(size(rows, 4)), good = poisoned(size(rows, 4));
  const Buffer scratch(sampling_workspace_bytes(rows), Fill::zero);
  for (int twice = 0; twice < 2; ++twice) launch_sample(stream, x.as<float>(), rows, vocab, 0, 1, y.as<int>(), scratch.as());
  reference::argmax(stream, x.as<float>(), good.as<int>(), rows, vocab);
  return differing(stream, y.as<int>(), good.as<int>(), size(rows, 1));
}

double delta_error(cudaStream_t stream, const DeltaShape& s) {
  constexpr int kDim = 128;
  const std::size_t keys = size(s.rows, s.k_heads, kDim * 2), values = size(s.rows, s.v_heads, kDim * 2), heads = size(s.rows, s.v_heads);
  // small_bf16 keys: 128 of deviation 1/16 have length 0.7, as normalised keys have 1.
  const Buffer q(keys, Fill::small_bf16, 81), k(keys, Fill::small_bf16, 82), v(values, Fill::normal_bf16, 83);
  const Buffer beta(heads * 4, Fill::scale_f32, 84), g(heads * 4, Fill::scale_f32, 85);
  const Buffer state(heads * kDim * kDim * 4, Fill::normal_f32, 86), other(heads * kDim * kDim * 4, Fill::normal_f32, 86);
  const Buffer y = poisoned(values), good = poisoned(values);
  launch_delta_update(stream, s, q.as<bf16>(), k.as<bf16>(), v.as<bf16>(), g.as<float>(), beta.as<float>(), state.as<float>(), y.as<bf16>());
  reference::delta_update(stream, s, q.as<bf16>(), k.as<bf16>(), v.as<bf16>(), g.as<float>(), beta.as<float>(), other.as<float>(), good.as<bf16>());
  return relative_error(stream, y.as<bf16>(), good.as<bf16>(), values / 2) +
         relative_error(stream, state.as<float>(), other.as<float>(), heads * kDim * kDim);
}

}  // namespace

std::vector<Check> small_checks(bool small) {
  std::vector<Check> checks;
  const auto add = [&](const char* name, int rows, int cols, double tolerance, auto error) {
    checks.push_back({fmt::format("{} {} x {}", name, rows, cols), tolerance, [=](cudaStream_t s) { return error(s, rows, cols); }});
  };
  for (const int cols : small ? std::vector<int>{512} : std::vector<int>{128, 1536, 7168, 16384}) {
    add("rmsnorm", 5, cols, 1e-2, norm_error);
    add("add_rmsnorm", 5, cols, 1e-2, add_norm_error);
  }
  const int vocab = small ? 4096 : 151936;
  add("softmax", 3, vocab, 1e-3, softmax_error);
  add("argmax", 3, vocab, 0, argmax_error);
  add("argmax", 130, 4096, 0, argmax_error);
  const DeltaShape shape = small ? DeltaShape{2, 1, 2} : DeltaShape{7, 4, 8};
  checks.push_back({fmt::format("delta_update {} rows, {} heads", shape.rows, shape.v_heads), 1e-2,
                    [=](cudaStream_t s) { return delta_error(s, shape); }});
  return checks;
}

}  // namespace moe::bench
