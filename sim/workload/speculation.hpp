// Is more than one token verified per step? The declaration: `speculation:` of an experiment. docs/speculation.md.
//
//   mtp     the model's own multi-token-prediction layer, k passes
//   eagle3  a draft head on three hidden states of the target, k passes (models/drafts)
//   block   a draft head that writes k tokens in one pass
//   model   a small model of its own, k passes
//   ngram   copies from the text so far, no GPU time
#pragma once
#include <string>
#include <vector>

#include "workload/acceptance.hpp"

namespace moe {

/// Engines draft less in large batches.
struct AdaptiveDrafts {
  int max_batch = 0;
  int k = 0;
};

struct Speculation {
  enum class Method { none, mtp, eagle3, block, model, ngram } method = Method::none;
  int k = 0;                       ///< draft tokens per step
  std::string draft;               ///< file: models/drafts (eagle3, block) or models (model)
  std::string checkpoint;          ///< model: id of its weights; "": the first
  int tp = 0;                      ///< model: ranks that share it; 1: every rank runs it whole; 0: as the target
  bool captured = true;            ///< the draft runs as a CUDA graph
  double token_overlap = 0;        ///< probability that a token's expert is one of the token before it, beyond chance
  int tree_budget = 0;             ///< tokens verified per sequence; 0: a chain of k
  int tree_width = 1;              ///< candidates per sequence in a draft pass
  std::vector<AdaptiveDrafts> adaptive;
  Acceptance acceptance;

  /// Draft tokens for a batch: those of the first adaptive entry that covers it, else k.
  int drafts(int batch) const {
    if (method == Method::none || k == 0) return 0;
    for (const AdaptiveDrafts& a : adaptive)
      if (batch <= a.max_batch) return a.k;
    return k;
  }
  /// Query tokens per sequence in the verify step.
  int queries(int batch) const {
    const int n = drafts(batch);
    return n == 0 ? 1 : tree_budget > 0 ? tree_budget : n + 1;
  }
};
inline constexpr const char* kSpeculationNames[] = {"none", "mtp", "eagle3", "block", "model", "ngram"};

}  // namespace moe
