// The keys of `expect:`.
#pragma once
#include <array>

#include "experiment/experiment.hpp"

namespace moe {

/// Keys of breakdown_ms; tests/unit/experiment_load.cpp holds them equal to the program's categories.
inline constexpr std::array kCategoryKeys{"attention", "experts",    "shared_experts", "all_reduce", "all_to_all",
                                          "all_gather", "cast",       "dense_gemm",     "small_kernels", "lm_head",
                                          "sampling",   "draft",      "pipeline",       "host"};

void bind_claims(Fields& f, std::vector<Claim>& claims);
/// `key` (`set`, `against`): a map of dotted experiment keys with plain values.
void bind_set(Fields& f, const char* key, Overrides& set, const char* help);

}  // namespace moe
