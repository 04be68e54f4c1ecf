// cuBLASLt plans. Row-major y = x w^T is column-major y^T = w x^T: A is w (transposed), B is x.
#include "kernels/dense_gemm.hpp"

#include <cublasLt.h>
#include <fmt/core.h>

#include "harness/check.hpp"
#include "kernels/small.hpp"

namespace moe::bench {
namespace {

constexpr std::size_t kLibraryWorkspace = 32u << 20;  // what cuBLAS itself takes on Hopper
constexpr float kWeightScale = 1.0f / 64, kActivationScale = 1.0f / 64;

/// One handle per device; plans outlive nothing else.
cublasLtHandle_t handle() {
  thread_local cublasLtHandle_t known[64] = {};
  int device = 0;
  BENCH_CHECK(cudaGetDevice(&device));
  if (known[device] == nullptr) BENCH_CHECK(cublasLtCreate(&known[device]));
  return known[device];
}

struct Layout {
  cublasLtMatrixLayout_t value = nullptr;
  Layout(cudaDataType type, int rows, int columns, long leading, int batch = 1, long stride = 0) {
    BENCH_CHECK(cublasLtMatrixLayoutCreate(&value, type, static_cast<std::uint64_t>(rows),
                                           static_cast<std::uint64_t>(columns), leading));
    if (batch == 1) return;
    const std::int32_t count = batch;
    const std::int64_t offset = stride;
    BENCH_CHECK(cublasLtMatrixLayoutSetAttribute(value, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
    BENCH_CHECK(cublasLtMatrixLayoutSetAttribute(value, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &offset, sizeof offset));
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(value); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
};

struct Description {
  cublasLtMatmulDesc_t value = nullptr;
  Description() {
    BENCH_CHECK(cublasLtMatmulDescCreate(&value, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(CUBLAS_OP_T));
  }
  ~Description() { cublasLtMatmulDescDestroy(value); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& v) {
    BENCH_CHECK(cublasLtMatmulDescSetAttribute(value, attribute, &v, sizeof v));
  }
};

/// The library's first choice. Throws Unsupported when it has none.
cublasLtMatmulAlgo_t first_choice(const Description& d, const Layout& a, const Layout& b, const Layout& c,
                                  const std::string& what) {
  cublasLtMatmulPreference_t preference = nullptr;
  BENCH_CHECK(cublasLtMatmulPreferenceCreate(&preference));
  const std::size_t room = kLibraryWorkspace;
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room);
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle(), d.value, a.value, b.value, c.value, c.value,
                                                               preference, 1, &result, &found);
  cublasLtMatmulPreferenceDestroy(preference);
  if (status != CUBLAS_STATUS_SUCCESS || found == 0 || result.state != CUBLAS_STATUS_SUCCESS)
    throw Unsupported(fmt::format("cuBLASLt has no {} multiply on this device ({})", what, cublasLtGetStatusString(status)));
  return result.algo;
}

cudaDataType type_of(Format format) {
  if (format == Format::fp8) return CUDA_R_8F_E4M3;
  return format == Format::nvfp4 ? CUDA_R_4F_E2M1 : CUDA_R_16BF;
}

Format checked(Format format) {
  if (format == Format::int4) throw Unsupported("no dense int4 multiply in cuBLASLt");
  if (format == Format::nvfp4 && device_facts().major < 10)
    throw Unsupported("nvfp4 multiplies need compute capability 10 or 12");
  return format;
}

std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
std::size_t matrix_bytes(Format format, int rows, int columns) {
  const std::size_t values = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  return format == Format::bf16 ? 2 * values : format == Format::fp8 ? values : values / 2;
}

/// y = factor w x; nothing is added, so there is no C.
void multiply(cudaStream_t stream, const Description& d, const Layout& a, const Layout& b, const Layout& c,
              const cublasLtMatmulAlgo_t& algo, float factor, const void* w, const void* x, void* y,
              void* workspace) {
  const float zero = 0;
  const cublasStatus_t status = cublasLtMatmul(handle(), d.value, &factor, w, a.value, x, b.value, &zero, nullptr,
                                               c.value, y, c.value, &algo, workspace, kLibraryWorkspace, stream);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED)
    throw Unsupported("cuBLASLt chose a multiply for this shape and then does not support it");
  BENCH_CHECK(status);
}

}  // namespace

struct DenseGemm::Plan {
  Format format;
  int m, n, k;
  Description description;
  Layout w, x, y;
  cublasLtMatmulAlgo_t algo{};

