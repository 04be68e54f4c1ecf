// What are the constants of this path? One function per kind of path, from its fit rows. What is searched and
// how: docs/fitting.md. All return constants rounded to four digits, so that the file holds what was judged.
#pragma once
#include "fit/tune.hpp"

namespace moe {

DenseGemmPath fit_dense_gemm(const GpuSpec& gpu, const PathData& data, const Rows& rows);
MoePath fit_moe(const GpuSpec& gpu, const PathData& data, const Rows& rows);
AttentionPath fit_attention(const GpuSpec& gpu, const PathData& data, const Rows& rows);
MlaModulePath fit_mla_module(const GpuSpec& gpu, const PathData& data, const Rows& rows);
ElementwisePath fit_elementwise(const GpuSpec& gpu, const PathData& data, const Rows& rows);

}  // namespace moe
