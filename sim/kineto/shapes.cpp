#include "kineto/shapes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

namespace moe {
namespace {

using Dims = std::vector<std::vector<std::int64_t>>;

std::vector<std::string> parse_words(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',')
      words.emplace_back();
    else if (c != '[' && c != ']')
      words.back() += c;
  }
  return words;
}

/// Name in the measurement files; "" for types that they do not have.
std::string format_of(const std::string& type) {
  if (type == "c10::BFloat16" || type == "BFloat16") return "bfloat16";
  if (type == "c10::Half" || type == "Half") return "half";
  if (type.find("Float8_e4m3") != std::string::npos) return "fp8";
  return {};
}

std::string file_word(std::string text) {
  for (std::size_t at = 0; (at = text.find("::", at)) != std::string::npos;) text.replace(at, 2, "_");
  return text;
}

/// "bfloat16,m,n,k" of a matrix product; "" for other operators.
std::string gemm_shape(const std::string& op, const Dims& d, const std::vector<std::string>& types) {
  const std::size_t a = op == "aten::addmm" ? 1 : 0;
  if (op != "aten::mm" && op != "aten::addmm" && op != "aten::_scaled_mm") return {};
  if (d.size() < a + 2 || d[a].size() != 2 || d[a + 1].size() != 2 || types.size() < a + 1 ||
      d[a][1] != d[a + 1][0])
    return {};
  const std::string format = format_of(types[a]);
  return format.empty() ? "" : fmt::format("{},{},{},{}", format, d[a][0], d[a + 1][1], d[a][1]);
}

/// "bfloat16,batch,context,heads,kv_heads,head_dim,0": queries [B,H,1,D], keys [B,Hkv,T,D]; T holds the new
/// token too.
std::string attention_shape(const std::string& op, const Dims& d, const std::vector<std::string>& types) {
  const bool known =
      op.find("scaled_dot_product") != std::string::npos || op.find("_cudnn_attention") != std::string::npos;
  if (!known || d.size() < 2 || d[0].size() != 4 || d[1].size() != 4 || d[0][2] != 1 || types.size() < 2)
    return {};
  const std::string format = format_of(types[1]);
  return format.empty()
             ? ""
             : fmt::format("{},{},{},{},{},{},0", format, d[0][0], d[1][2], d[0][1], d[1][1], d[0][3]);
}

struct RowsOfFile {
  std::string header;
  std::map<std::string, std::vector<double>> us;  ///< by path and shape
};

MeasuredFile finish(const std::string& name, const RowsOfFile& f) {
  MeasuredFile file{name, f.header + "\n", f.us.size()};
  for (auto [shape, us] : f.us) {
    std::sort(us.begin(), us.end());
    file.text += fmt::format("{},{:.3f}\n", shape, (us[us.size() / 2] + us[(us.size() - 1) / 2]) / 2);
  }
  return file;
}

void add_collectives(const KinetoTrace& t, const Waiting& waiting, const std::string& engine,
                     RowsOfFile& rows, Diagnostics& out) {
  static const std::map<std::string, std::string> names{{"allreduce", "all_reduce"},
                                                        {"allgather", "all_gather"},
                                                        {"_allgather_base", "all_gather"},
                                                        {"reduce_scatter", "reduce_scatter"},
                                                        {"_reduce_scatter_base", "reduce_scatter"}};
  for (const TracedCollective& c : waiting.collectives) {
    if (c.facts < 0) continue;
    const CollectiveFacts& f = t.collectives[static_cast<std::size_t>(c.facts)];
    const auto op = names.find(f.op);
    const std::string format = format_of(f.dtype);
    if (op == names.end() || format.empty() || f.ranks < 2 || f.elements <= 0) continue;
    std::vector<std::int64_t> ns;
    for (const std::size_t i : c.events) ns.push_back(t.events[i].duration_ns());
    std::sort(ns.begin(), ns.end());
    if (c.method != WaitMethod::several_ranks &&
        static_cast<double>(ns[ns.size() / 2]) > 1.5e3 * c.transfer_us) {
      out.warning(
          fmt::format(
              "{} of {} elements: no row; its calls differ by waiting, and one rank does not tell how much",
              op->second, f.elements),
          {t.file, 0, 0, 1}, "", "give the traces of all ranks");
      continue;
    }
    // nccl-tests count the whole gathered buffer.
    const std::int64_t bytes =
        f.elements * (format == "fp8" ? 1 : 2) * (op->second == "all_gather" ? f.ranks : 1);
    rows.us[fmt::format("{},{},{},{},{}", engine, op->second, format, f.ranks, bytes)].push_back(
        c.transfer_us);
  }
}

}  // namespace

