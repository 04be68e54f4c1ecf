// What did the benchmark's client see, and is it the time of a decode step?
//
// A client measures requests, not steps. Three things come between: prompts of other requests that are
// computed between two tokens, requests that wait, and tokens that arrive several at a time. They are found
// from the client's own figures and said.
#pragma once
#include <limits>
#include <optional>
#include <string>

#include "serving/row.hpp"

namespace moe {

/// Figures of one run; NaN: the output does not have it.
struct ClientRun {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double completed = kNone, duration_s = kNone, input_tokens = kNone, output_tokens = kNone,
         retokenized = kNone;
  double max_concurrency = kNone;
  double mean_ttft_ms = kNone, mean_tpot_ms = kNone, median_tpot_ms = kNone, mean_itl_ms = kNone,
         median_itl_ms = kNone;
  double accept_len = kNone;
  std::string engine, model, date;  ///< as the output says
  Place place;                      ///< where in the file
};

/// The row of a run, metric tpot_ms; nothing and an error when it is no decode measurement.
///   context      prompt + half of the output: the mean cached tokens while decoding
///   concurrency  what the client held, or, where that is not said or was not reached, Little's law: requests
///   x time each
///                spends decoding / duration
std::optional<BenchRow> client_row(const ClientRun& run, const BenchOptions& options, Diagnostics& out);

}  // namespace moe
