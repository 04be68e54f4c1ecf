// Is what a kernel writes right? Each check runs a kernel and its reference on random data and compares.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "harness/buffer.hpp"
#include "kernels/types.hpp"

namespace moe::bench {

struct Check {
  std::string name;              ///< kernel and shape
  double tolerance = 0;          ///< of the relative error
  std::function<double(cudaStream_t)> error;  ///< |out - reference| / |reference| over all values; NaN never passes
};
/// small: shapes for compute-sanitizer.
std::vector<Check> dense_checks(bool small);
std::vector<Check> expert_checks(bool small);
std::vector<Check> attention_checks(bool small);
std::vector<Check> small_checks(bool small);
std::vector<Check> comm_checks(bool small);
std::vector<Check> move_checks();
std::vector<Check> replay_checks();

/// Device memory filled with NaN bits: what a kernel does not write shows.
Buffer poisoned(std::size_t bytes);
/// Both on the device; waits for the stream.
double relative_error(cudaStream_t stream, const bf16* out, const bf16* reference, std::size_t count);
double relative_error(cudaStream_t stream, const float* out, const float* reference, std::size_t count);
/// Share of values that differ.
double differing(cudaStream_t stream, const int* out, const int* reference, std::size_t count);

}  // namespace moe::bench
