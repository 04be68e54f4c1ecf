// What did each measured row ask of the cost model? Turns points into arguments of the cost functions, path
// by path.
//
//   gemm row m=8 n=4096 k=7168, nvfp4, 6 copies -> Sample{a 8, b 4096, c 7168, reuse_bytes 6 x 16.5 MB = 99
//   MB} warm, since 99 MB stay in an L2 of 128 MB. A row is cold when its footprint exceeds 1.25 x
//   l2_resident_bytes.
//
// The split is by shape, with a fixed hash: one shape of `hold_out` is held out, with all its rows, in every
// path alike. Shape: gemm (n, k); moe (hidden, intermediate, topk, experts, tp, ep); gqa (heads, kv_heads,
// head_dim, window); mla, mla_module (heads, batch); dsa (batch, topk); small (rows, width); bmm (heads); cast (k); linear (k heads, v heads, d_model).
#pragma once
#include "cost/compute.hpp"
#include "fit/protocol.hpp"

namespace moe {

struct Sample {
  double us = 0;
  double reuse_bytes = 0;  ///< touched between two uses of the same data
  bool cold = false, held_out = false;
  double rows = 0;  ///< tokens or sequences: for buckets and regimes
  std::uint64_t shape = 0;
  std::uint32_t series = 0, point = 0;  ///< origin
  double a = 0, b = 0, c = 0;           ///< gemm: m, n, k; elementwise: x, bytes
  MoeShape moe;
  ExpertLoad load;
  AttentionShape attention;
};

/// All rows of one path of the profile.
struct PathData {
  std::string name, dtype;  ///< dtype: of the weights or of the cache, as the measurement says
  std::string section;      ///< of the profile: dense_gemm, moe, attention_decode, mla_module, elementwise_and_state
  Op op = Op::gemm;
  Format format;
  const PathProtocol* protocol = nullptr;
  std::vector<std::uint32_t> series;  ///< positions in Measurements::series
  std::string x_unit, bytes_of;       ///< elementwise: what x and bytes count
  MlaModel model;                     ///< mla_module: sizes of the block
};

/// Paths that the protocol does not skip, sorted by op and name.
std::vector<PathData> paths_of(const Measurements& m, const Protocol& protocol);

/// Scored rows of a path. `leave_out`: rows that match are held out, whatever their shape's hash says.
std::vector<Sample> samples_of(const Measurements& m, const PathData& path, const Protocol& protocol,
                               const GpuSpec& gpu, const std::vector<Where>& leave_out = {});

/// Sizes, load and footprint of one row. `kernel`: its path column.
void fill_sample(Sample& s, const Point& p, const PathData& path, const std::string& kernel, const GpuSpec& gpu);
/// What x and bytes of an elementwise path count, in words for the profile.
void describe_elementwise(PathData& d, const std::string& kernel);

/// Model time of a sample, for the kind of path that it belongs to.
KernelCost cost_of(const GpuSpec& gpu, const DenseGemmPath& path, const Sample& s);
KernelCost cost_of(const GpuSpec& gpu, const MoePath& path, const Sample& s);
KernelCost cost_of(const GpuSpec& gpu, const AttentionPath& path, const Sample& s);
KernelCost cost_of(const GpuSpec& gpu, const MlaModulePath& path, const Sample& s);
KernelCost cost_of(const GpuSpec& gpu, const ElementwisePath& path, const Sample& s);

/// Coordinates of a sample for a residual table of its section (cost/residuals.hpp).
AxisValues axes_of(const GpuSpec& gpu, const std::string& section, const Sample& s);

/// Position in bucket_names(): "1", "2-16", "17-128", "129-512", "513-".
std::size_t bucket_of(double rows);
const std::vector<std::string>& bucket_names();

}  // namespace moe
