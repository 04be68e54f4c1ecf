// Which layers does "0..2, 6..74+4" name? The range grammar of this project, for layer numbers.
//
//   parse_layer_ranges("0..2, 6..14+4")  ->  {0, 1, 2, 6, 10, 14}
//   parse_layer_ranges("7")              ->  {7}
//   parse_layer_ranges("5..3")           ->  problem: `5..3` ends before it starts
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace moe {

/// No model has more layers; keeps a typing error from filling the memory.
inline constexpr int kMostLayers = 10000;

struct LayerRanges {
  std::vector<int> layers;  ///< as written, from 0
  std::string problem;      ///< empty: fine; else one sentence, lower case
};

LayerRanges parse_layer_ranges(std::string_view text);

/// "3..5, 9" for {3, 4, 5, 9}: ascending numbers in messages.
std::string layer_ranges_text(const std::vector<int>& layers);

}  // namespace moe
