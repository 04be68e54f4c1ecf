// Is our all-reduce right? Compared with sums that the host makes in the same order.
#include <cuda_bf16.h>
#include <fmt/core.h>

#include <cstring>

#include "comm/group_graph.hpp"
#include "comm/own_all_reduce.hpp"
#include "harness/check.hpp"

namespace moe::bench {
namespace {

using Values = std::vector<__nv_bfloat16>;

Values copied(const Buffer& buffer, std::size_t bytes) {
  Values values(bytes / sizeof(__nv_bfloat16));
  BENCH_CHECK(cudaMemcpy(values.data(), buffer.as(), bytes, cudaMemcpyDeviceToHost));
  return values;
}

/// Rounded to bf16 once, as the kernel does.
__nv_bfloat16 sum_of(const std::vector<Values>& in, std::size_t i) {
  float sum = 0;
  for (const Values& v : in) sum += __bfloat162float(v[i]);
  return __float2bfloat16_rn(sum);
}

struct Case {
  std::vector<Buffer> in, out;
  std::vector<const void*> from;
  std::vector<void*> to;

  Case(const GpuGroup& gpus, std::size_t bytes) {
    for (int gpu = 0; gpu < gpus.size(); ++gpu) {
      const OnDevice here(gpus.device(gpu));
      in.emplace_back(bytes, Fill::none);
      out.emplace_back(bytes, Fill::none);
      from.push_back(in.back().as());
      to.push_back(out.back().as());
    }
  }
  /// New inputs; outputs that no sum gives.
  void refill(const GpuGroup& gpus, std::size_t bytes, std::uint64_t seed) {
    for (int gpu = 0; gpu < gpus.size(); ++gpu) {
      const OnDevice here(gpus.device(gpu));
      const std::size_t g = static_cast<std::size_t>(gpu);
      fill(gpus.stream(gpu), in[g].as(), bytes, Fill::normal_bf16, seed + g);
      BENCH_CHECK(cudaMemsetAsync(out[g].as(), 0xff, bytes, gpus.stream(gpu)));
    }
    gpus.synchronise();
  }
  void compare(std::size_t bytes, const char* what) const {
    std::vector<Values> inputs;
    for (const Buffer& b : in) inputs.push_back(copied(b, bytes));
    for (std::size_t rank = 0; rank < out.size(); ++rank) {
      const Values result = copied(out[rank], bytes);
      for (std::size_t i = 0; i < result.size(); ++i) {
        const __nv_bfloat16 wanted = sum_of(inputs, i);
        if (std::memcmp(&wanted, &result[i], sizeof wanted) != 0)
          throw BenchError(fmt::format("our {} all-reduce is wrong: {} bytes, rank {}, element {}: {} instead of {}", what,
                                       bytes, rank, i, __bfloat162float(result[i]), __bfloat162float(wanted)));
      }
    }
  }
};

}  // namespace

void verify_own_all_reduce(const GpuGroup& gpus, OwnAllReduce& ours, OwnShape shape) {
  const char* what = shape == OwnShape::one_shot ? "one-shot" : "two-shot";
  // One vector, fewer vectors than ranks or threads, an odd number, more than one round of all blocks.
  for (const std::size_t bytes : {16ul, 48ul, 4096ul, 14336ul, 16ul * 12345, 2ul << 20}) {
    Case c(gpus, bytes);
    const GroupGraph graph(gpus, [&] { ours.enqueue(shape, c.from, c.to, bytes, gpus.streams()); });
    for (std::uint64_t replay = 0; replay < 4; ++replay) {
      c.refill(gpus, bytes, 1 + 100 * replay);
      graph.launch();
      gpus.synchronise();
      c.compare(bytes, what);
    }
  }
}

}  // namespace moe::bench
