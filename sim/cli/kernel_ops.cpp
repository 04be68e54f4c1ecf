#include "cli/kernel_ops.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "workload/router.hpp"

namespace moe {
namespace {

constexpr double kLatentRank = 512, kRopeDim = 64, kNopeDim = 128;  // MLA of DeepSeek-V3, Kimi and GLM-5
constexpr double kSparseRowBytes = 656;  // FP8 rows of sparse MLA: latent, a scale per 128, rotary part in bf16
constexpr double kIndexRowBytes = 128 + 4;  // DSA index cache: 128 values in FP8, one fp32 scale

/// Sizes that an op asks for; remembers them for the answer.
class Sizes {
 public:
  explicit Sizes(const KernelArguments& a) : a_(a) {}
  double need(const std::string& name) {
    const double* value = given(name);
    if (value == nullptr) throw InputError(fmt::format("`kernel {}` needs --{}", a_.op, name));
    return used[name] = *value;
  }
  double with_default(const std::string& name, double value) {
    const double* its = given(name);
    return used[name] = its == nullptr ? value : *its;
  }
  std::map<std::string, double> used;

 private:
  /// `tokens` stands for the rows of any op.
  const double* given(const std::string& name) const {
    const auto tokens = name == "m" || name == "sequences" ? a_.sizes.find("tokens") : a_.sizes.end();
    const auto found = tokens != a_.sizes.end() ? tokens : a_.sizes.find(name);
    return found == a_.sizes.end() ? nullptr : &found->second;
  }
  const KernelArguments& a_;
};

/// A format goes by its short or its long name.
std::vector<std::string> spellings(const std::string& dtype) {
  if (dtype == "bf16" || dtype == "bfloat16") return {"bf16", "bfloat16"};
  if (dtype == "int4" || dtype == "int4_wo") return {"int4", "int4_wo"};
  return {dtype};
}

/// Is `dtype` a part of the path's name: /fp8, /kv_fp8, /cast_fp8?
bool has_dtype(const std::string& path, const std::string& dtype) {
  if (dtype.empty()) return true;
  for (const std::string& d : spellings(dtype))
    for (const char* prefix : {"/", "/kv_", "/cast_"})
      if ((path + "/").find(prefix + d + "/") != std::string::npos) return true;
  return false;
}

/// Calls `body(name, path)` for every path that fits what was asked: the one of that name, or all with the asked texts
/// in their names. `part` narrows an op that shares a section.
template <class Paths, class Body>
void for_fitting(const Paths& paths, const KernelArguments& a, const std::string& part, Body body) {
  if (const auto exact = paths.find(a.path); exact != paths.end()) return body(exact->first, exact->second);
  std::string known;
  bool any = false;
  for (const auto& [name, path] : paths) {
    if (name.find(part) == std::string::npos) continue;
    known += "\n    " + name;
    if (!has_dtype(name, a.dtype) || name.find(a.path) == std::string::npos) continue;
    any = true;
    body(name, path);
  }
  if (any) return;
  throw InputError(known.empty() ? fmt::format("the profile has no path for `kernel {}`", a.op)
                                 : fmt::format("no kernel path fits; --path and --dtype choose among{}", known));
}

double reuse_of(const KernelArguments& a) { return a.reuse_bytes < 0 ? kCold : a.reuse_bytes; }

using Answers = std::vector<KernelAnswer>;

Answers gemm(const Profile& p, const KernelArguments& a) {
  Sizes s(a);
  const double m = s.need("m"), n = s.need("n"), k = s.need("k");
  Answers out;
  for_fitting(p.dense_gemm, a, "", [&](const std::string& name, const DenseGemmPath& path) {
    KernelAnswer one{name, s.used, "", dense_gemm(p.gpu, path, m, n, k, reuse_of(a))};
    const GemmTile t = gemm_tile(p.gpu, path, m, n, k);
    one.tiles = fmt::format("{:g} tiles of {} x {}, K in {:g} parts, {:.0f} % of the rows and columns used,", t.tiles,
                            t.bm, t.bn, t.splits, 100 * m * n / (t.tiles * t.bm * t.bn));
    out.push_back(one);
  });
  return out;
}

/// Mean load over 32 draws of the router; `balanced` spreads rows evenly.
ExpertLoad load_for(const KernelArguments& a, const MoeShape& shape) {
  ExpertLoad mean;
  const int tokens = static_cast<int>(shape.tokens);
  if (a.routing == "balanced") {
    const long rows = std::lround(shape.tokens * shape.topk * shape.local_experts / shape.experts);
    std::vector<int> counts(static_cast<std::size_t>(shape.local_experts));
    for (long r = 0; r < rows; ++r) ++counts[static_cast<std::size_t>(r % shape.local_experts)];
    return load_of(counts, std::min<double>(static_cast<double>(rows), shape.tokens));
  }
  Routing routing;
  if (a.routing.starts_with("power_law_")) {
    routing.kind = Routing::Kind::power_law;
    routing.alpha = std::stod(a.routing.substr(10));
  } else if (a.routing != "uniform") {
    throw InputError(fmt::format("unknown routing `{}`\n  = help: {}", a.routing,
                                 suggestion(a.routing, {"uniform", "balanced", "power_law_1.2"})));
  }
  Router router(routing, RouterShape{shape.experts, shape.topk}, tokens);
  constexpr int kDraws = 32;
  for (int d = 0; d < kDraws; ++d) {
    const std::vector<int>& all = router.draw(d);
    const ExpertLoad load = load_of({all.begin(), all.begin() + shape.local_experts}, shape.tokens);
    mean.active += load.active / kDraws;
    mean.rows += load.rows / kDraws;
    mean.tokens_here += load.tokens_here / kDraws;
    for (int i = 0; i < 6; ++i) mean.tiles[i] += load.tiles[i] / kDraws;
  }
  return mean;
}

Answers experts(const Profile& p, const KernelArguments& a) {
  Sizes s(a);
  const double tp = s.with_default("tp", 1), ep = s.with_default("ep", 1), all = s.need("experts");
  MoeShape shape{s.need("tokens"),
                 s.need("hidden"),
                 s.need("intermediate") / tp,
                 static_cast<int>(s.need("topk")),
                 static_cast<int>(all),
                 static_cast<int>(all / ep),
                 !a.ungated};
  if (shape.local_experts < 1 || shape.topk > shape.experts)
    throw InputError("topk <= experts, and ep <= experts");
  const ExpertLoad load = load_for(a, shape);
  Answers out;
  for_fitting(p.moe, a, "", [&](const std::string& name, const MoePath& path) {
    const int bm = tile_rows(path.tile, shape, load);
    out.push_back({name, s.used,
                   fmt::format("{:.0f} of {} local experts active with {:.1f} rows each, M tiles of {} rows ({:.0f} % "
                               "used) x {} columns of N,",
                               load.active, shape.local_experts, load.active > 0 ? load.rows / load.active : 0, bm,
                               load.rows > 0 ? 100 * load.rows / (load.tiles_for(bm) * bm) : 0, path.bn1),
                   grouped_experts(p.gpu, path, shape, load, reuse_of(a))});
  });
  return out;
}

/// What GQA, MLA, sparse MLA and whole MLA blocks ask; the bytes of a cached token follow from the path's name.
Answers attention(const Profile& p, const KernelArguments& a) {
  Sizes s(a);
  AttentionShape t;
  const bool gqa = a.op == "gqa", sparse = a.op == "sparse-mla";
  const char* window = a.path.find("gqa_window") == std::string::npos ? "/gqa/" : "/gqa_window/";
  t.sequences = s.need("sequences");
  t.context = s.need("context");
  if (sparse) t.context = std::min(t.context, s.with_default("topk", 2048));
  t.queries = s.with_default("queries", 1);
  t.heads = s.need("heads");
  t.kv_heads = gqa ? s.need("kv-heads") : 1;
  t.head_dim = gqa ? s.need("head-dim") : kLatentRank;
  t.score_dim = gqa ? 0 : kLatentRank + kRopeDim;
  const auto shape_for = [&](const std::string& name) {
    AttentionShape its = t;
    const bool fp8 = name.find("kv_fp8") != std::string::npos;
    const double row = gqa ? 2 * t.kv_heads * t.head_dim : kLatentRank + kRopeDim;
    its.kv_row_bytes = sparse && fp8 ? kSparseRowBytes : (fp8 ? 1 : 2) * row;
    return its;
  };
  const auto cut = [](const AttentionPath& path) {
    return fmt::format("query rows in tiles of {}, the cache in at most {} parts,", path.head_tile, path.max_splits);
  };
  Answers out;
  if (a.op == "mla-module")
    for_fitting(p.mla_module, a, "", [&](const std::string& name, const MlaModulePath& path) {
      out.push_back({name, s.used, cut(path), mla_module(p.gpu, path, shape_for(name), reuse_of(a))});
    });
  else
    for_fitting(p.attention, a, gqa ? window : sparse ? "sparse_mla" : "/mla/", [&](const std::string& name, const AttentionPath& path) {
      out.push_back({name, s.used, cut(path), decode_attention(p.gpu, path, shape_for(name), reuse_of(a))});
    });
  return out;
}

/// x and bytes as `moe-sim fit` counts them (docs/fitting.md). Casts, top-k and the rest work on what lies in L2.
Answers small(const Profile& p, const KernelArguments& a) {
  Sizes s(a);
  double x = 0, bytes = 0, weights = 0;
  bool in_l2 = false;
  std::string part;
  if (a.op == "cast") {
    x = s.need("m") * s.need("k") * 1e-6;
    bytes = 3e6 * x;
    in_l2 = true;
    part = "/cast";
  } else if (a.op == "bmm") {
    weights = s.need("heads") * kLatentRank * kNopeDim;
    x = 2e-9 * s.need("tokens") * weights;
    bytes = 2 * s.used["tokens"] * s.used["heads"] * (kLatentRank + kNopeDim);
    part = "/mla_bmm";
  } else if (a.op == "gdn" || a.op == "linear-attention") {
    bytes = 8 * s.need("sequences") * s.need("heads") * s.with_default("k-dim", 128) * s.with_default("v-dim", 128);
    part = "/gdn_recurrent";
  } else if (a.op == "conv") {
    bytes = 16 * s.need("sequences") * s.need("channels");
    part = "/conv1d";
  } else if (a.op == "indexer-logits") {
    bytes = (kIndexRowBytes + 4) * s.need("sequences") * s.need("context");
    part = "indexer_logits";
  } else if (a.op == "indexer-topk") {
    bytes = 16 * s.need("sequences") * s.need("context");
    in_l2 = true;
    part = "topk";
  } else {
    bytes = s.need("bytes");
    x = s.with_default("x", 0);
    in_l2 = true;
  }
  const double reuse = in_l2 && a.reuse_bytes < 0 ? kInL2 : reuse_of(a);
  Answers out;
  for_fitting(p.elementwise, a, part, [&](const std::string& name, const ElementwisePath& path) {
    const double its = weights * (name.find("fp8") != std::string::npos ? 1 : 2);
    out.push_back({name, s.used, "not cut into tiles", elementwise(p.gpu, path, x, bytes + its, reuse)});
  });
  return out;
}

}  // namespace

std::vector<KernelAnswer> answers(const Profile& p, const KernelArguments& a) {
  const std::vector<std::string>& ops = kernel_ops();
  if (a.op == "gemm") return gemm(p, a);
  if (a.op == "moe") return experts(p, a);
  if (a.op == "mla" || a.op == "gqa" || a.op == "sparse-mla" || a.op == "mla-module") return attention(p, a);
  if (std::find(ops.begin(), ops.end(), a.op) != ops.end()) return small(p, a);
  throw InputError(fmt::format("no kernel op `{}`\n  = help: {}", a.op, suggestion(a.op, ops)));
}

const std::vector<std::string>& kernel_ops() {
  static const std::vector<std::string> ops{"gemm", "moe",  "mla", "gqa",  "cast",           "linear-attention", "mla-module",
                                            "bmm",  "gdn",  "conv", "sparse-mla", "indexer-logits", "indexer-topk",     "elementwise"};
  return ops;
}

}  // namespace moe
