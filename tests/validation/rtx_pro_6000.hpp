// The profile of the prototype fit with the GPU constants that the reference predictions were made with.
#pragma once
#include "catch.hpp"
#include "cost/load_profile.hpp"

inline moe::Profile rtx_pro_6000() {
  moe::Diagnostics out;
  moe::Profile profile =
      moe::load_profile(std::string(MOE_SIM_SOURCE_DIR) + "/tests/data/profiles/prototype.yaml", out);
  INFO(out.render());
  REQUIRE_FALSE(out.has_errors());
  profile.gpu.sm = 188;
  profile.gpu.dram_Bps = 1.792e12;
  profile.gpu.l2_resident_bytes = 140e6;
  profile.gpu.l2_sharpness = 40;
  return profile;
}
