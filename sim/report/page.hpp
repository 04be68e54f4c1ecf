// The report: one HTML page that needs nothing else. Works from file://, prints, follows light and dark; the numbers it
// shows are inside it as JSON (script elements of type application/json).
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace moe {

struct Section {
  std::string title, note;  ///< note: one sentence under the title
  std::string html;         ///< figure or table
};

/// Sections of the runs: headline, step, layer, links, traffic, kernels, what would help, inputs.
std::vector<Section> run_sections(const std::vector<nlohmann::ordered_json>& results);

/// The page. `data` are the documents that it carries.
std::string page(const std::string& title, const std::vector<Section>& sections,
                 const std::vector<nlohmann::ordered_json>& data, const std::string& command);

}  // namespace moe
