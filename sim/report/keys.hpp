// What does a key of result.json mean? One row per key, for `moe-sim explain` and docs/result.md.
#pragma once
#include <vector>

namespace moe {

struct ResultKey {
  const char* key;  ///< dotted; `[]` marks the items of a list
  const char* unit;
  const char* meaning;
};

/// Every key that to_ordered_json writes, in its order (tests/unit/result_keys.cpp).
const std::vector<ResultKey>& result_keys();

}  // namespace moe
