// The little language of `moe-sim flows` and `--ranks`.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "config/diagnostic.hpp"
#include "network/flows.hpp"

namespace moe {
namespace {

/// Items between commas or blanks.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> items;
  for (std::size_t from = 0; (from = text.find_first_not_of(", ", from)) != std::string_view::npos;) {
    const std::size_t to = std::min(text.find_first_of(", ", from), text.size());
    items.push_back(text.substr(from, to - from));
    from = to;
  }
  return items;
}

int gpu_number(std::string_view text, int gpus, std::string_view whole) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0)
    throw InputError(fmt::format("`{}` in `{}` is not a GPU number", text, whole));
  if (value >= gpus)
    throw InputError(fmt::format("`{}` names GPU {}, but this machine has GPUs 0 to {}", whole, value, gpus - 1));
  return value;
}

/// "4" or "4-7".
std::vector<int> range(std::string_view text, int gpus, std::string_view whole) {
  const std::size_t dash = text.find('-');
  const int first = gpu_number(text.substr(0, dash), gpus, whole);
  const int last = dash == std::string_view::npos ? first : gpu_number(text.substr(dash + 1), gpus, whole);
  if (last < first) throw InputError(fmt::format("the range `{}` in `{}` runs backwards", text, whole));
  std::vector<int> all;
  for (int g = first; g <= last; ++g) all.push_back(g);
  return all;
}

/// Of a flow: "3".
std::uint32_t weight_of(std::string_view text, std::string_view whole) {
  constexpr std::uint32_t kMost = 1000;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > kMost)
    throw InputError(fmt::format("`{}` in `{}` is not a weight\n  = help: a whole number from 1 to {}", text, whole, kMost));
  return value;
}

}  // namespace

std::vector<int> parse_ranks(const std::string& text, int gpus) {
  std::vector<int> all;
  for (const std::string_view part : split(text))
    for (const int g : range(part, gpus, text)) {
      if (std::find(all.begin(), all.end(), g) != all.end())
        throw InputError(fmt::format("`{}` names GPU {} twice", text, g));
      all.push_back(g);
    }
  if (all.empty()) throw InputError("no GPU is named\n  = help: write `0-7` or `0,2,4`");
  return all;
}

std::vector<FlowPair> parse_flows(const std::string& text, int gpus) {
  std::vector<FlowPair> pairs;
  for (const std::string_view item : split(text)) {
    const std::size_t arrow = item.find('>');
    if (arrow == std::string_view::npos)
      throw InputError(fmt::format("`{}` is not a flow\n  = help: write `0>4`, or `0-3>4-7` for each to each", item));
    const std::vector<int> froms = range(item.substr(0, arrow), gpus, item);
    const std::size_t star = item.find('*', arrow);
    const std::vector<int> tos = range(item.substr(arrow + 1, star == std::string_view::npos ? star : star - arrow - 1), gpus, item);
    const std::uint32_t weight = star == std::string_view::npos ? 1 : weight_of(item.substr(star + 1), item);
    const std::size_t before = pairs.size();
    for (const int from : froms)
      for (const int to : tos)
        if (from != to) pairs.push_back({from, to, weight});
    if (pairs.size() == before) throw InputError(fmt::format("`{}`: a GPU sends to itself", item));
  }
  if (pairs.empty()) throw InputError("no flow is named\n  = help: write `0>4,1>5`, or `0-3>4-7` for each to each");
  return pairs;
}

}  // namespace moe
