#include "fit/write_profile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {
namespace {

constexpr std::size_t kWidth = 118;

std::string number(double v) { return fmt::format("{:.6g}", v); }

/// A text as YAML needs it: quoted where a flow map would misread it.
std::string text(const std::string& s) {
  if (s.find_first_of(",:{}[]#\"'") == std::string::npos) return s;
  std::string quoted = "\"";
  for (const char c : s) quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + "\"";
}

std::string list(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& i : items) out += (out.size() > 1 ? ", " : "") + i;
  return out + "]";
}

/// One entry of a list of paths: `- {key: value, ...}`, broken between items.
class Entry {
 public:
  Entry& add(const std::string& key, const std::string& value) {
    items_.push_back(key + ": " + value);
    return *this;
  }
  Entry& add(const std::string& key, double value) { return add(key, number(value)); }
  std::string str() const {
    std::string out, line = "  - {";
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const std::string item = items_[i] + (i + 1 < items_.size() ? "," : "}");
      if (line.size() + item.size() + 1 > kWidth) {
        out += line + "\n";
        line = "     " + item;
      } else {
        line += (line.ends_with("{") ? "" : " ") + item;
      }
    }
    return out + line + "\n";
  }

 private:
  std::vector<std::string> items_;
};

const char* name_of(ComputeType c) {
  return c == ComputeType::bf16 ? "bf16" : c == ComputeType::fp8 ? "fp8" : "fp4";
}

void add_quality(Entry& e, const FitQuality& q) {
  const auto pair = [](double a, double b) { return "[" + number(a) + ", " + number(b) + "]"; };
  e.add(q.assumed ? "assumed_err_pct" : "heldout_err_pct", pair(q.median_pct, q.p90_pct));
  if (q.cold_p90_pct > 0) e.add("heldout_cold_err_pct", pair(q.cold_median_pct, q.cold_p90_pct));
  std::vector<std::string> items;
  for (const auto& [up_to, sigma] : q.spread)
    items.push_back(fmt::format("{{up_to: {}, sigma: {}}}", number(up_to), number(sigma)));
  if (!items.empty()) e.add("spread", list(items));
  items.clear();
  for (const auto& [size, ends] : q.range)
    items.push_back(fmt::format("{}: {}", size, pair(ends.first, ends.second)));
  if (!items.empty()) {
    const std::string inside = list(items);
    e.add("range", "{" + inside.substr(1, inside.size() - 2) + "}");
  }
  if (!q.source.empty()) e.add("source", text(q.source));
}

std::string entry(const std::string& name, const DenseGemmPath& p) {
  Entry e;
  e.add("path", name).add("bytes_per_weight", p.bytes_per_weight).add("compute", name_of(p.compute));
  e.add("includes", list(p.includes)).add("t0_us", p.t0_us).add("cq_us_per_Melem", p.cq_us_per_Melem);
  e.add("dram_eff", p.dram_eff).add("l2_tbps", p.l2_tbps).add("eps_us", p.eps_us).add("p", p.p);
  e.add("wave_quant", p.wave_quant).add("split_k_max", p.split_k_max).add("split_k_min_k", p.split_k_min_k);
  if (p.split_us > 0) e.add("split_us", p.split_us);
  std::vector<std::string> regimes;
  for (const GemmRegime& r : p.regimes)
    regimes.push_back(
        fmt::format("{{m_max: {}, bm: {}, bn: {}, tau_ns: {}}}", r.m_max, r.bm, r.bn, number(r.tau_ns)));
  std::string all = list(regimes);
  for (std::size_t at = 0, n = 1; (at = all.find("}, {", at)) != std::string::npos; at += 4, ++n)
    if (n % 2 == 0) all.replace(at, 4, "},\n       {");
  e.add("regimes", all);
  add_quality(e, p.quality);
  return e.str();
}

std::string entry(const std::string& name, const MoePath& p) {
  Entry e;
  std::vector<std::string> rule{p.tile.kind};
  for (const double v : p.tile.values) rule.push_back(number(v));
  e.add("path", name)
      .add("bytes_per_weight", p.bytes_per_weight)
      .add("bytes_per_activation", p.bytes_per_activation);
  e.add("compute", name_of(p.compute))
      .add("tile_rule", list(rule))
      .add("bn", list({number(p.bn1), number(p.bn2)}));
  if (p.blocks_per_sm > 0) e.add("blocks_per_sm", p.blocks_per_sm);
  if (p.row_piece > 0) e.add("row_piece", p.row_piece);
  if (p.table_rows_clamped) e.add("table_rows_clamped", "true");
  e.add("includes", list(p.includes)).add("t0_us", p.t0_us).add("ck_us", p.ck_us).add("ctok_us", p.ctok_us);
  e.add("cE_us", p.cE_us)
      .add("cA_us", p.cA_us)
      .add("crow_us_per_MB", p.crow_us_per_MB)
      .add("dram_eff", p.dram_eff);
  e.add("l2_tbps", p.l2_tbps).add("tau0_ns", p.tau0_ns).add("tau1_ns_per_row", p.tau1_ns_per_row);
  e.add("eps_us", p.eps_us).add("p", p.p).add("wave_quant", p.wave_quant);
  add_quality(e, p.quality);
  return e.str();
}

