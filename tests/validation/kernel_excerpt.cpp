// Reference predictions that ship with the project, so that the port is checked without the full vector files.
//
// Inputs and `warm_us` / `cold_us` are rows of the prototype's test vectors (fitted on the AIConfigurator silicon
// database, Apache-2.0, commit 095f58a5): one row per kernel path. warm_us is at the benchmark's footprint (bytes
// touched between two uses), cold_us with weights from DRAM. The vectors were made with unrounded constants and the
// profile holds four digits, which moves a prediction by at most 0.04 %.
#include <cmath>

#include "cost/compute.hpp"
#include "validation/rtx_pro_6000.hpp"

using namespace moe;

namespace {

constexpr double kTolerance = 1e-3;

struct GemmRow {
  const char* path;
  double m, n, k, footprint_bytes, warm_us, cold_us;
};
constexpr GemmRow kGemm[] = {
    {"sglang-0.5.14/bfloat16", 11, 512, 3072, 18874368, 4.216, 5.377},
    {"sglang-0.5.14/fp8", 11, 512, 3072, 9437184, 25.735, 25.736},
    {"sglang-0.5.14/nvfp4", 11, 512, 3072, 5308416, 14.555, 14.556},
    {"trtllm-1.3.0rc20/bfloat16", 11, 512, 3072, 15728640, 4.492, 5.686},
    {"trtllm-1.3.0rc20/fp8", 11, 512, 3072, 7864320, 13.077, 13.371},
    {"trtllm-1.3.0rc20/fp8_block", 9, 6144, 7168, 132152832, 34.481, 38.607},
    {"trtllm-1.3.0rc20/nvfp4", 129, 6144, 16384, 169869312, 69.787, 69.788},
    {"vllm-0.24.0/bfloat16", 11, 512, 3072, 18874368, 3.997, 4.742},
    {"vllm-0.24.0/fp8", 49, 6144, 256, 9437184, 6.597, 6.598},
    {"vllm-0.24.0/nvfp4", 129, 6144, 16384, 56623104, 67.886, 79.308},
};

/// Statistics of the rows that reached the timed rank; `tiles` are those of `tile_rows` rows.
struct MoeRow {
  const char* path;
  double tokens, hidden, intermediate;
  bool gated;
  int topk, experts, tp, ep;
  double active, rows, union_of_draws, tokens_here;
  int tile_rows;
  double tiles, warm_us, cold_us;
};
constexpr MoeRow kMoe[] = {
    {"sglang-0.5.14/sglang_marlin_moe/int4_wo", 96, 7168, 2048, true, 8, 384, 2, 4, 96, 192, 96, 96, 16, 96, 844.431,
     844.431},
    {"vllm-0.24.0/vllm_compressedtensorswna16marlinmoe_marlin_marlinexperts/int4_wo", 192, 7168, 2048, true, 8, 384,
     2, 1, 384, 1536, 384, 192, 32, 384, 3252.511, 3252.511},
    {"sglang-0.5.14/sglang_flashinfer_cutlass_moe/nvfp4", 80, 8192, 5120, false, 22, 512, 1, 8, 55.35, 274.15, 64,
     77.15, 64, 55.35, 1889.593, 1889.593},
    {"trtllm-1.3.0rc20/moe_torch_flow_cutlass/nvfp4", 192, 5120, 8192, true, 1, 128, 4, 1, 128, 192, 128, 192, 128,
     128, 1663.94, 1663.94},
    {"vllm-0.24.0/vllm_compressedtensorsw4a4nvfp4moe_flashinfer_cutlass_flashi/nvfp4", 4, 4096, 14336, true, 2, 8, 4,
     1, 4.65, 8, 7.75, 4, 128, 4.65, 112.172, 112.172},
    {"sglang-0.5.14/sglang_fused_moe_triton/fp8_block", 16, 4096, 2048, true, 6, 256, 8, 8, 12, 12, 12, 12, 64, 12,
     49.466, 54.366},
    {"trtllm-1.3.0rc20/moe_torch_flow_cutlass/fp8", 8, 4096, 2048, true, 8, 256, 8, 4, 16, 16, 16, 8, 16, 16, 34.358,
     54.131},
    {"vllm-0.24.0/vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts/fp8", 192, 4096, 14336, true, 2, 8, 2, 1,
     8, 384, 8, 192, 32, 15.85, 640.741, 640.741},
    {"sglang-0.5.14/sglang_fused_moe_triton/bfloat16", 384, 2048, 512, true, 8, 256, 2, 2, 128, 1536, 128, 384, 64,
     128, 395.574, 395.574},
    {"sglang-0.5.14/sglang_flashinfer_cutlass_moe/bfloat16", 4, 2048, 5120, false, 22, 512, 1, 8, 14.55, 14.55,
     39.75, 4, 64, 14.55, 463.881, 463.881},
    {"trtllm-1.3.0rc20/moe_torch_flow_cutlass/bfloat16", 384, 2048, 512, true, 8, 256, 2, 2, 128, 1536, 128, 384, 64,
     128, 302.583, 302.583},
    {"vllm-0.24.0/vllm_unquantizedfusedmoe_flashinfer_cutlass_flashinferexpert/bfloat16", 16, 4096, 14336, true, 2,
     8, 2, 1, 8, 32, 8, 16, 32, 8, 982.766, 982.766},
    {"vllm-0.24.0/vllm_gptossmxfp4moe_marlin_marlinexperts/w4a16_mxfp4", 8, 2880, 2880, true, 4, 32, 1, 8, 3.15,
     9.25, 4, 6.95, 64, 3.15, 74.769, 75.19},
    {"trtllm-1.3.0rc20/moe_torch_flow_cutlass/w4a8_mxfp4_mxfp8", 256, 2880, 2880, true, 4, 128, 1, 2, 64, 512, 64,
     256, 128, 64, 743.996, 743.996},
};

MoeShape shape_of(const MoeRow& row) {
  MoeShape shape;
  shape.tokens = row.tokens;
  shape.hidden = row.hidden;
  shape.intermediate = row.intermediate / row.tp;
  shape.topk = row.topk;
  shape.experts = row.experts;
  shape.local_experts = row.experts / row.ep;
  shape.gated = row.gated;
  return shape;
}

/// Only the tile size that the rule must choose has tiles: a wrong choice gives a wrong time.
ExpertLoad load_of_row(const MoeRow& row) {
  ExpertLoad load;
  load.active = row.active;
  load.rows = row.rows;
  load.tokens_here = row.tokens_here;
  int rows = 8;
  for (double& tiles : load.tiles) {
    if (rows == row.tile_rows) tiles = row.tiles;
    rows *= 2;
  }
  return load;
}

}  // namespace

