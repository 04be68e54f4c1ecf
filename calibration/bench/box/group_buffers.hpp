// An input and an output buffer on every GPU of a group, random values in the inputs.
#pragma once
#include "comm/gpu_group.hpp"
#include "harness/buffer.hpp"

namespace moe::bench {

struct GroupBuffers {
  std::vector<Buffer> inputs, outputs;
  std::vector<const void*> in;
  std::vector<void*> out;

  GroupBuffers(const GpuGroup& gpus, std::size_t bytes) {
    for (int gpu = 0; gpu < gpus.size(); ++gpu) {
      const OnDevice here(gpus.device(gpu));
      inputs.emplace_back(bytes, Fill::normal_bf16, static_cast<std::uint64_t>(gpu + 1));
      outputs.emplace_back(bytes);
      in.push_back(inputs.back().as());
      out.push_back(outputs.back().as());
    }
  }
};

}  // namespace moe::bench