void add_attention(Entry& e, const AttentionPath& p) {
  if (!p.split_rule.empty()) e.add("split_rule", p.split_rule);
  e.add("head_tile", p.head_tile).add("max_splits", p.max_splits).add("min_chunk", p.min_chunk);
  e.add("ctas_per_sm", p.ctas_per_sm).add("t0_us", p.t0_us).add("cq_us_per_MB", p.cq_us_per_MB);
  if (p.batch_us > 0) e.add("batch_us", p.batch_us);
  e.add("reduce_us", p.reduce_us).add("dram_eff", p.dram_eff).add("l2_tbps", p.l2_tbps);
  e.add("tau_us_per_token", p.tau_us_per_token);
  if (p.split_us > 0) e.add("split_us", p.split_us);
  e.add("eps_us", p.eps_us).add("p", p.p).add("wave_quant", p.wave_quant);
}

std::string entry(const std::string& name, const AttentionPath& p) {
  Entry e;
  e.add("path", name).add("includes", list(p.includes));
  add_attention(e, p);
  add_quality(e, p.quality);
  return e.str();
}

std::string entry(const std::string& name, const MlaModulePath& p) {
  Entry e;
  e.add("path", name).add("compute", name_of(p.compute)).add("includes", list(p.includes));
  add_attention(e, p);
  e.add("weight_bytes_shared", p.weight_bytes_shared).add("weight_bytes_per_head", p.weight_bytes_per_head);
  e.add("weights_shared", p.weights_shared).add("weights_per_head", p.weights_per_head);
  e.add("weight_eff", p.weight_eff).add("c_us_per_GFLOP", p.c_us_per_GFLOP);
  add_quality(e, p.quality);
  return e.str();
}

std::string entry(const std::string& name, const ElementwisePath& p) {
  Entry e;
  e.add("path", name).add("includes", list(p.includes)).add("t0_us", p.t0_us).add("dram_eff", p.dram_eff);
  e.add("l2_tbps", p.l2_tbps).add("p", p.p);
  if (p.c_us > 0) e.add("c_us", p.c_us);
  if (!p.x_unit.empty()) e.add("x_unit", text(p.x_unit));
  e.add("bytes_of", text(p.bytes_of));
  add_quality(e, p.quality);
  return e.str();
}

template <class Path>
void write_section(std::string& out, const char* section, const char* comment,
                   const std::map<std::string, Path>& paths) {
  if (paths.empty()) return;
  out += fmt::format("\n# {}\n{}:\n", comment, section);
  for (const auto& [name, path] : paths) out += entry(name, path);
}

template <class Path>
void write_tables(std::string& out, const char* section, const std::map<std::string, Path>& paths) {
  for (const auto& [name, path] : paths) {
    const ResidualTable& t = path.residuals;
    if (t.empty()) continue;
    std::vector<std::string> axes, weights;
    for (const std::string& a : t.axes) axes.push_back(text(a));
    for (const double w : t.weights) weights.push_back(number(w));
    out += fmt::format(
        "  - section: {}\n    path: {}\n    axes: {}\n    weights: {}\n    neighbours: {}\n    reach: {}\n",
        section, text(name), list(axes), list(weights), t.neighbours, number(t.reach));
    out += "    points: >-\n";
    std::string line = "     ";
    for (std::size_t i = 0; i < t.value.size(); ++i) {
      std::string point;
      for (std::size_t a = 0; a < t.weights.size(); ++a) point += " " + number(t.where[i][a]);
      point += " " + number(std::round(1000 * t.value[i])) + ";";
      if (line.size() + point.size() > kWidth) {
        out += line + "\n";
        line = "     ";
      }
      line += point;
    }
    out += line + "\n";
  }
}

const char* comment_of(const std::string& section) {
  if (section == "dense_gemm") return "y[m,n] = x[m,k] w[k,n]; charged cold, with what `includes` names.";
  if (section == "moe") return "Routed experts of one layer: both grouped GEMMs and what `includes` names.";
  if (section == "attention_decode") return "Decode attention cores: projections, RoPE and the KV write are other ops.";
  if (section == "mla_module") return "Whole MLA blocks: to hold the parts against, charged nowhere.";
  return "t = t0 + smax(c x, bytes / rate; p).";
}

}  // namespace

std::string write_profile(const Profile& p, const std::string& comm) {
  std::string out = fmt::format(
      "# What kernels cost on one GPU. Written by `moe-sim fit`: do not edit, change its inputs "
      "(docs/fitting.md).\n"
      "# Equations and units: sim/cost/compute.hpp. heldout_err_pct: [median, p90] of |predicted/measured - "
      "1| in percent\n"
      "# on shapes that were not fitted, heldout_cold_err_pct: those whose data came from DRAM; "
      "assumed_err_pct: an estimate.\n"
      "schema: 1\ngpu: {}\nprovenance:\n",
      p.gpu.name);
  for (const std::string& line : p.provenance) out += "  - " + text(line) + "\n";
  out += "inputs:\n";
  for (const ProfileInput& i : p.inputs)
    out += fmt::format("  - {{file: {}, hash: \"{}\", rows: {}}}\n", i.file, i.hash, i.rows);
  std::string tables;
  for_sections(p, [&](const char* section, const auto& paths) {
    write_section(out, section, comment_of(section), paths);
    write_tables(tables, section, paths);
  });
  if (!tables.empty())
    out +=
        "\n# What the equations miss, smoothly: axes and 1000 ln(measured/model) per point.\nresiduals:\n" +
        tables;
  if (!comm.empty()) out += "\n" + comm;
  return out;
}

std::string comm_text(const std::string& profile_file) {
  std::ifstream in(profile_file);
  if (!in) throw InputError(fmt::format("cannot read `{}`", profile_file));
  std::string comments, section;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const bool top = !line.empty() && line[0] != ' ' && line[0] != '#';
    if (top) inside = line.starts_with("comm:");
    if (inside) section += (section.empty() ? comments : "") + line + "\n";
    comments = line.starts_with("#") ? comments + line + "\n" : "";
  }
  return section;
}

}  // namespace moe