Dims parse_dims(const std::string& text) {
  Dims dims;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') {
      if (++depth == 2) dims.emplace_back();
    } else if (text[i] == ']') {
      --depth;
    } else if (text[i] == ',' && depth == 1) {
      if (i > 0 && text[i - 1] != ']') dims.emplace_back();  // a scalar between the lists
    } else if (std::isdigit(static_cast<unsigned char>(text[i])) != 0 && depth == 2) {
      std::int64_t size = 0;  // stays 0 where the number is too large to be one
      const auto end = std::from_chars(text.data() + i, text.data() + text.size(), size).ptr;
      dims.back().push_back(size);
      i = static_cast<std::size_t>(end - text.data()) - 1;
    }
  }
  return dims;
}

std::vector<MeasuredFile> measured_rows(const KinetoTrace& t, const TraceSteps& steps,
                                        const std::vector<std::size_t>& categories, const Waiting& waiting,
                                        const std::string& engine, Diagnostics& out) {
  std::map<std::int64_t, double> us;  // by operator
  for (const TraceStep& s : steps.steps)
    for (std::size_t i = s.first; i < s.last && s.used; ++i)
      if (t.events[i].op >= 0 && !is_communication(categories[i]))
        us[t.events[i].op] += static_cast<double>(t.events[i].duration_ns()) / 1000;
  RowsOfFile gemm{"path,dtype,m,n,k,latency_us", {}}, collective{"path,op,dtype,gpus,bytes,latency_us", {}};
  RowsOfFile attention{"path,kv_dtype,batch,context,heads,kv_heads,head_dim,window,latency_us", {}};
  for (const auto& [id, time] : us) {
    const auto at = t.ops.find(id);
    if (at == t.ops.end() || at->second.dims == 0) continue;
    const std::string& op = t.names[at->second.name];
    const Dims dims = parse_dims(t.names[at->second.dims]);
    const std::vector<std::string> types = parse_words(t.names[at->second.types]);
    const std::string path = engine + "/" + file_word(op) + ",";
    if (const std::string shape = gemm_shape(op, dims, types); !shape.empty())
      gemm.us[path + shape].push_back(time);
    if (const std::string shape = attention_shape(op, dims, types); !shape.empty())
      attention.us[path + shape].push_back(time);
  }
  add_collectives(t, waiting, engine, collective, out);
  std::vector<MeasuredFile> files;
  if (!gemm.us.empty()) files.push_back(finish("gemm.csv", gemm));
  if (!attention.us.empty()) files.push_back(finish("attention_decode.csv", attention));
  if (!collective.us.empty()) files.push_back(finish("collective.csv", collective));
  return files;
}

std::string protocol_text(const std::string& source) {
  return "# Rows of a decode step: every weight is read from DRAM (copies: 0), gaps between kernels are not "
         "in the time.\n"
         "schema: 1\nsources: [\"" +
         source +
         "\"]\nformats:\n"
         "  bfloat16: {bytes_per_weight: 2, bytes_per_activation: 2, compute: bf16}\n"
         "  half: {bytes_per_weight: 2, bytes_per_activation: 2, compute: bf16}\n"
         "  fp8: {bytes_per_weight: 1, bytes_per_activation: 1, compute: fp8}\n"
         "paths:\n  - {op: gemm, rows: \"*\", copies: 0}\n  - {op: gqa, rows: \"*\", copies: 0}\n";
}

}  // namespace moe
