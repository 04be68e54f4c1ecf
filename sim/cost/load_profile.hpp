// What do kernels cost on this GPU? Reads calibration/profiles/<name>.yaml and the GPU it names.
//
//   Diagnostics out;
//   Profile p = load_profile("calibration/profiles/rtx-pro-6000.yaml", out);   // errors: all of them, in one pass
//   dense_gemm(p.gpu, p.dense_gemm.at("vllm-0.24.0/fp8"), 8, 7168, 2048);
#pragma once
#include <string>

#include "config/fields.hpp"
#include "cost/profile.hpp"

namespace moe {

/// When `out` has errors afterwards, the profile is incomplete and must not be used. The GPU's file is
/// ../gpus/<gpu>.yaml from the profile, or calibration/gpus/<gpu>.yaml under $MOE_SIM_DATA.
/// Tested: tests/unit/profile_load.cpp.
Profile load_profile(const std::string& file, Diagnostics& out);

/// The declarations of a profile file, for reading and for `moe-sim explain`. `gpu` receives the name of the GPU.
void bind_profile(Fields& f, Profile& profile, std::string& gpu);

}  // namespace moe
