// Which keys has an entry of a profile? One binder per kind of kernel path; the units are in the key names.
//
//   dense_gemm:
//     - {path: vllm-0.24.0/fp8, bytes_per_weight: 1, compute: fp8, t0_us: 3.1, ..., includes: [quantise, gap],
//        regimes: [{m_max: 16, bm: 16, bn: 128, tau_ns: 4.8}, ...], heldout_err_pct: [3.9, 13.4],
//        range: {m: [1, 512]}, source: AIConfigurator 095f58a5}
//
// Every path states its error: heldout_err_pct (median and 90th percentile of |predicted/measured - 1| on shapes that
// were not fitted) or assumed_err_pct (an estimate, where no measurement of the path exists).
#pragma once
#include <string>

#include "config/fields.hpp"
#include "cost/profile.hpp"

namespace moe {

void bind_dense_gemm(Fields& f, DenseGemmPath& path);
void bind_moe(Fields& f, MoePath& path);
void bind_attention(Fields& f, AttentionPath& path);
void bind_mla_module(Fields& f, MlaModulePath& path);
void bind_elementwise(Fields& f, ElementwisePath& path);

/// Keys that all kinds share: includes, range (with these size names), errors, source.
void bind_common(Fields& f, std::vector<std::string>& includes, FitQuality& quality,
                 const std::vector<std::string>& sizes);
/// One entry of `residuals`: the table of one path (cost/residuals.hpp). `points` is a text, for speed and size:
/// per point the axes and 1000 ln(measured/model), blanks between, `;` after each point.
void bind_residuals(Fields& f, std::string& section, std::string& path, ResidualTable& table);
/// `tile_rule: [mrl, 0.9]`: a kind and its numbers (cost/compute.hpp, tile_rows).
void bind_tile_rule(Fields& f, TileRule& rule);

}  // namespace moe
