#include <fmt/core.h>

#include "kernels/dense_gemm.hpp"
#include "verify/checks.hpp"
#include "verify/reference.hpp"

namespace moe::bench {
namespace {

std::size_t product(long a, long b, long c = 1) { return static_cast<std::size_t>(a * b * c); }

double gemm_error(cudaStream_t stream, Format format, int m, int n, int k) {
  const DenseGemm gemm(format, m, n, k);
  const Buffer x(product(m, k, 2), Fill::normal_bf16, 11);
  const Buffer w(gemm.weight_bytes(), format == Format::bf16 ? Fill::small_bf16 : Fill::normal_e4m3, 12);
  const Buffer y = poisoned(product(m, n, 2)), good = poisoned(product(m, n, 2)), scratch(gemm.workspace_bytes());
  gemm.launch(stream, x.as<bf16>(), w.as(), y.as<bf16>(), scratch.as());
  reference::Matrix plain{format, w.as()};
  if (format == Format::fp8) plain.scale = 1.0f / 64;
  reference::gemm(stream, x.as<bf16>(), plain, good.as<bf16>(), m, n, k, format == Format::fp8 ? 1.0f / 64 : 0);
  return relative_error(stream, y.as<bf16>(), good.as<bf16>(), product(m, n));
}

double batched_error(cudaStream_t stream, int tokens, int heads, bool pre) {
  const int n = pre ? 512 : 128, k = pre ? 128 : 512;
  const BatchedGemm gemm(pre ? mla_pre(tokens, heads) : mla_post(tokens, heads));
  const Buffer x(product(tokens, heads, 2L * k), Fill::normal_bf16, 13);
  const Buffer w(product(heads, n, 2L * k), Fill::small_bf16, 14), scratch(gemm.workspace_bytes());
  const Buffer y = poisoned(product(tokens, heads, 2L * n)), good = poisoned(product(tokens, heads, 2L * n));
  gemm.launch(stream, x.as<bf16>(), w.as<bf16>(), y.as<bf16>(), scratch.as());
  reference::per_head(stream, x.as<bf16>(), w.as<bf16>(), good.as<bf16>(), tokens, heads, n, k);
  return relative_error(stream, y.as<bf16>(), good.as<bf16>(), product(tokens, heads, n));
}

}  // namespace

std::vector<Check> dense_checks(bool small) {
  std::vector<Check> checks;
  if (small) return checks;  // the library's kernels, not ours
  for (const Format f : {Format::bf16, Format::fp8})
    for (const int m : {1, 7, 64, 300})
      checks.push_back({fmt::format("dense {} m={} n=1536 k=2048", dtype_name(f), m), 1e-2,
                        [=](cudaStream_t s) { return gemm_error(s, f, m, 1536, 2048); }});
  for (const bool pre : {true, false})
    checks.push_back({fmt::format("mla_bmm {} tokens=5 heads=16", pre ? "pre" : "post"), 1e-2,
                      [=](cudaStream_t s) { return batched_error(s, 5, 16, pre); }});
  return checks;
}

}  // namespace moe::bench
