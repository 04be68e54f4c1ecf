// A small folder of made-up measurements: dense GEMM and casts of a kernel whose constants are known.
#pragma once
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cost/compute.hpp"
#include "repository.hpp"

namespace moe::test {

inline GpuSpec measured_gpu() {
  GpuSpec g;
  g.name = "rtx-pro-6000";
  g.sm = 188;
  g.dram_Bps = 1.792e12;
  g.l2_bytes = 128e6;
  g.l2_resident_bytes = 140e6;
  g.bf16_flops = 468e12;
  g.fp8_flops = 936e12;
  return g;
}

inline DenseGemmPath known_gemm() {
  DenseGemmPath p;
  p.bytes_per_weight = 1;
  p.compute = ComputeType::fp8;
  p.t0_us = 4;
  p.cq_us_per_Melem = 0.6;
  p.dram_eff = 0.8;
  p.l2_tbps = 3;
  p.eps_us = 1;
  p.p = 3;
  p.wave_quant = 0.5;
  p.regimes = {{512, 64, 128, 3}};
  return p;
}

/// Writes gemm.csv (cold rows: protocol with 0 copies) and cast.csv; every value off by up to 1 %, by a fixed
/// pattern.
inline std::string measured_folder() {
  const std::string folder = (std::filesystem::temp_directory_path() / "moe-sim-test-measured").string();
  std::filesystem::create_directories(folder);
  std::ofstream gemm(folder + "/gemm.csv"), cast(folder + "/cast.csv"), protocol(folder + "/protocol.yaml");
  gemm << "path,dtype,m,n,k,latency_us\n";
  int i = 0;
  for (const double n : {512, 1024, 1536, 2048, 3072, 4096, 6144, 8192})
    for (const double k : {512, 1024, 2048, 3072, 4096, 6144, 8192})
      for (const double m : {1, 4, 16, 32, 64, 128, 256, 512})
        gemm << fmt::format(
            "engine-1/kernel,fp8,{},{},{},{:.4f}\n", m, n, k,
            dense_gemm(measured_gpu(), known_gemm(), m, n, k).time_us * (1 + 0.01 * ((i++ % 21) / 10.0 - 1)));
  cast << "path,op,dtype,m,k,latency_us\n";
  for (const int k : {256, 512, 1024, 2048, 4096, 5120, 6144, 7168, 8192, 16384})
    for (const int m : {1, 8, 64, 512})
      cast << fmt::format("engine-1/cast,scale_matrix,fp8,{},{},{:.4f}\n", m, k, 2 + 1e-6 * m * k);
  protocol << "schema: 1\nsources: [made up]\nformats: {fp8: {bytes_per_weight: 1, bytes_per_activation: 1, "
              "compute: fp8}}\n"
              "paths:\n  - {op: gemm, rows: \"*\", copies: 0}\n";
  return folder;
}

}  // namespace moe::test
