// Which keys may the files have? The declarations that read them, for `explain`, docs/keys.md and the JSON schemas.
#pragma once
#include <string>
#include <vector>

#include "config/fields.hpp"

namespace moe {

struct Declarations {
  std::string kind;   ///< experiment, model, machine, profile, stack, gpu, kernel_rules
  std::string where;  ///< the folder they live in, in a sentence
  std::vector<FieldInfo> fields;
};
std::vector<Declarations> all_declarations();

}  // namespace moe
