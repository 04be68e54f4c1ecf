// How does calibration/gpus/<name>.yaml become a GpuSpec?
//
//   schema: 1
//   product: RTX PRO 6000 Blackwell
//   sm: 188
//   dram_bandwidth: 1.792 TB/s
//   memory: 96 GiB
//   ...
//
// gives GpuSpec{name: the file's name, sm: 188, dram_Bps: 1.792e12, memory_bytes: 96 x 2^30, ...}.
#pragma once
#include <string>
#include <vector>

#include "config/fields.hpp"
#include "cost/gpu.hpp"

namespace moe {

/// Not to be used when `out` has errors.
GpuSpec load_gpu(const std::string& file, Diagnostics& out, std::vector<FieldInfo>* record = nullptr);
/// Every key that a GPU file may have, for `moe-sim explain`.
std::vector<FieldInfo> describe_gpu();

}  // namespace moe
