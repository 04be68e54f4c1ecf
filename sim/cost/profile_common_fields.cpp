#include <fmt/core.h>

#include <algorithm>

#include "cost/profile_fields.hpp"

namespace moe {
namespace {

/// Parts that a path's time may contain besides the main kernel; lowering charges none of them twice.
const std::vector<std::string>& known_parts() {
  static const std::vector<std::string> parts{"topk", "permute", "quantise", "activation", "finalise", "gap"};
  return parts;
}

void bind_includes(Fields& f, std::vector<std::string>& includes) {
  f.texts("includes", includes, Need::optional,
          "what the time contains besides the main kernel: topk, permute, quantise, activation, finalise, gap");
  for (const auto& part : includes)
    if (const auto& known = known_parts(); std::find(known.begin(), known.end(), part) == known.end())
      f.error("includes", fmt::format("unknown part `{}`", part), suggestion(part, known));
}

void bind_range(Fields& f, FitQuality& quality, const std::vector<std::string>& sizes) {
  f.section("range", Need::optional, "sizes between which the path was fitted, each [low, high]", [&](Fields& r) {
    for (const auto& size : sizes) {
      std::vector<double> ends;
      r.numbers(size, ends, Unit::number, Need::optional, Range::not_negative(), "[low, high]");
      if (ends.empty()) continue;
      if (ends.size() != 2 || ends[0] > ends[1])
        r.error(size, fmt::format("`{}` is not a range", size), "write it like `[1, 512]`, low end first");
      else
        quality.range[size] = {ends[0], ends[1]};
    }
  });
}

/// [median, 90th percentile] in percent.
void bind_error(Fields& f, const std::string& key, double& median_pct, double& p90_pct, const std::string& help) {
  std::vector<double> pair;
  f.numbers(key, pair, Unit::number, Need::optional, Range::not_negative(), help);
  if (pair.empty()) return;
  if (pair.size() != 2 || pair[0] > pair[1])
    return f.error(key, fmt::format("`{}` is not a median and a 90th percentile", key), "write it like `[3.0, 12.0]`");
  median_pct = pair[0];
  p90_pct = pair[1];
}

}  // namespace

void bind_common(Fields& f, std::vector<std::string>& includes, FitQuality& quality,
                 const std::vector<std::string>& sizes) {
  bind_includes(f, includes);
  bind_range(f, quality, sizes);
  bind_error(f, "heldout_err_pct", quality.median_pct, quality.p90_pct,
             "[median, p90] of |predicted/measured - 1| in percent, on shapes that were not fitted");
  bind_error(f, "heldout_cold_err_pct", quality.cold_median_pct, quality.cold_p90_pct,
             "the same on rows whose data came from DRAM");
  bind_error(f, "assumed_err_pct", quality.median_pct, quality.p90_pct,
             "an estimate of the error where no held-out measurement exists");
  f.list("spread", Need::optional, "deviation of ln(measured/predicted) by rows or sequences", [&](Fields& g, std::size_t) {
    double up_to = 0, sigma = 0;
    g.number("up_to", up_to, Need::required, Range::positive(), "rows, tokens or sequences; ascending");
    g.number("sigma", sigma, Need::required, Range::not_negative(), "standard deviation");
    quality.spread.emplace_back(up_to, sigma);
  });
  f.text("source", quality.source, Need::optional, "where the numbers come from");
  if (f.describing()) return;
  quality.assumed = f.has("assumed_err_pct");
  if (f.has("heldout_err_pct") == quality.assumed)
    f.error(quality.assumed ? "assumed_err_pct" : "path", "a path states its error once",
            "give `heldout_err_pct` where it was measured, else `assumed_err_pct`");
}

void bind_tile_rule(Fields& f, TileRule& rule) {
  std::vector<std::string> words;
  f.texts("tile_rule", words, Need::required, "rows of one M tile: [kind, numbers...], kernel by kernel");
  if (words.empty()) return;
  static const std::vector<std::string> kinds{"fix", "mar", "mrl", "tri", "trl", "ada", "adl", "adc"};
  rule = {words[0], {}};
  if (std::find(kinds.begin(), kinds.end(), rule.kind) == kinds.end())
    return f.error("tile_rule", fmt::format("unknown tile rule `{}`", rule.kind), suggestion(rule.kind, kinds));
  for (std::size_t i = 1; i < words.size(); ++i) {
    const Parsed number = parse_number(words[i]);
    if (!number.problem.empty()) return f.error("tile_rule", number.problem, number.help);
    rule.values.push_back(number.value);
  }
  const bool two = rule.kind[0] == 't' || rule.kind[0] == 'a';  // tri, trl, ada, adl, adc
  if (rule.values.size() != (two ? 2u : 1u))
    return f.error("tile_rule",
                   fmt::format("the tile rule `{}` takes {}", rule.kind, two ? "two numbers" : "one number"));
  const auto is_tile = [](double v) { return v == 8 || v == 16 || v == 32 || v == 64 || v == 128 || v == 256; };
  const std::size_t tiles = rule.kind[0] == 'm' ? 0 : rule.kind[0] == 't' ? 2 : 1;  // how many of them are tile rows
  for (std::size_t i = 0; i < rule.values.size(); ++i)
    if (i < tiles ? !is_tile(rule.values[i]) : rule.values[i] <= 0)
      f.error("tile_rule", fmt::format("`{}` does not fit the tile rule `{}`", words[i + 1], rule.kind),
              i < tiles ? "tile rows are 8, 16, 32, 64, 128 or 256" : "it must be greater than 0");
}

}  // namespace moe
