// What if a batch may only use experts that are loaded anyway? Opportunistic expert activation (OEA).
//
// Every token keeps its best `keep` experts; together these are the active ones. A further choice of a token that is
// active already stays; any other is replaced by an active expert, drawn in proportion to popularity, that the token
// does not have and that lies in its groups. Noisy scores restricted to the active experts give exactly this.
//
// A token keeps its own choice where no active expert is left for it (one token alone; very small batches): rows are
// preserved, and quality is never worse than asked. Oncescu et al., "Opportunistic Expert Activation" (2025), run such
// a token with fewer experts instead.
#pragma once
#include "base/random.hpp"
#include "workload/picker.hpp"
#include "workload/rank_loads.hpp"

namespace moe {

class Piggyback {
 public:
  explicit Piggyback(int keep) : keep_(keep) {}
  /// Changes the choices in place. `picker` must use the popularity that they were drawn from.
  void apply(Choices& choices, Picker& picker, Random& random);

 private:
  void list_active(const Choices& choices, const Picker& picker);
  void replace(std::uint32_t* row, Picker& picker, Random& random) const;
  /// An active expert that is free for the token, or picker.experts() when there is none.
  std::uint32_t pick(const Picker& picker, Random& random) const;

  int keep_;
  std::vector<char> is_active_;        ///< [expert]
  std::vector<std::uint32_t> active_;
  std::vector<double> sum_;            ///< running sum of the weights of active_
};

}  // namespace moe
