// How is a validation shown? Text for people, JSON and CSV for programs (docs/validate.md).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "validate/groups.hpp"

namespace moe {

std::string validation_text(const Validation& v);
nlohmann::ordered_json validation_json(const Validation& v);
/// One line per row: id, status, times, error, interval, groups, breakdown.
std::string validation_csv(const Validation& v);

}  // namespace moe
