// The answer of `moe-sim search` for people and for programs.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/chart.hpp"
#include "search/search.hpp"

namespace moe {

std::string search_text(const SearchResult& result);
/// {"schema", "model", "machine", "front": [...], "goals": [{"goal", "best", "runner_up", "reason", "probability",
/// "intervals_overlap", "launch": {"vllm", "sglang"}}], "no_answer": {...}}; the same bytes for the same inputs.
nlohmann::ordered_json search_json(const SearchResult& result);
/// Tokens/s per user against tokens/s in total: all points, and the front.
Chart pareto_chart(const SearchResult& result);

}  // namespace moe
