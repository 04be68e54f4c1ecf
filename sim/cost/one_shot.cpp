#include "cost/one_shot.hpp"

#include "base/check.hpp"

namespace moe {
namespace {

double rate_Bpus(const CollectivePolicy& policy) {
  MOE_CHECK(policy.one_shot_GBps > 0, "a custom all-reduce has a rate");
  return policy.one_shot_GBps * 1e3;
}

}  // namespace

double one_shot_us(const CollectivePolicy& policy, int ranks, double bytes) {
  return policy.one_shot_t0_us + (ranks - 1) * bytes / rate_Bpus(policy);
}

double two_shot_us(const CollectivePolicy& policy, int ranks, double bytes) {
  return policy.one_shot_t0_us + policy.two_shot_extra_us + 2.0 * (ranks - 1) / ranks * bytes / rate_Bpus(policy);
}

}  // namespace moe
