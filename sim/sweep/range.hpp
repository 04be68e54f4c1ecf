// Which values lie in `1..256x2`?
//
//   8          8              1..4       1, 2, 3, 4        1..256x2   1, 2, 4, ... 256
//   1..9+4     1, 5, 9        1k..8kx2   1k, 2k, 4k, 8k    512..2kx2  512, 1024, 2048
//
// The end is included when the steps reach it. Anything without `..` is one value and stays as written.
#pragma once
#include <string>
#include <vector>

namespace moe {

std::vector<std::string> expand_range(const std::string& text);

}  // namespace moe
