#include "harness/check.hpp"

#include <fmt/core.h>

namespace moe::bench {

void fail(const std::string& call, const std::string& reason, const char* file, int line) {
  throw BenchError(fmt::format("{}\n  = {}\n  = in {}:{}", reason, call, file, line));
}

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  fail(call, fmt::format("CUDA: {} ({})", cudaGetErrorString(status), cudaGetErrorName(status)), file, line);
}

void check(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(call, fmt::format("cuBLASLt: {}", cublasLtGetStatusString(status)), file, line);
}

}  // namespace moe::bench
