// y[m,n] = x[m,k] w[n,k]^T through cuBLASLt: the library's first choice for the shape, planned once.
//
//   DenseGemm gemm(Format::bf16, 8, 4096, 7168);
//   gemm.launch(stream, x, w, y, workspace);      // workspace: gemm.workspace_bytes()
//
// fp8 and nvfp4 quantise x (bf16) first, as one more kernel: fp8 with one given scale for the tensor, nvfp4 with one
// e4m3 scale per 16. Weights are plain [n][k] (nvfp4: two per byte), then for nvfp4 the scales in cuBLASLt's tiled
// order. The scale of an fp8 weight is 1/64 (random weights have a deviation of about 1).
#pragma once
#include <memory>
#include <string>

#include "kernels/types.hpp"

namespace moe::bench {

class DenseGemm {
 public:
  /// Throws Unsupported with the reason when the device or library has no such multiply.
  DenseGemm(Format format, int m, int n, int k);
  ~DenseGemm();
  DenseGemm(DenseGemm&&) noexcept;
  DenseGemm& operator=(DenseGemm&&) noexcept;

  void launch(cudaStream_t stream, const bf16* x, const void* w, bf16* y, void* workspace) const;
  std::size_t weight_bytes() const;     ///< scales included
  std::size_t workspace_bytes() const;  ///< of cuBLASLt, and the quantised x

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// Strided batch of bf16 multiplies: y[b] = x[b] w[b]^T for every head of absorbed MLA. Strides and leading
/// dimensions count elements.
struct BatchedShape {
  int batch = 1, m = 1, n = 1, k = 1;
  long x_row = 0, x_batch = 0;  ///< to the next row and the next product
  long y_row = 0, y_batch = 0;
};
class BatchedGemm {
 public:
  explicit BatchedGemm(const BatchedShape& shape);
  ~BatchedGemm();
  BatchedGemm(BatchedGemm&&) noexcept;
  void launch(cudaStream_t stream, const bf16* x, const bf16* w, bf16* y, void* workspace) const;
  std::size_t workspace_bytes() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// Absorbed MLA: q [tokens][heads][128] to latent [tokens][heads][512] (pre), latent to value (post).
BatchedShape mla_pre(int tokens, int heads);
BatchedShape mla_post(int tokens, int heads);

}  // namespace moe::bench
