#include "stack/stack.hpp"

#include <algorithm>

namespace moe {

bool Stack::fuses(std::string_view kernel) const { return std::find(fused.begin(), fused.end(), kernel) != fused.end(); }

std::string Stack::path(const std::string& op, const std::string& format) const {
  const auto by_op = kernels.find(op);
  if (by_op == kernels.end()) return {};
  for (const std::string& key : {format, std::string("any")}) {
    const auto found = by_op->second.find(key);
    if (found != by_op->second.end()) return found->second;
  }
  return {};
}

int Stack::padded_rows(int rows) const {
  if (launch.mode == GraphMode::eager || launch.capture_sizes.empty()) return rows;
  const auto size = std::lower_bound(launch.capture_sizes.begin(), launch.capture_sizes.end(), rows);
  return size == launch.capture_sizes.end() ? 0 : *size;
}

int Stack::padded_rows(int sequences, int queries) const {
  return launch.sizes_are_sequences ? padded_rows(sequences) * queries : padded_rows(sequences * queries);
}

std::string kernel_format(Format format) {
  switch (format) {
    case Format::fp32:
    case Format::bf16: return "bf16";
    case Format::fp8_tensor:
    case Format::fp8_channel: return "fp8";
    case Format::fp8_b128:
    case Format::fp8_b128_e8m0: return "fp8_block";
    case Format::nvfp4: return "nvfp4";
    case Format::mxfp4: return "mxfp4";
    case Format::int4_g32:
    case Format::int4_g128: return "int4";
  }
  return {};
}

}  // namespace moe
