// What did the fit find? Cost parameters of one GPU type's kernels, by kernel path ("vllm-0.24.0/bfloat16"), and of
// communication. Files: calibration/profiles/*.yaml, read by cost/load_profile.cpp, written by `moe-sim fit`.
// Equations: docs in cost/compute.hpp and cost/collective.hpp. Units are in the field names.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "cost/gpu.hpp"
#include "cost/residuals.hpp"

namespace moe {

/// What is known about how good a path's fit is, and where it holds.
struct FitQuality {
  double median_pct = 0;      ///< |predicted/measured - 1| on held-out shapes, all rows
  double p90_pct = 0;
  double cold_median_pct = 0; ///< the same on rows whose data came from DRAM; 0: not known
  double cold_p90_pct = 0;
  std::map<std::string, std::pair<double, double>> range;  ///< fitted range by size name: m, n, k, tokens, ...
  std::string source;         ///< where the numbers come from, in one sentence
  bool assumed = false;       ///< the errors above are an estimate: no measurement stands behind the path
  std::vector<std::pair<double, double>> spread;  ///< [rows or sequences up to, deviation of ln(measured/predicted)]
};

struct GemmRegime {
  int m_max = 0;              ///< applies to m <= m_max; regimes ascend, those with the same m_max are alternatives
  int bm = 0, bn = 0;         ///< output tile
  double tau_ns = 0;          ///< time of one tile per element of K
};

struct DenseGemmPath {
  double bytes_per_weight = 2, t0_us = 0, cq_us_per_Melem = 0, dram_eff = 0.8, l2_tbps = 0, eps_us = 0, p = 2,
         wave_quant = 0, split_us = 0;
  int split_k_max = 1, split_k_min_k = 0;
  std::vector<GemmRegime> regimes;
  ComputeType compute = ComputeType::bf16;
  std::vector<std::string> includes;  ///< what the time contains besides the multiply: quantise, gap
  FitQuality quality;
  ResidualTable residuals;
};

/// How many rows one M tile of the grouped GEMM holds (kernels.md 2): name and parameters.
struct TileRule {
  std::string kind;           ///< fix, mar, mrl, tri, trl, ada, adl, adc
  std::vector<double> values;
};

struct MoePath {
  double bytes_per_weight = 2, bytes_per_activation = 2;
  TileRule tile;
  int bn1 = 0, bn2 = 0;       ///< columns of a tile, first and second GEMM; with blocks_per_sm: of 16 rows, of more rows
  int blocks_per_sm = 0;      ///< 0: waves of tiles over SMs; else waves of blocks in turn (cost/grouped_experts.cpp)
  int row_piece = 0;          ///< rows of a tile are multiplied in pieces of so many, as far as there are rows; 0: whole tiles
  double t0_us = 0, ck_us = 0, ctok_us = 0, cE_us = 0, cA_us = 0, crow_us_per_MB = 0, dram_eff = 0.8, l2_tbps = 0,
         tau0_ns = 0, tau1_ns_per_row = 0, eps_us = 0, p = 2, wave_quant = 0;
  bool table_rows_clamped = false;  ///< only for evaluating benchmark rows (kernels.md 2, "clamp")
  ComputeType compute = ComputeType::bf16;
  std::vector<std::string> includes;  ///< topk, permute, quantise, activation, finalise, gap
  FitQuality quality;
  ResidualTable residuals;
};

struct AttentionPath {
  int head_tile = 16, max_splits = 1, min_chunk = 64;
  double ctas_per_sm = 1, t0_us = 0, batch_us = 0, cq_us_per_MB = 0, reduce_us = 0, dram_eff = 0.8, l2_tbps = 0,
         tau_us_per_token = 0, split_us = 0, eps_us = 0, p = 2, wave_quant = 0;
  std::string split_rule;     ///< empty: kernels.md 2; else a named rule of the stack's kernel
  std::vector<std::string> includes;
  FitQuality quality;
  ResidualTable residuals;
};

/// A whole MLA attention block: the core's constants, and the projections around it as one more term.
struct MlaModulePath : AttentionPath {
  double weight_bytes_shared = 0;    ///< projections that every rank holds whole
  double weight_bytes_per_head = 0;  ///< projections of one local head
  double weights_shared = 0, weights_per_head = 0;  ///< the same in elements: for the multiply
  double weight_eff = 0.8;           ///< share of peak DRAM bandwidth that the projections reach
  double c_us_per_GFLOP = 0;         ///< multiply of the projections
  ComputeType compute = ComputeType::bf16;
};

/// t = t0 + smax(c x, bytes / rate; p): casts, norms, copies, state updates, batched products.
struct ElementwisePath {
  double t0_us = 0, c_us = 0, dram_eff = 0.8, l2_tbps = 0, p = 2;
  std::string x_unit;         ///< what x counts; empty where c is 0
  std::string bytes_of;       ///< what the bytes are
  std::vector<std::string> includes;
  FitQuality quality;
  ResidualTable residuals;
};

/// Communication constants of this GPU type for one transport (cost/collective.hpp: nvlink, nvlink_pair, p2p, p2p_pair,
/// p2p_x, shm, shm_x, net).
struct TransportCost {
  double start_us = 0;        ///< once per collective, when this is the ring's most expensive transport
  double alpha_ll_us = 0;     ///< latency of one LL hop
  bool adds_route_latency = false;  ///< alpha_ll_us holds only the two ends; the links' latency comes on top
  double tau_ll_us = 0;       ///< one further LL pass of 4096 B per channel
  double tau1_ll_us = 0;      ///< issue time of a full pass
  double alpha_simple_us = 0; ///< one step of Simple, links included
  double rate_simple_GBps = 0;
};

/// All-to-all by grouped send/receive over some transports (cost/all_to_all.hpp).
struct AllToAllCost {
  std::vector<std::string> transports;  ///< for which the following holds; empty: all
  double base_us = 0, peer_us = 0, first = 0, tau = 0, simple_us = 0;
  std::map<int, double> rate_GBps;  ///< by ranks
  std::map<int, double> threads;    ///< LL threads per peer, by ranks
};

struct CommCost {
  double t_base_us = 0;       ///< launch and exit of a collective kernel
  double tail_ll = 0, tail_simple = 0;
  double wire_GBps = 0;       ///< ceiling of SM stores on the wire
  double b_simple_us = 0;     ///< pipeline fill of Simple
  double ll128_alpha_factor = 1.9, ll128_rate_GBps = 0;
  int ll_min_threads = 64;    ///< threads that a block of LL has at least
  bool ll_whole_pass = false; ///< a started LL pass waits a whole round trip; false: its share of one
  std::map<std::string, TransportCost> transport;
  std::vector<AllToAllCost> all_to_all;  ///< a transport is in one of them
  FitQuality quality;
};

/// A measurement file that the fit read.
struct ProfileInput {
  std::string file, hash;
  int rows = 0;
};

struct Profile {
  std::string name;           ///< file name without .yaml
  GpuSpec gpu;
  std::vector<std::string> provenance;
  std::vector<ProfileInput> inputs;
  std::map<std::string, DenseGemmPath> dense_gemm;
  std::map<std::string, MoePath> moe;
  std::map<std::string, AttentionPath> attention;    ///< gqa and mla cores
  std::map<std::string, MlaModulePath> mla_module;   ///< whole MLA blocks, to hold against the parts
  std::map<std::string, ElementwisePath> elementwise;
  CommCost comm;
};

/// Calls `body` with the paths of a section by its name in the file.
template <class AnyProfile, class Body>
void in_section(AnyProfile& p, const std::string& section, Body body) {
  if (section == "dense_gemm") body(p.dense_gemm);
  if (section == "moe") body(p.moe);
  if (section == "attention_decode") body(p.attention);
  if (section == "mla_module") body(p.mla_module);
  if (section == "elementwise_and_state") body(p.elementwise);
}
/// Calls `body(name, paths)` for every section of kernel paths, in the order of the file.
template <class AnyProfile, class Body>
void for_sections(AnyProfile& p, Body body) {
  body("dense_gemm", p.dense_gemm);
  body("moe", p.moe);
  body("attention_decode", p.attention);
  body("mla_module", p.mla_module);
  body("elementwise_and_state", p.elementwise);
}

}  // namespace moe