  Plan(Format f, int m_, int n_, int k_)
      : format(checked(f)), m(m_), n(n_), k(k_), w(type_of(f), k, n, k), x(type_of(f), k, m, k), y(CUDA_R_16BF, n, m, n) {
    if (f == Format::nvfp4) {
      description.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, static_cast<std::int32_t>(CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3));
      description.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, static_cast<std::int32_t>(CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3));
    }
    algo = first_choice(description, w, x, y, dtype_name(f));
  }
  std::size_t x_bytes() const { return format == Format::bf16 ? 0 : padded(matrix_bytes(format, m, k)); }
};

DenseGemm::DenseGemm(Format format, int m, int n, int k) : plan_(std::make_unique<Plan>(format, m, n, k)) {}
DenseGemm::~DenseGemm() = default;
DenseGemm::DenseGemm(DenseGemm&&) noexcept = default;
DenseGemm& DenseGemm::operator=(DenseGemm&&) noexcept = default;

std::size_t DenseGemm::weight_bytes() const {
  const std::size_t values = matrix_bytes(plan_->format, plan_->n, plan_->k);
  return plan_->format == Format::nvfp4 ? padded(values) + nvfp4_scale_bytes(plan_->n, plan_->k) : values;
}

std::size_t DenseGemm::workspace_bytes() const {
  const std::size_t scales = plan_->format == Format::nvfp4 ? nvfp4_scale_bytes(plan_->m, plan_->k) : 0;
  return kLibraryWorkspace + plan_->x_bytes() + scales;
}

void DenseGemm::launch(cudaStream_t stream, const bf16* x, const void* w, bf16* y, void* workspace) const {
  Plan& p = *plan_;
  char* small = static_cast<char*>(workspace) + kLibraryWorkspace;
  const void* input = x;
  if (p.format == Format::fp8) {
    launch_quantise(stream, x, kActivationScale, reinterpret_cast<fp8_bits*>(small), static_cast<long>(p.m) * p.k);
    input = small;
  } else if (p.format == Format::nvfp4) {
    std::uint8_t* scales = reinterpret_cast<std::uint8_t*>(small + p.x_bytes());
    launch_quantise_nvfp4(stream, x, reinterpret_cast<std::uint8_t*>(small), scales, p.m, p.k);
    const void* w_scales = static_cast<const char*>(w) + padded(matrix_bytes(p.format, p.n, p.k));
    p.description.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, w_scales);
    p.description.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, static_cast<const void*>(scales));
    input = small;
  }
  // Both scales of fp8 belong to whole tensors: their product is one factor.
  const float factor = p.format == Format::fp8 ? kWeightScale * kActivationScale : 1.0f;
  multiply(stream, p.description, p.w, p.x, p.y, p.algo, factor, w, input, y, workspace);
}

struct BatchedGemm::Plan {
  Description description;
  Layout w, x, y;
  cublasLtMatmulAlgo_t algo{};
  explicit Plan(const BatchedShape& s)
      : w(CUDA_R_16BF, s.k, s.n, s.k, s.batch, static_cast<long>(s.k) * s.n),
        x(CUDA_R_16BF, s.k, s.m, s.x_row, s.batch, s.x_batch),
        y(CUDA_R_16BF, s.n, s.m, s.y_row, s.batch, s.y_batch),
        algo(first_choice(description, w, x, y, "batched bfloat16")) {}
};

BatchedGemm::BatchedGemm(const BatchedShape& shape) : plan_(std::make_unique<Plan>(shape)) {}
BatchedGemm::~BatchedGemm() = default;
BatchedGemm::BatchedGemm(BatchedGemm&&) noexcept = default;
std::size_t BatchedGemm::workspace_bytes() const { return kLibraryWorkspace; }
void BatchedGemm::launch(cudaStream_t stream, const bf16* x, const bf16* w, bf16* y, void* workspace) const {
  multiply(stream, plan_->description, plan_->w, plan_->x, plan_->y, plan_->algo, 1, w, x, y, workspace);
}

namespace {
constexpr int kLatentRank = 512, kHeadDim = 128;
BatchedShape per_head(int tokens, int heads, int n, int k) {
  return {heads, tokens, n, k, static_cast<long>(heads) * k, k, static_cast<long>(heads) * n, n};
}
}  // namespace
BatchedShape mla_pre(int tokens, int heads) { return per_head(tokens, heads, kLatentRank, kHeadDim); }
BatchedShape mla_post(int tokens, int heads) { return per_head(tokens, heads, kHeadDim, kLatentRank); }

}  // namespace moe::bench
