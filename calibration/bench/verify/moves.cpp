// Kernels that move or convert values, against the same done on the host.
#include <cuda_fp8.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/check.hpp"
#include "kernels/linear_attention.hpp"
#include "kernels/routing.hpp"
#include "kernels/small.hpp"
#include "verify/checks.hpp"

namespace moe::bench {
namespace {

using Values = std::vector<double>;

template <class T>
std::vector<T> host(cudaStream_t stream, const Buffer& buffer, std::size_t count) {
  std::vector<T> values(count);
  BENCH_CHECK(cudaStreamSynchronize(stream));
  BENCH_CHECK(cudaMemcpy(values.data(), buffer.as(), count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
double number(bf16 v) { return static_cast<double>(__bfloat162float(v)); }
double number(float v) { return static_cast<double>(v); }
double e4m3(fp8_bits bits) {
  __nv_fp8_e4m3 v;
  v.__x = bits;
  return static_cast<double>(static_cast<float>(v));
}
template <class T>
Values numbers(cudaStream_t stream, const Buffer& buffer, std::size_t count) {
  Values out;
  for (const T v : host<T>(stream, buffer, count)) out.push_back(number(v));
  return out;
}
double relative(const Values& out, const Values& good) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    difference += (out[i] - good[i]) * (out[i] - good[i]);
    size += good[i] * good[i];
  }
  return std::sqrt(difference / size);
}
/// Row r goes to place 7 r mod rows (rows is no multiple of 7): a permutation.
Buffer places(int rows) {
  std::vector<int> to(static_cast<std::size_t>(rows));
  for (int r = 0; r < rows; ++r) to[static_cast<std::size_t>(r)] = 7 * r % rows;
  Buffer b(to.size() * sizeof(int));
  BENCH_CHECK(cudaMemcpy(b.as(), to.data(), to.size() * sizeof(int), cudaMemcpyHostToDevice));
  return b;
}

constexpr std::size_t kRows = 20, kCols = 576;

double rope_error(cudaStream_t stream) {
  constexpr std::size_t kHeads = 3, kDim = 64, kAll = kRows * kHeads * kDim;
  const Buffer x(kAll * 2, Fill::normal_bf16, 91), table(kRows * kDim * 4, Fill::normal_f32, 92), at = places(kRows);
  Values good = numbers<bf16>(stream, x, kAll);
  const Values angles = numbers<float>(stream, table, kRows * kDim);
  launch_rope(stream, x.as<bf16>(), at.as<int>(), table.as<float>(), kRows, kHeads, kDim);
  for (std::size_t head = 0; head < kRows * kHeads; ++head)
    for (std::size_t i = 0; i < kDim / 2; ++i) {
      const double* turn = &angles[head / kHeads * 7 % kRows * kDim];
      double &a = good[head * kDim + i], &b = good[head * kDim + kDim / 2 + i];
      const double low = a * turn[i] - b * turn[kDim / 2 + i];
      b = b * turn[i] + a * turn[kDim / 2 + i];
      a = low;
    }
  return relative(numbers<bf16>(stream, x, kAll), good);
}

/// Written to permuted places of a cache and gathered from there again: the same rows.
double round_trip_error(cudaStream_t stream) {
  const Buffer x(kRows * kCols * 2, Fill::normal_bf16, 93), cache = poisoned(kRows * kCols * 2), y = poisoned(kRows * kCols * 2), at = places(kRows);
  launch_kv_write(stream, x.as<bf16>(), at.as<int>(), cache.as<bf16>(), kRows, kCols);
  launch_embedding(stream, at.as<int>(), cache.as<bf16>(), y.as<bf16>(), kRows, kCols);
  const Values in = numbers<bf16>(stream, x, kRows * kCols), moved = numbers<bf16>(stream, cache, kRows * kCols);
  double wrong = relative(numbers<bf16>(stream, y, kRows * kCols), in);
  for (std::size_t r = 0; r < kRows; ++r) wrong += moved[r * 7 % kRows * kCols] == in[r * kCols] ? 0 : 1;
  return wrong;
}

double permute_error(cudaStream_t stream) {
  constexpr std::size_t kTopk = 4, kTokens = kRows / kTopk;
  const Buffer x(kTokens * kCols * 2, Fill::normal_bf16, 94), y = poisoned(kRows * kCols * 2), at = places(kRows);
  launch_permute(stream, x.as<bf16>(), at.as<int>(), kTokens, kTopk, kCols, y.as<bf16>());
  const Values in = numbers<bf16>(stream, x, kTokens * kCols);
  Values good(kRows * kCols);
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t c = 0; c < kCols; ++c) good[i * 7 % kRows * kCols + c] = in[i / kTopk * kCols + c];
  return relative(numbers<bf16>(stream, y, kRows * kCols), good);
}

double quantise_error(cudaStream_t stream) {
  constexpr float kScale = 0.25f;
  const Buffer x(kRows * kCols * 2, Fill::normal_bf16, 95), y = poisoned(kRows * kCols);
  launch_quantise(stream, x.as<bf16>(), kScale, y.as<fp8_bits>(), kRows * kCols);
  Values out, good;
  for (const fp8_bits b : host<fp8_bits>(stream, y, kRows * kCols)) out.push_back(e4m3(b));
  for (const double v : numbers<bf16>(stream, x, kRows * kCols)) good.push_back(static_cast<double>(static_cast<float>(__nv_fp8_e4m3(static_cast<float>(v) / kScale))));
  return relative(out, good);
}

/// What comes back from e2m1 and its scales, against the input. Uniform steps of 1 near 4 of 6 and of 2 near 6: normal
/// values in blocks of 16 lose about 10 %. A wrong place of a scale or a value costs far more.
double nvfp4_error(cudaStream_t stream) {
  constexpr std::size_t kWide = 640, kAll = kRows * kWide, kBlocks = kWide / 16;
  constexpr double kCodes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const Buffer x(kAll * 2, Fill::normal_bf16, 96), y = poisoned(kAll / 2), scales = poisoned(nvfp4_scale_bytes(kRows, kWide));
  launch_quantise_nvfp4(stream, x.as<bf16>(), y.as<std::uint8_t>(), scales.as<std::uint8_t>(), kRows, kWide);
  const auto bytes = host<std::uint8_t>(stream, y, kAll / 2), tiled = host<std::uint8_t>(stream, scales, nvfp4_scale_bytes(kRows, kWide));
  Values out;
  for (std::size_t i = 0; i < kAll; ++i) {
    const unsigned code = bytes[i / 2] >> (4 * (i % 2)) & 15u;
    const std::size_t row = i / kWide, block = i % kWide / 16;  // rows < 32: 16 bytes apart in a tile of 4 blocks
    const double scale = e4m3(tiled[block / 4 * 512 + row * 16 + block % 4]);
    out.push_back((code >= 8 ? -1 : 1) * kCodes[code % 8] * scale);
  }
  static_assert(kBlocks % 4 == 0 && kRows < 32);
  return relative(out, numbers<bf16>(stream, x, kAll));
}

double conv_error(cudaStream_t stream) {
  constexpr std::size_t kAll = kRows * kCols;
  const Buffer x(kAll * 2, Fill::normal_bf16, 97), w(kCols * 8, Fill::normal_bf16, 98), state(kAll * 8, Fill::normal_bf16, 99), y = poisoned(kAll * 2);
  const Values in = numbers<bf16>(stream, x, kAll), weights = numbers<bf16>(stream, w, kCols * 4);
  Values old = numbers<bf16>(stream, state, kAll * 4), good;
  launch_conv_update(stream, x.as<bf16>(), w.as<bf16>(), state.as<bf16>(), y.as<bf16>(), kRows, kCols);
  for (std::size_t i = 0; i < kAll; ++i) {
    std::rotate(&old[4 * i], &old[4 * i + 1], &old[4 * i] + 4);
    old[4 * i + 3] = in[i];
    const double sum = std::inner_product(&old[4 * i], &old[4 * i] + 4, &weights[i % kCols * 4], 0.0);
    good.push_back(sum / (1 + std::exp(-sum)));
  }
  return relative(numbers<bf16>(stream, y, kAll), good) + relative(numbers<bf16>(stream, state, kAll * 4), old);
}

}  // namespace

std::vector<Check> move_checks() {
  return {{"rope 20 rows of 3 x 64", 1e-2, rope_error},
          {"kv_write and embedding 20 x 576", 0, round_trip_error},
          {"permute 20 x 576", 0, permute_error},
          {"quantise to e4m3 20 x 576", 1e-3, quantise_error},
          {"quantise to nvfp4 20 x 640", 0.15, nvfp4_error},
          {"conv_update 20 x 576", 1e-2, conv_error}};
}

}  // namespace moe::bench
