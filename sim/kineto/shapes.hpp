// Which kernels of a trace were measured at a known size? Rows for the measurement files
// (docs/measurements.md).
//
// Sizes are known where the trace was recorded with record_shapes=True and outside of graph replays: dense
// GEMMs, attention with one query token, and collectives of torch.distributed. A row is the median over the
// calls of one shape; time is that of the kernels, without gaps.
#pragma once
#include <string>
#include <vector>

#include "kineto/steps.hpp"
#include "kineto/waiting.hpp"

namespace moe {

struct MeasuredFile {
  std::string name;  ///< gemm.csv, ...
  std::string text;  ///< header and rows
  std::size_t rows = 0;
};

/// `engine`: first part of the paths, `engine/operator`. What is left out for a reason is a warning.
std::vector<MeasuredFile> measured_rows(const KinetoTrace& trace, const TraceSteps& steps,
                                        const std::vector<std::size_t>& categories, const Waiting& waiting,
                                        const std::string& engine, Diagnostics& out);
/// protocol.yaml for `moe-sim fit`: a decode step streams every weight, so the rows are cold.
std::string protocol_text(const std::string& source);

/// "[[640],[888,2880]]" -> {{640}, {888, 2880}}; an empty list where the text is not one.
std::vector<std::vector<std::int64_t>> parse_dims(const std::string& text);

}  // namespace moe
