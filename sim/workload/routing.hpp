// How do tokens choose experts? The declaration: `routing:` of an experiment. workload/router.hpp draws from it.
//
// Every expert of a layer has a popularity; a token picks `topk` distinct experts, one after the other, in proportion
// to it (the same as taking the top-k of log popularity + Gumbel noise, i.e. of noisy router scores).
//
//   kind        uniform: all alike; B tokens touch E (1 - (1 - k/E)^B) experts on average
//               power_law: popularities from p(x) ~ x^-alpha between 1 and 200, whatever the batch: the rule of
//               AIConfigurator's MoE collector (commit 095f58a5) for few tokens
//               histogram: recorded rows per expert.  trace: recorded choices, replayed
//   similarity  how alike the sequences of the batch are: the correlation of their router scores, 0 to below 1
//   temporal    probability that a sequence keeps a chosen expert from the step before
//   oea_keep    opportunistic expert activation: picks of a token that may make an expert active
//
// Example: 64 tokens, top-8 of 384, touch 284 experts; with similarity 0.6 they touch 165, with oea_keep 3 152.
// docs/routing.md says what is known about each knob.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace moe {

struct RecordedRouting;

struct Routing {
  enum class Kind { uniform, power_law, histogram, trace } kind = Kind::uniform;
  double alpha = 1.2;           ///< power_law
  double similarity = 0;        ///< 0 <= s < 1
  double similarity_high = -1;  ///< upper end of what is plausible, for the interval; -1: not given
  double temporal = 0;          ///< 0 to 1; over the steps of one run
  int oea_keep = 0;             ///< 0: off
  std::uint64_t seed = 1;
  std::string file{};           ///< histogram, trace: CSV, workload/recorded.hpp
  int tokens_per_sequence = 1;  ///< computed: rows in a row that belong to one sequence (verify step: drafts + 1)
  double token_overlap = 0;     ///< computed: probability that a row keeps an expert of the row before it, same sequence
  std::shared_ptr<const RecordedRouting> recorded{};  ///< computed: what `file` holds
};

/// What the router of a model's layer is like (model facts).
struct RouterShape {
  int experts = 0;            ///< routed ones; 0: a layer without experts
  int topk = 0;
  int groups = 1;             ///< group-limited routing: experts stand in this many equal groups, in order,
  int topk_groups = 1;        ///< and a token uses at most so many of them
  bool hash_routed = false;   ///< experts come from a table by token id; the router's scores do not choose
};

}  // namespace moe
