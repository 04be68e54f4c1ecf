#include "fit/fit_profile.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "fit/errors.hpp"
#include "fit/path_fits.hpp"
#include "fit/residual_fit.hpp"

namespace moe {
namespace {

std::vector<std::string> parts_of(const PathData& d) {
  if (!d.protocol->parts.empty()) return d.protocol->parts;
  if (d.op == Op::moe)
    return d.format.quantises
               ? std::vector<std::string>{"topk", "permute", "quantise", "activation", "finalise", "gap"}
               : std::vector<std::string>{"topk", "permute", "activation", "finalise", "gap"};
  if ((d.op == Op::gemm || d.op == Op::bmm) && d.format.quantises) return {"quantise", "gap"};
  return {"gap"};
}

void widen(FitQuality& q, const char* size, double value) {
  const auto [at, first] = q.range.emplace(size, std::pair{value, value});
  if (first) return;
  at->second.first = std::min(at->second.first, value);
  at->second.second = std::max(at->second.second, value);
}

void widen_all(FitQuality& q, const PathData& d, const Sample& s) {
  if (d.section == "dense_gemm") {
    widen(q, "m", s.a), widen(q, "n", s.b), widen(q, "k", s.c);
  } else if (d.section == "moe") {
    widen(q, "tokens", s.moe.tokens), widen(q, "hidden", s.moe.hidden),
        widen(q, "intermediate", s.moe.intermediate);
    widen(q, "topk", s.moe.topk), widen(q, "experts", s.moe.experts),
        widen(q, "local_experts", s.moe.local_experts);
  } else if (d.section == "attention_decode" || d.section == "mla_module") {
    const AttentionShape& t = s.attention;
    widen(q, "sequences", t.sequences), widen(q, "context", t.context), widen(q, "heads", t.heads);
    if (d.op == Op::gqa) widen(q, "group", t.heads / t.kv_heads), widen(q, "head_dim", t.head_dim);
  } else {
    if (s.a > 0) widen(q, "x", rounded(s.a));
    widen(q, "bytes", s.b);
  }
}

/// A path with so few shapes that the hash holds none of them out: an estimate.
void judge_by_fit_rows(FitQuality& q, const std::vector<double>& errors) {
  const Spread s = spread_of_errors(errors);
  q.median_pct = rounded(2 * s.median);
  q.p90_pct = std::max(1.0, rounded(2 * s.p90));
  q.assumed = true;
  q.source = "no shape of this path is held out; twice the errors of its fit rows";
}

/// Errors on rows that were not fitted; spread by bucket from cold rows where there are enough.
template <class Path>
void judge(const GpuSpec& gpu, const PathData& d, Path& path, const std::vector<Sample>& samples) {
  constexpr std::size_t kEnough = 25;
  const double kUpTo[] = {1, 16, 128, 512, 1e6};
  std::vector<double> all, cold, fitted;
  std::vector<std::vector<double>> by_bucket(bucket_names().size()), cold_by_bucket(bucket_names().size());
  for (const Sample& s : samples) {
    const double error = 100 * std::abs(cost_of(gpu, path, s).time_us / s.us - 1);
    if (!s.held_out) {
      widen_all(path.quality, d, s);
      fitted.push_back(error);
      continue;
    }
    all.push_back(error);
    by_bucket[bucket_of(s.rows)].push_back(error);
    if (!s.cold) continue;
    cold.push_back(error);
    cold_by_bucket[bucket_of(s.rows)].push_back(error);
  }
  if (all.empty()) return judge_by_fit_rows(path.quality, fitted);
  const auto tenth = [](double v) { return std::round(10 * v) / 10; };
  const Spread a = spread_of_errors(all), c = spread_of_errors(cold);
  path.quality.median_pct = tenth(a.median);
  path.quality.p90_pct = tenth(a.p90);
  if (cold.size() >= kEnough) {
    path.quality.cold_median_pct = tenth(c.median);
    path.quality.cold_p90_pct = tenth(c.p90);
  }
  for (std::size_t b = 0; b < by_bucket.size(); ++b) {
    const auto& used = cold_by_bucket[b].size() >= kEnough ? cold_by_bucket[b] : by_bucket[b];
    if (used.size() >= kEnough)
      path.quality.spread.emplace_back(kUpTo[b], rounded(spread_of_errors(used).p90 / 164.5));
  }
}

/// Grouped GEMMs whose blocks are known jump where the tile changes, which is no axis of a table: it would carry the
/// correction of one tile over to another.
template <class Path>
bool takes_table(const Path&) {
  return true;
}
template <>
bool takes_table(const MoePath& path) {
  return path.blocks_per_sm == 0;
}

/// Equation, then table. `budget`: points of the table.
template <class Path>
Path fit_one(const GpuSpec& gpu, const PathData& d, const std::vector<Sample>& samples,
             const FitOptions& options, std::size_t budget, Path (*fit)(const GpuSpec&, const PathData&, const Rows&)) {
  Rows rows;
  for (const Sample& s : samples)
    if (!s.held_out) rows.push_back(&s);
  if (options.points > 0) rows = pick(rows, options.points);
  Path path = fit(gpu, d, rows);
  path.includes = parts_of(d);
  if (!options.residuals || !takes_table(path)) return path;
  Rows possible;
  std::vector<double> ln_residual;
  for (const Sample* s : rows) {
    const KernelCost cost = cost_of(gpu, path, *s);
    if (cost.dram_bytes / gpu.dram_Bps * 1e6 > s->us)
      continue;  // faster than DRAM: the footprint was judged wrongly
    possible.push_back(s);
    ln_residual.push_back(std::log(s->us / cost.time_us));
  }
  path.residuals =
      fit_residuals(gpu, d.section, possible, ln_residual, std::min(budget, possible.size() / 2));
  return path;
}

auto fit_function(const std::map<std::string, DenseGemmPath>&) { return fit_dense_gemm; }
auto fit_function(const std::map<std::string, MoePath>&) { return fit_moe; }
auto fit_function(const std::map<std::string, AttentionPath>&) { return fit_attention; }
auto fit_function(const std::map<std::string, MlaModulePath>&) { return fit_mla_module; }
auto fit_function(const std::map<std::string, ElementwisePath>&) { return fit_elementwise; }

struct Work {
  const Measurements& m;
  const Protocol& protocol;
  const GpuSpec& gpu;
  const FitOptions& options;
  std::vector<PathData> paths;
  Profile profile;
  std::mutex lock;
  std::size_t done = 0;
  std::exception_ptr problem;

