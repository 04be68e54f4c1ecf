// What do all the paths of a folder of measurements cost? Fits them one by one, on several threads.
//
//   const Measurements m = read_measurements("data/sm120");
//   const Profile p = fit_profile(m, protocol, gpu, {});       // p.dense_gemm, p.moe, p.attention,
//   p.elementwise
//
// Same input, same profile, whatever the number of threads: paths are independent and every choice is by
// fixed hashes.
#pragma once
#include <functional>

#include "fit/samples.hpp"

namespace moe {

struct FitOptions {
  std::vector<Where> leave_out;  ///< rows that are not fitted, besides the held-out shapes
  std::size_t points = 0;        ///< fit at most this many rows per path; 0: all
  bool residuals = true;         ///< residual tables
  double table_share = 0.02;     ///< points of a path's table over its measured rows, at most
  int threads = 2;
  std::function<void(std::size_t done, std::size_t total, const std::string& path)> progress;
};

/// Fitted paths only: no name, provenance, communication or assumed paths.
Profile fit_profile(const Measurements& m, const Protocol& protocol, const GpuSpec& gpu,
                    const FitOptions& options);

/// Points of all residual tables.
std::size_t table_points(const Profile& profile);

}  // namespace moe
