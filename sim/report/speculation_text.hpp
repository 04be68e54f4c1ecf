// How speculation is shown: a part of the summary and of result.json.
#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "report/result.hpp"

namespace moe {

/// Acceptance, break-even and a table over batch and k; "" without speculation.
std::string speculation_text(const SpeculationResult& s);
/// `speculation` of result.json.
nlohmann::ordered_json speculation_json(const SpeculationResult& s);

}  // namespace moe
