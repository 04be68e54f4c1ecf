// What does the JSON file say, and where is it damaged? For what others wrote: configs of models, result.json.
//
//   error: not valid JSON: unexpected string literal, expected '}'
//    --> config.json:4:3
//     |
//   4 |   "hidden_size": 7168
//     |   ^^^^^^^^^^^^^
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "config/diagnostic.hpp"

namespace moe {

/// Reads one file, keys in file order. A missing file, a syntax error and anything but an object at the top become
/// diagnostics; the value is then null.
nlohmann::ordered_json load_json(const std::string& file, Diagnostics& out);
/// The same for a text in memory, `file` names it in messages.
nlohmann::ordered_json parse_json(const std::string& text, const std::string& file, Diagnostics& out);

}  // namespace moe
