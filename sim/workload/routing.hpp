// Which experts do the tokens choose? A seeded process; the same seed gives the same draw on every compiler.
//
// Every expert has a popularity; a token picks `topk` distinct experts, one after the other, in proportion to it
// (the same as taking the top-k of log popularity + Gumbel noise, i.e. of noisy router scores).
//
//   uniform     all popularities equal; B tokens touch E (1 - (1 - k/E)^B) experts on average
//   power_law   popularities are drawn from p(x) ~ x^-alpha between 1 and 0.8 B (200 while B k <= E), the rule of
//               AIConfigurator's MoE collector (commit 095f58a5), so that alpha means what it means in its tables
//   similarity  how alike the sequences of the batch are: the correlation of their router scores, 0 to below 1.
//               Each layer adds to log popularity a normal of variance s/(1-s) pi^2/6 (pi^2/6: variance of the Gumbel
//               noise), common to all tokens. One token alone is not changed by it; a batch touches fewer experts.
//
// Example: 64 tokens, top-8 of 384. similarity 0: 284 experts touched. One prompt sent to all streams was seen to
// need 0.54-0.64 of the uniform expert time at this batch; a similarity near 0.6 gives such counts.
#pragma once
#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace moe {

struct Routing {
  enum class Kind { uniform, power_law } kind = Kind::uniform;
  double alpha = 1.2;       ///< power_law
  double similarity = 0;    ///< 0 <= s < 1
  double similarity_high = -1;  ///< upper end of what is plausible, for the interval; -1: not given
  std::uint64_t seed = 1;
};

/// Draws the routing of one layer after the other for a batch of a fixed size.
class Router {
 public:
  /// experts, topk of the model; tokens: rows that route independently; padding: dummy rows of a captured graph,
  /// which all choose the same experts because they hold the same data.
  Router(const Routing& routing, int experts, int topk, int tokens, int padding = 0);
  /// Rows per expert of the next layer; sums to (tokens + padding) * topk.
  const std::vector<int>& draw();

 private:
  std::uint32_t pick();
  void pick_token(int copies);

  Random random_;
  int topk_, tokens_, padding_;
  std::vector<std::uint32_t> accept_;    ///< alias method: keep the drawn rank below this, of 2^32
  std::vector<std::uint32_t> other_;     ///< alias method: rank taken instead
  std::vector<std::uint32_t> expert_;    ///< rank of popularity -> expert, shuffled for every layer
  std::vector<int> rows_;
  std::vector<std::uint32_t> chosen_;
  bool uniform_;
};

/// Popularities by rank (largest first is not required), as the constructor uses them.
std::vector<double> popularity(const Routing& routing, int experts, int topk, int tokens, Random& random);

}  // namespace moe
