// The four small functions that every kernel cost is made of. Times in microseconds, rates in bytes per microsecond.
//
//   smax(3, 4; 2) = 5            two limits that overlap only partly; p -> infinity gives max
//   wave(1.2; 1)  = 2            1.2 waves of tiles in whole waves; wave(1.2; 0) = 1.2 with perfect sharing
//   hit(F = C)    = 0.5          share of repeated reads that L2 serves when they touch F bytes between two uses
//
// Source: kernel cost equations fitted on the AIConfigurator silicon tables. Tested: tests/analytic/kernel_math.cpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "cost/compute.hpp"

namespace moe {

/// Smooth maximum of two limits: (a^p + b^p)^(1/p), scaled so that large powers do not overflow.
inline double smax(double a, double b, double p) {
  const double top = std::max(a, b);
  if (top <= 0) return 0;
  return top * std::pow(std::pow(a / top, p) + std::pow(b / top, p), 1 / p);
}

/// Waves over the machine: w = 1 whole waves, w = 0 work shared evenly, never less than one wave of latency.
inline double wave(double tiles_over_slots, double w) {
  return w * std::ceil(tiles_over_slots) + (1 - w) * std::max(1.0, tiles_over_slots);
}

/// Share of reads served by L2: 1 / (1 + (F/C)^s). kCold gives 0, 0 bytes give 1.
inline double hit(const GpuSpec& gpu, double reuse_bytes) {
  if (reuse_bytes <= 0) return 1;
  if (gpu.l2_resident_bytes <= 0) return 0;
  return 1 / (1 + std::pow(reuse_bytes / gpu.l2_resident_bytes, gpu.l2_sharpness));
}

/// Microseconds per byte read beyond and inside L2, and their mix: (1-h)/(e BW) + h/BW_L2.
struct ReadRate {
  double miss = 1;      ///< share of the bytes that DRAM serves
  double l2_us = 0;     ///< per byte
  double mixed_us = 0;  ///< per byte
};
inline ReadRate read_rate(const GpuSpec& gpu, double dram_eff, double l2_tbps, double reuse_bytes) {
  const double h = hit(gpu, reuse_bytes);
  const double l2_us = 1 / (l2_tbps * 1e6);
  return {1 - h, l2_us, (1 - h) / (dram_eff * gpu.dram_Bps * 1e-6) + h * l2_us};
}

/// Standard deviation of ln(measured/predicted). The 90th percentile of |error| of a normal spread lies at 1.645
/// deviations; rows whose data came from DRAM are what a decode step sees, so they count where they are known.
/// `rows`: tokens or sequences, for paths whose spread is known by regime.
inline double spread_of(const FitQuality& quality, double rows = std::numeric_limits<double>::infinity()) {
  for (const auto& [up_to, spread] : quality.spread)
    if (rows <= up_to) return spread;
  const double p90_pct = quality.cold_p90_pct > 0 ? quality.cold_p90_pct : quality.p90_pct;
  return p90_pct / 100 / 1.645;
}

/// Is a size inside the range that the fit saw? A size without a stated range is.
inline bool within(const FitQuality& quality, const std::string& size, double value) {
  const auto found = quality.range.find(size);
  return found == quality.range.end() || (value >= found->second.first && value <= found->second.second);
}

}  // namespace moe
