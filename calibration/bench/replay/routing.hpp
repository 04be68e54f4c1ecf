// Router logits that send the rows of a program to its experts.
#pragma once
#include <vector>

namespace moe::bench {

/// Logits [tokens][experts] whose `topk` largest give expert `first + i` exactly rows[i] rows. Rows are dealt to the
/// first `tokens_here` tokens in turn, so every one of them has a local expert, and no token meets an expert twice. Other
/// choices go to experts of other ranks. Throws Unsupported when the counts cannot be dealt so. Pure.
std::vector<float> logits_for(const std::vector<int>& rows, int first, int experts, int topk, int tokens, int tokens_here);

}  // namespace moe::bench