TEST_CASE("dense GEMM reproduces the reference predictions, warm and cold", "[validation]") {
  const Profile profile = rtx_pro_6000();
  for (const GemmRow& row : kGemm) {
    const DenseGemmPath& path = profile.dense_gemm.at(row.path);
    const auto time_us = [&](double reuse) {
      return dense_gemm(profile.gpu, path, row.m, row.n, row.k, reuse).time_us;
    };
    INFO(row.path);
    CHECK(time_us(row.footprint_bytes) == Approx(row.warm_us).epsilon(kTolerance));
    CHECK(time_us(kCold) == Approx(row.cold_us).epsilon(kTolerance));
  }
}

TEST_CASE("grouped experts reproduce the reference predictions, warm and cold", "[validation]") {
  const Profile profile = rtx_pro_6000();
  for (const MoeRow& row : kMoe) {
    const MoePath& path = profile.moe.at(row.path);
    const MoeShape shape = shape_of(row);
    const ExpertLoad load = load_of_row(row);
    const double expert_bytes =
        (row.gated ? 3 : 2) * shape.hidden * shape.intermediate * path.bytes_per_weight * row.union_of_draws;
    INFO(row.path);
    CHECK(tile_rows(path.tile, shape, load) == row.tile_rows);
    CHECK(grouped_experts(profile.gpu, path, shape, load, expert_bytes).time_us ==
          Approx(row.warm_us).epsilon(kTolerance));
    CHECK(grouped_experts(profile.gpu, path, shape, load).time_us == Approx(row.cold_us).epsilon(kTolerance));
  }
}
