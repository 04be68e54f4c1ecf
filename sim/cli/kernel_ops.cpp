#include "cli/kernel_ops.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "workload/router.hpp"

namespace moe {
namespace {

constexpr double kLatentRank = 512, kRopeDim = 64, kNopeDim = 128;  // MLA of DeepSeek-V3, Kimi and GLM-5

/// Sizes that an op asks for; remembers them for the answer.
class Sizes {
 public:
  Sizes(const KernelArguments& a, KernelAnswer& answer) : a_(a), answer_(answer) {}
  double need(const std::string& name) {
    const auto found = a_.sizes.find(name);
    if (found == a_.sizes.end()) throw InputError(fmt::format("`kernel {}` needs --{}", a_.op, name));
    return answer_.sizes[name] = found->second;
  }
  double with_default(const std::string& name, double value) {
    const auto found = a_.sizes.find(name);
    return answer_.sizes[name] = found == a_.sizes.end() ? value : found->second;
  }

 private:
  const KernelArguments& a_;
  KernelAnswer& answer_;
};

/// The path that has all the asked texts in its name; `part` narrows an op that shares a section.
template <class Paths>
const typename Paths::mapped_type& choose(const Paths& paths, const KernelArguments& a,
                                          const std::string& part, std::string& name) {
  const auto exact = paths.find(a.path);
  if (exact != paths.end()) {
    name = exact->first;
    return exact->second;
  }
  std::vector<std::string> fitting, all;
  for (const auto& [path, value] : paths) {
    if (path.find(part) == std::string::npos) continue;
    all.push_back(path);
    const bool dtype = a.dtype.empty() || path.ends_with("/" + a.dtype) || path.ends_with("kv_" + a.dtype) ||
                       path.ends_with("cast_" + a.dtype);
    if (dtype && path.find(a.path) != std::string::npos) fitting.push_back(path);
  }
  if (fitting.size() == 1) {
    name = fitting.front();
    return paths.at(name);
  }
  std::string list;
  for (const std::string& f : fitting.empty() ? all : fitting) list += "\n    " + f;
  throw InputError(fmt::format("{} kernel path fits; choose with --path and --dtype{}",
                               fitting.empty() ? "no" : "more than one", list));
}

double reuse_of(const KernelArguments& a) { return a.reuse_bytes < 0 ? kCold : a.reuse_bytes; }

void gemm(const Profile& p, const KernelArguments& a, KernelAnswer& out) {
  Sizes s(a, out);
  const double m = s.need("m"), n = s.need("n"), k = s.need("k");
  const DenseGemmPath& path = choose(p.dense_gemm, a, "", out.path);
  out.cost = dense_gemm(p.gpu, path, m, n, k, reuse_of(a));
  const GemmRegime* regime = &path.regimes.back();
  for (auto r = path.regimes.rbegin(); r != path.regimes.rend(); ++r)
    if (m <= r->m_max) regime = &*r;
  const double tiles = std::ceil(m / regime->bm) * std::ceil(n / regime->bn);
  out.tiles = fmt::format("{:g} tiles of {} x {}, K in {:g} parts, {:.0f} % of the rows and columns used,",
                          tiles, regime->bm, regime->bn, std::round(out.cost.waves * p.gpu.sm / tiles),
                          100 * m * n / (tiles * regime->bm * regime->bn));
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

void experts(const Profile& p, const KernelArguments& a, KernelAnswer& out) {
  Sizes s(a, out);
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
  const MoePath& path = choose(p.moe, a, "", out.path);
  const ExpertLoad load = load_for(a, shape);
  out.cost = grouped_experts(p.gpu, path, shape, load, reuse_of(a));
  const int bm = tile_rows(path.tile, shape, load);
  out.tiles = fmt::format(
      "{:.0f} of {} local experts active with {:.1f} rows each, M tiles of {} rows ({:.0f} % used) x {} "
      "columns of N,",
      load.active, shape.local_experts, load.active > 0 ? load.rows / load.active : 0, bm,
      load.rows > 0 ? 100 * load.rows / (load.tiles_for(bm) * bm) : 0, path.bn1);
}

void attention(const Profile& p, const KernelArguments& a, KernelAnswer& out) {
  Sizes s(a, out);
  const bool mla = a.op == "mla";
  const AttentionPath& path = choose(p.attention, a, mla ? "mla" : "/gqa", out.path);
  const double bytes = out.path.find("kv_fp8") != std::string::npos ? 1 : 2;
  AttentionShape t;
  t.sequences = s.need("sequences");
  t.context = s.need("context");
  t.queries = s.with_default("queries", 1);
  t.heads = s.need("heads");
  t.kv_heads = mla ? 1 : s.need("kv-heads");
  t.head_dim = mla ? kLatentRank : s.need("head-dim");
  t.score_dim = mla ? kLatentRank + kRopeDim : 0;
  t.kv_row_bytes = (mla ? kLatentRank + kRopeDim : 2 * t.kv_heads * t.head_dim) * bytes;
  out.cost = decode_attention(p.gpu, path, t, reuse_of(a));
  out.tiles = fmt::format("query rows in tiles of {}, the cache in at most {} parts,", path.head_tile,
                          path.max_splits);
}

/// x and bytes as `moe-sim fit` counts them (docs/fitting.md).
void small(const Profile& p, const KernelArguments& a, KernelAnswer& out) {
  Sizes s(a, out);
  double x = 0, bytes = 0, reuse = reuse_of(a);
  std::string part;
  if (a.op == "cast") {
    x = s.need("m") * s.need("k") * 1e-6;
    bytes = 3e6 * x;
    reuse = a.reuse_bytes < 0 ? kInL2 : a.reuse_bytes;
    part = "/cast";
  } else if (a.op == "bmm") {
    const double weights = s.need("heads") * kLatentRank * kNopeDim;
    x = 2e-9 * s.need("tokens") * weights;
    part = "/mla_bmm";
    bytes = (a.dtype.starts_with("fp8") ? 1 : 2) * weights +
            2 * out.sizes["tokens"] * out.sizes["heads"] * (kLatentRank + kNopeDim);
  } else if (a.op == "gdn") {
    bytes = 8 * s.need("sequences") * s.need("heads") * s.with_default("k-dim", 128) *
            s.with_default("v-dim", 128);
    part = "/gdn_recurrent";
  } else if (a.op == "conv") {
    bytes = 16 * s.need("sequences") * s.need("channels");
    part = "/conv1d";
  } else {
    bytes = s.need("bytes");
    x = s.with_default("x", 0);
    reuse = a.reuse_bytes < 0 ? kInL2 : a.reuse_bytes;
  }
  out.cost = elementwise(p.gpu, choose(p.elementwise, a, part, out.path), x, bytes, reuse);
  out.tiles = "not cut into tiles";
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& kernel_sizes() {
  static const std::vector<std::pair<std::string, std::string>> sizes{
      {"m", "rows"},
      {"n", "columns"},
      {"k", "inner size, or width of a cast"},
      {"tokens", "of the batch that routes together"},
      {"hidden", "input width of the experts"},
      {"intermediate", "width of a whole expert"},
      {"topk", "experts per token"},
      {"experts", "of the layer"},
      {"tp", "an expert is cut into so many parts"},
      {"ep", "experts are spread over so many GPUs"},
      {"sequences", "that decode together"},
      {"context", "cached tokens, the new one included"},
      {"queries", "query tokens per sequence"},
      {"heads", "on one GPU"},
      {"kv-heads", "on one GPU"},
      {"head-dim", "of a head"},
      {"k-dim", "of a state"},
      {"v-dim", "of a state"},
      {"channels", "of a convolution, on one GPU"},
      {"x", "see the path's x_unit"},
      {"bytes", "see the path's bytes_of"}};
  return sizes;
}

KernelAnswer answer(const Profile& p, const KernelArguments& a) {
  KernelAnswer out;
  const std::vector<std::string> ops{"gemm", "moe", "mla",  "gqa",        "cast",
                                     "bmm",  "gdn", "conv", "elementwise"};
  if (a.op == "gemm")
    gemm(p, a, out);
  else if (a.op == "moe")
    experts(p, a, out);
  else if (a.op == "mla" || a.op == "gqa")
    attention(p, a, out);
  else if (std::find(ops.begin(), ops.end(), a.op) != ops.end())
    small(p, a, out);
  else
    throw InputError(fmt::format("no kernel op `{}`\n  = help: {}", a.op, suggestion(a.op, ops)));
  return out;
}

std::vector<double> sweep_values(const std::string& text) {
  const auto number = [&](const std::string& t) {
    double v = 0;
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), v);
    if (error != std::errc{} || end != t.data() + t.size() || v <= 0)
      throw InputError(
          fmt::format("`{}` is not a sweep\n  = help: 1..512, 1..512x4, 8..64+8 or 1,2,5", text));
    return v;
  };
  std::vector<double> values;
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t comma = std::min(text.find(',', begin), text.size());
      values.push_back(number(text.substr(begin, comma - begin)));
      begin = comma + 1;
    }
    return values;
  }
  const std::size_t step_at = text.find_first_of("x+", dots);
  const double low = number(text.substr(0, dots)),
               high =
                   number(text.substr(dots + 2, step_at == std::string::npos ? step_at : step_at - dots - 2));
  const double step = step_at == std::string::npos ? 2 : number(text.substr(step_at + 1));
  const bool adds = step_at != std::string::npos && text[step_at] == '+';
  if (!adds && step <= 1) throw InputError("a factor of a sweep is greater than 1");
  for (double v = low; v <= high * (1 + 1e-9); v = adds ? v + step : v * step) values.push_back(v);
  return values;
}

}  // namespace moe
