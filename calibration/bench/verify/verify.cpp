// moe-calibrate verify: all checks, one line each; goes on after a failure.
#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "commands.hpp"
#include "harness/check.hpp"
#include "verify/checks.hpp"

namespace moe::bench {
namespace {

template <class T>
std::vector<T> on_host(const T* device, std::size_t count) {
  std::vector<T> host(count);
  BENCH_CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

double value_of(bf16 v) { return static_cast<double>(__bfloat162float(v)); }
double value_of(float v) { return static_cast<double>(v); }

template <class T>
double error_of(cudaStream_t stream, const T* out, const T* reference, std::size_t count) {
  BENCH_CHECK(cudaStreamSynchronize(stream));
  const std::vector<T> a = on_host(out, count), b = on_host(reference, count);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double d = value_of(a[i]) - value_of(b[i]);
    difference += d * d;
    size += value_of(b[i]) * value_of(b[i]);
  }
  return std::sqrt(difference / size);  // nothing to compare with is NaN
}

int verify(bool small, const std::string& only, int device) {
  BENCH_CHECK(cudaSetDevice(device));
  cudaStream_t stream = nullptr;
  BENCH_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::vector<Check> all;
  for (const auto& list : {dense_checks(small), expert_checks(small), attention_checks(small), small_checks(small), move_checks(),
                           comm_checks(small), replay_checks()})
    all.insert(all.end(), list.begin(), list.end());
  int failed = 0, passed = 0, skipped = 0;
  for (const Check& c : all) {
    if (c.name.find(only) == std::string::npos) continue;
    try {
      const double error = c.error(stream);
      const bool good = error <= c.tolerance;  // false for NaN
      ++(good ? passed : failed);
      fmt::print("{:<6} {:<64} relative error {:.1e}, at most {:.0e}\n", good ? "ok" : "WRONG", c.name, error, c.tolerance);
    } catch (const Unsupported& e) {
      ++skipped;
      fmt::print("skip   {:<64} {}\n", c.name, e.what());
    } catch (const BenchError& e) {
      ++failed;
      fmt::print("FAILED {:<64} {}\n", c.name, e.what());
    }
    std::fflush(stdout);
  }
  fmt::print("{} right, {} wrong, {} not supported here\n", passed, failed, skipped);
  cudaStreamDestroy(stream);
  return failed == 0 ? 0 : 1;
}

}  // namespace

Buffer poisoned(std::size_t bytes) {
  Buffer b(bytes);
  BENCH_CHECK(cudaMemset(b.as(), 0xff, b.bytes()));
  BENCH_CHECK(cudaDeviceSynchronize());
  return b;
}
double relative_error(cudaStream_t stream, const bf16* out, const bf16* reference, std::size_t count) {
  return error_of(stream, out, reference, count);
}
double relative_error(cudaStream_t stream, const float* out, const float* reference, std::size_t count) {
  return error_of(stream, out, reference, count);
}
double differing(cudaStream_t stream, const int* out, const int* reference, std::size_t count) {
  BENCH_CHECK(cudaStreamSynchronize(stream));
  const std::vector<int> a = on_host(out, count), b = on_host(reference, count);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += a[i] == b[i] ? 0 : 1;
  return static_cast<double>(wrong) / static_cast<double>(count);
}

void add_verify(CLI::App& app, int& code) {
  struct Options {
    bool small = false;
    std::string only;
    int device = 0;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "Checks every kernel against a simple reference; exit code 1: one is wrong");
  command->add_flag("--small", options->small, "Small shapes, for compute-sanitizer");
  command->add_option("--only", options->only, "Checks whose name has this text");
  command->add_option("--device", options->device, "CUDA device")->capture_default_str();
  command->callback([options, &code] { code = verify(options->small, options->only, options->device); });
}

}  // namespace moe::bench
