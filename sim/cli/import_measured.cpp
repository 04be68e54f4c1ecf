// import-machine --measured DIR: what moe-calibrate wrote about the links of this machine.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <charconv>
#include <filesystem>
#include <set>

#include "cli/network.hpp"
#include "fit/csv.hpp"
#include "import/sketch.hpp"

namespace moe {
namespace {

/// Positions of the columns; all must be there.
std::vector<int> columns_of(const CsvFile& f, const std::string& file, const std::vector<std::string>& names, Diagnostics& out) {
  std::vector<int> columns;
  for (const std::string& name : names) {
    columns.push_back(f.column(name));
    if (columns.back() < 0 && !out.has_errors())
      out.error(fmt::format("the column `{}` is missing", name), {file, 1, 1, 1}, "", "this file is written by moe-calibrate");
  }
  return columns;
}

/// "host" is -1.
int end_of(const CsvFile& f, int column, Diagnostics& out) {
  const std::string_view cell = f.cell(column);
  if (cell == "host") return -1;
  int gpu = -1;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), gpu);
  if (error != std::errc{} || end != cell.data() + cell.size() || gpu < 0)
    out.error(fmt::format("`{}` is neither a GPU number nor `host`", cell), f.place(column));
  return gpu;
}

std::vector<MeasuredPair> read_pairs(const std::string& file, Diagnostics& out) {
  CsvFile f(file, out);
  std::vector<MeasuredPair> pairs;
  if (out.has_errors()) return pairs;
  const auto c = columns_of(f, file, {"method", "from", "to", "direction", "bytes", "latency_us"}, out);
  constexpr double kLargeBytes = 32 << 20;  // below, starting the copy counts
  while (!out.has_errors() && f.next()) {
    const double bytes = f.number(c[4]), us = f.number(c[5]);
    if (us <= 0 && !out.has_errors()) out.error("a time is above 0", f.place(c[5]));
    if (!f.cell(c[0]).starts_with("copy") || f.cell(c[3]) != "one" || bytes < kLargeBytes) continue;
    pairs.push_back({end_of(f, c[1], out), end_of(f, c[2], out), bytes / (us * 1e3)});
  }
  if (pairs.empty() && !out.has_errors())
    out.error("no copy of 32 MiB or more in one direction is in the file", {file, 0, 0, 1});
  return pairs;
}

std::vector<SketchCommunicator> read_communicators(const std::string& file, const std::string& transport, Diagnostics& out) {
  CsvFile f(file, out);
  std::vector<SketchCommunicator> all;
  std::set<std::string> others;
  if (out.has_errors()) return all;
  const auto c = columns_of(f, file, {"path", "gpus", "channels", "graph_GBps"}, out);
  while (!out.has_errors() && f.next()) {
    const std::string_view path = f.cell(c[0]);
    const std::string own(path.substr(path.find('/') + 1));
    others.insert(own);
    if (own != transport) continue;
    all.push_back({static_cast<int>(f.number(c[1])), static_cast<int>(f.number(c[2])), f.number(c[3])});
    const SketchCommunicator& last = all.back();
    if ((last.ranks < 2 || last.channels < 1 || last.graph_GBps <= 0) && !out.has_errors())
      out.error("a communicator has 2 GPUs or more, a channel and a bandwidth", f.place(c[1]));
  }
  if (all.empty() && !out.has_errors())
    out.error(fmt::format("the file has no transport `{}`", transport), {file, 0, 0, 1}, "",
              fmt::format("it has: {}", fmt::join(others, ", ")));
  return all;
}

}  // namespace

void add_measured(const std::string& folder, const std::string& transport, Sketch& sketch, Diagnostics& out) {
  const std::string p2p = folder + "/p2p.csv", communicators = folder + "/communicators.csv";
  const auto pairs = read_pairs(p2p, out);
  std::vector<SketchCommunicator> nccl;
  if (std::filesystem::exists(communicators) || transport != "default") nccl = read_communicators(communicators, transport, out);
  if (out.has_errors()) return;
  apply_measured(pairs, nccl, p2p, sketch, out);
  if (transport.starts_with("p2p_off")) bounce_through_host(sketch);
}

}  // namespace moe
