// Every CUDA call is checked: an error says the call, the place and what the library says.
#pragma once
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace moe::bench {

/// Something failed that should not have.
struct BenchError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The device or a library lacks what was asked for: the point is skipped, the reason is written down.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail(const std::string& call, const std::string& reason, const char* file, int line);
void check(cudaError_t status, const char* call, const char* file, int line);
void check(cublasStatus_t status, const char* call, const char* file, int line);

}  // namespace moe::bench

#define BENCH_CHECK(call) ::moe::bench::check((call), #call, __FILE__, __LINE__)
/// After a kernel launch.
#define BENCH_CHECK_LAUNCH() ::moe::bench::check(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)
