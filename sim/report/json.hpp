// The answer for programs: result.json. Keys are listed and explained in docs/result.md and never change their meaning.
#pragma once
#include <nlohmann/json.hpp>

#include "report/result.hpp"

namespace moe {

/// All keys of result.json in a stable order. Numbers that vary from run to run (host time) are left out.
nlohmann::ordered_json to_ordered_json(const Case& c, const Result& r);
/// Its `inputs` alone: every resolved key, and the hash of every file.
nlohmann::ordered_json inputs_json(const Case& c);
inline nlohmann::json to_json(const Case& c, const Result& r) { return to_ordered_json(c, r); }

}  // namespace moe
