#include "harness/buffer.hpp"

#include <fmt/core.h>

#include <utility>

#include "harness/check.hpp"

namespace moe::bench {

Buffer::Buffer(std::size_t bytes, Fill kind, std::uint64_t seed) : bytes_((bytes + 255) / 256 * 256) {
  if (bytes_ == 0) bytes_ = 256;
  BENCH_CHECK(cudaMalloc(&data_, bytes_));
  fill(nullptr, data_, bytes_, kind, seed);
  BENCH_CHECK(cudaStreamSynchronize(nullptr));
}

Buffer::~Buffer() {
  if (data_ != nullptr) cudaFree(data_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void* Arena::take_bytes(std::size_t bytes) {
  const std::size_t padded = (bytes + 255) / 256 * 256;
  if (padded > left())
    throw Unsupported(fmt::format("needs {:.1f} GB more device memory than this run sets aside",
                                  static_cast<double>(padded - left()) * 1e-9));
  void* piece = static_cast<char*>(buffer_.as()) + used_;
  used_ += padded;
  return piece;
}

}  // namespace moe::bench
