// How does a profile become a file? Deterministic: same profile, same bytes.
//
//   gpu: rtx-pro-6000
//   inputs:
//     - {file: gemm.csv, hash: 0123456789abcdef, rows: 66160}
//   dense_gemm:
//     - {path: sglang-0.5.14/bfloat16, bytes_per_weight: 2, compute: bf16, includes: [gap], t0_us: 3.15, ...}
#pragma once
#include <string>

#include "cost/profile.hpp"

namespace moe {

/// `comm`: the communication section as text, taken over as it is; may be empty.
std::string write_profile(const Profile& profile, const std::string& comm);

/// The `comm:` section of a profile file with the comment lines right above it, "" when there is none.
std::string comm_text(const std::string& profile_file);

}  // namespace moe
