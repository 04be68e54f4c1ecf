// The pictures of a report, each from result.json (with `detail`), as SVG elements. Empty when there is nothing to show.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace moe {

using ResultJson = nlohmann::ordered_json;

/// One bar per run: where the step goes, by category.
std::string breakdown_figure(const std::vector<ResultJson>& results);
/// One layer: a lane per stream, an op per box; hatched: time lost to sharing a link.
std::string layer_figure(const ResultJson& detail);
/// The machine as a tree: width is capacity, colour is how busy.
std::string links_figure(const ResultJson& detail);
/// Bytes from row to column in one step.
std::string traffic_figure(const ResultJson& detail);
/// Every kernel against the two roofs of the GPU.
std::string roofline_figure(const ResultJson& detail);
/// The step with one thing changed, against the step as it is.
std::string what_if_figure(const ResultJson& result);

/// Position of a category name, for its colour.
std::size_t category_hue(const std::string& category);
/// A colour between quiet and loud for a share of 0 to 1.
std::string heat_of(double share);

}  // namespace moe
