// What drafts cost: passes of a small model on the ranks of the last pipeline stage, after the target's sampling and
// before the next step. All of it counts as `draft`.
//
//   mtp, eagle3, model   k passes. The first one also takes in the tokens that the step has just verified, drafts + 1 per
//                        sequence, so that the draft's cache has them; the others take one token (tree: `width`).
//   block                one pass that writes all k tokens
//   ngram                nothing on the GPU
// Source: propose() of vLLM's v1/spec_decode/eagle.py and draft_extend of SGLang's eagle_worker.py.
#pragma once
#include <memory>

#include "lower/step.hpp"

namespace moe {

class Drafter {
 public:
  /// `layout` is the target's; `batch` the sequences of its replica.
  Drafter(const Case& target, const LowerOptions& options, Writer& writer, const Layout& layout, int batch);
  void write(int stage, int micro);

 private:
  Case case_;       ///< the target's, with the draft's model in its place
  Layout layout_;
  Writer& writer_;
  int passes_ = 0;
  std::unique_ptr<Step> first_, later_;
};

}  // namespace moe
