// Device memory that frees itself, filled with random values, and an arena that hands out pieces of one buffer.
//
//   Arena arena(8ull << 30, Fill::normal_bf16);          // filled once
//   const bf16* w = arena.take<bf16>(n * k);             // throws Unsupported when it is used up
//   arena.reset();                                       // all pieces are free again, the values stay
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace moe::bench {

/// bits: all bytes alike, fits int4; nibbles: one value 0..15 per byte. normal_e4m3 holds no NaN. scale_f32: 0.5 to 1.5, scale_bf16: 1/64 of that.
enum class Fill { none, zero, bits, nibbles, normal_bf16, small_bf16, normal_f32, normal_e4m3, scale_f32, scale_bf16 };
/// Deviation 1; small_bf16: 1/16. Same seed, same values. On the stream.
void fill(cudaStream_t stream, void* data, std::size_t bytes, Fill kind, std::uint64_t seed);

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes, Fill kind = Fill::none, std::uint64_t seed = 1);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  template <class T = void>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class Arena {
 public:
  Arena(std::size_t bytes, Fill kind, std::uint64_t seed = 1) : buffer_(bytes, kind, seed) {}
  /// 256-byte aligned.
  void* take_bytes(std::size_t bytes);
  template <class T>
  T* take(std::size_t count) {
    return static_cast<T*>(take_bytes(count * sizeof(T)));
  }
  void reset() { used_ = 0; }
  std::size_t left() const { return buffer_.bytes() - used_; }

 private:
  Buffer buffer_;
  std::size_t used_ = 0;
};

}  // namespace moe::bench