  std::vector<Sample> samples(const PathData& d) const {
    return samples_of(m, d, protocol, gpu, options.leave_out);
  }

  /// Rows of the files that are this path's, scored or not.
  double measured_rows(const PathData& d) const {
    double rows = 0;
    for (const std::uint32_t series : d.series)
      for (const Point& p : m.series[series].points)
        if (&protocol.of(m.series[series], p) == d.protocol) ++rows;
    return rows;
  }

  void fit(const PathData& d) {
    const auto budget = static_cast<std::size_t>(options.table_share * measured_rows(d));
    const std::vector<Sample> rows = samples(d);
    const bool fits_some = std::any_of(rows.begin(), rows.end(), [](const Sample& r) { return !r.held_out; });
    if (!fits_some) return;  // no row of the path is scored, or all of them are held out: no path
    in_section(profile, d.section, [&](auto& paths_here) {
      keep(paths_here, d, fit_one(gpu, d, rows, options, budget, fit_function(paths_here)));
    });
  }
  void judge_path(const PathData& d) {
    in_section(profile, d.section, [&](auto& paths_here) {
      const auto found = paths_here.find(d.name);
      if (found != paths_here.end()) judge(gpu, d, found->second, samples(d));
    });
  }
  /// Every path once, on all threads; the first problem is thrown after the last thread has ended.
  void for_paths(void (Work::*step)(const PathData&)) {
    std::atomic<std::size_t> next{0};
    const auto worker = [&] {
      for (std::size_t i; (i = next++) < paths.size();) {
        try {
          (this->*step)(paths[i]);
        } catch (...) {
          const std::lock_guard guard(lock);
          if (!problem) problem = std::current_exception();
        }
      }
    };
    std::vector<std::thread> threads;
    for (int t = 1; t < options.threads; ++t) threads.emplace_back(worker);
    worker();
    for (std::thread& t : threads) t.join();
    if (problem) std::rethrow_exception(problem);
  }
  template <class Path>
  void keep(std::map<std::string, Path>& into, const PathData& d, Path path) {
    const std::lock_guard guard(lock);
    into[d.name] = std::move(path);
    ++done;
    if (options.progress) options.progress(done, paths.size(), d.name);
  }
};

}  // namespace

std::size_t table_points(const Profile& p) {
  std::size_t total = 0;
  for_sections(p, [&](const char*, const auto& paths) {
    for (const auto& [name, path] : paths) total += path.residuals.value.size();
  });
  return total;
}

Profile fit_profile(const Measurements& m, const Protocol& protocol, const GpuSpec& gpu,
                    const FitOptions& options) {
  Work work{m, protocol, gpu, options, paths_of(m, protocol), {}, {}, 0, {}};
  work.for_paths(&Work::fit);
  work.for_paths(&Work::judge_path);
  work.profile.gpu = gpu;
  for (const InputFile& f : m.files)
    work.profile.inputs.push_back({f.name, f.hash, static_cast<int>(f.rows)});
  return std::move(work.profile);
}

}  // namespace moe
