#include "serving/client.hpp"

#include <fmt/core.h>

#include <cmath>

#include "serving/names.hpp"

namespace moe {
namespace {

// Limits of what is still said to be a decode step; quality letters of the table: A clean, B with known
// disturbance, C not.
constexpr double kRetokenizedApart =
    0.10;  // more: tokens are not produced one by one (diffusion models: 19 %; others below 2 %)
constexpr double kPrefillShare = 0.10;  // of TPOT above the median time between tokens
constexpr double kPrefillMost = 0.50;
constexpr double kConcurrencyApart = 0.10;

std::string missing(const ClientRun& r) {
  std::string names;
  const auto need = [&](double value, const char* name) {
    if (!(value > 0)) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  need(r.completed, "completed requests"), need(r.duration_s, "duration"),
      need(r.input_tokens, "input tokens");
  need(r.output_tokens, "output tokens"), need(r.mean_tpot_ms, "mean TPOT"),
      need(r.mean_ttft_ms, "mean TTFT");
  return names;
}

/// Sequences in a decode step, and how they are known.
std::pair<double, std::string> sequences(const ClientRun& r, double tokens_each) {
  const double decoding_s = (tokens_each - 1) * r.mean_tpot_ms / 1000;
  const double mean = r.completed * decoding_s / r.duration_s;
  if (r.max_concurrency > 0 && std::abs(mean / r.max_concurrency - 1) <= kConcurrencyApart)
    return {r.max_concurrency, ""};
  const double wave_s = r.mean_ttft_ms / 1000 + decoding_s;
  if (!(r.max_concurrency > 0) && std::abs(wave_s / r.duration_s - 1) < kConcurrencyApart &&
      r.mean_ttft_ms / 1000 < kConcurrencyApart * r.duration_s)
    return {r.completed, "concurrency: all requests ran together"};
  const double rounded = std::max(1.0, std::round(mean));
  if (r.max_concurrency > 0)
    return {rounded, rounded == r.max_concurrency
                         ? ""
                         : fmt::format("concurrency: {:.0f} allowed, {:.1f} decoding on average",
                                       r.max_concurrency, mean)};
  return {rounded, fmt::format("concurrency: {:.1f} decoding on average (Little's law)", mean)};
}

}  // namespace

std::optional<BenchRow> client_row(const ClientRun& r, const BenchOptions& options, Diagnostics& out) {
  if (const std::string names = missing(r); !names.empty()) {
    out.error("the result lacks " + names, r.place);
    return std::nullopt;
  }
  const double tokens = r.output_tokens / r.completed;
  BenchRow row;
  std::string quality = "A";
  const auto unfit = [&](const std::string& why) {
    if (!options.anyway)
      out.error(why, r.place, "", "--anyway writes the row with quality C");
    else
      row.note(why), quality = "C";
    return !options.anyway;
  };
  if (tokens < 2 && unfit("requests have fewer than two output tokens: there is no decode step between them"))
    return std::nullopt;
  if (r.retokenized > 0 && std::abs(r.retokenized / r.output_tokens - 1) > kRetokenizedApart &&
      unfit(fmt::format("{:.0f} tokens were counted and their text has {:.0f}: tokens do not come one per "
                        "step (a diffusion model?), "
                        "so TPOT is not the time of a step",
                        r.output_tokens, r.retokenized)))
    return std::nullopt;
  const double decoding_ms = (tokens - 1) * r.mean_tpot_ms;
  if (r.mean_ttft_ms > decoding_ms &&
      unfit(fmt::format("requests waited {:.1f} s for their first token and decoded for {:.1f} s: the server "
                        "was queueing and computing "
                        "prompts, not in steady decode",
                        r.mean_ttft_ms / 1000, decoding_ms / 1000)))
    return std::nullopt;

  double value = options.mean || !(r.median_tpot_ms > 0) ? r.mean_tpot_ms : r.median_tpot_ms;
  row.cells["metric"] = "tpot_ms", row.cells["value"] = cell(value);
  row.note(r.median_tpot_ms > 0
               ? fmt::format("TPOT median {} mean {} ms", cell(r.median_tpot_ms), cell(r.mean_tpot_ms))
               : fmt::format("TPOT mean {} ms", cell(r.mean_tpot_ms)));
  row.cells["context_tokens"] = fmt::format("{:.0f}", r.input_tokens / r.completed + tokens / 2);
  const auto [running, how] = sequences(r, tokens);
  row.cells["concurrency"] = fmt::format("{:.0f}", running);
  if (!how.empty()) row.note(how);
  const bool speculates = r.accept_len > 1;
  if (speculates) row.cells["accept_len"] = cell(r.accept_len);
  if (r.median_itl_ms > 0 && !speculates) {
    const double above = value / r.median_itl_ms - 1;
    if (r.mean_itl_ms > 2 * r.mean_tpot_ms) {
      row.note(fmt::format(
          "{:.3g} tokens arrive at a time: speculation or streaming in chunks, which the file does not say",
          r.mean_itl_ms / r.mean_tpot_ms));
      if (quality == "A") quality = "B";
    } else if (above > kPrefillShare) {
      row.note(
          fmt::format("TPOT is {:.0f} % above the median time between tokens ({} ms): prompts of other "
                      "requests are computed in between",
                      100 * above, cell(r.median_itl_ms)));
      out.warning(fmt::format("TPOT {} ms is {:.0f} % above the median time between tokens, {} ms: prompts "
                              "are computed in between",
                              cell(value), 100 * above, cell(r.median_itl_ms)),
                  r.place, "", "run with more output tokens or a fixed batch");
      if (quality == "A") quality = above > kPrefillMost ? "C" : "B";
    }
  }
  row.cells["quality"] = quality;
  row.fill("engine", r.engine);
  row.fill("date", r.date);
  add_model(row.cells, r.model, "");
  return row;
}

}  // namespace moe
