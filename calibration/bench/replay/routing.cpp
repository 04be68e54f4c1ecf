#include "replay/routing.hpp"

#include <fmt/core.h>

#include <cstddef>

#include "harness/check.hpp"

namespace moe::bench {

std::vector<float> logits_for(const std::vector<int>& rows, int first, int experts, int topk, int tokens, int tokens_here) {
  const auto local = static_cast<int>(rows.size());
  std::vector<float> logits(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(experts), 0.0f);
  std::vector<int> chosen(static_cast<std::size_t>(tokens), 0);
  const auto choose = [&](int token, int expert) {
    int& n = chosen[static_cast<std::size_t>(token)];
    logits[static_cast<std::size_t>(token) * static_cast<std::size_t>(experts) + static_cast<std::size_t>(expert)] =
        8.0f + 0.125f * static_cast<float>(topk - n++);
  };
  int next = 0;
  for (int e = 0; e < local; ++e) {
    const int wanted = rows[static_cast<std::size_t>(e)];
    if (wanted > tokens_here)
      throw Unsupported(fmt::format("expert {} has {} rows of {} tokens", first + e, wanted, tokens_here));
    for (int r = 0; r < wanted; ++r, next = (next + 1) % tokens_here) {
      if (chosen[static_cast<std::size_t>(next)] == topk)
        throw Unsupported(fmt::format("the rows do not fit into {} choices of {} tokens", topk, tokens_here));
      choose(next, first + e);
    }
  }
  for (int t = 0; t < tokens; ++t) {
    int other = 0;  // experts of other ranks take what is left
    while (chosen[static_cast<std::size_t>(t)] < topk) {
      if (other == first) other += local;
      if (other >= experts)
        throw Unsupported(fmt::format("token {} has {} of {} choices, and all experts are here", t,
                                      chosen[static_cast<std::size_t>(t)], topk));
      choose(t, other++);
    }
  }
  return logits;
}

}  // namespace moe::bench
