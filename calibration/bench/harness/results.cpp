#include "harness/results.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "harness/check.hpp"

namespace moe::bench {
namespace {

std::string joined(const Key& cells, char by = ',') {
  std::string line;
  for (const std::string& c : cells) {
    if (!line.empty()) line += by;
    line += c;
  }
  return line;
}

/// Opens for appending; writes the header when the file is empty.
std::ofstream open(const std::filesystem::path& path, const std::string& header) {
  const bool empty = !std::filesystem::exists(path) || std::filesystem::file_size(path) == 0;
  std::ofstream file(path, std::ios::app);
  if (empty) file << header << '\n' << std::flush;
  if (!file) throw BenchError(fmt::format("cannot write `{}`", path.string()));
  return file;
}

/// Commas would break the file.
std::string one_cell(std::string text) {
  for (char& c : text)
    if (c == ',' || c == '\n') c = ';';
  return text;
}

}  // namespace

Results::Results(const std::string& folder, const std::string& name, const Key& columns, bool fresh) : name_(name) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(folder) / name;
  const std::string header = joined(columns) + ",latency_us";
  if (fresh) fs::remove(path);
  if (std::ifstream old(path); old) {
    std::string line;
    std::getline(old, line);
    if (!line.empty() && line != header)
      throw BenchError(fmt::format("`{}` has other columns than this version writes\n  = has:    {}\n  = writes: {}",
                                   path.string(), line, header));
    while (std::getline(old, line))
      if (const auto comma = line.rfind(','); comma != std::string::npos) known_.insert(line.substr(0, comma));
  }
  rows_ = open(path, header);
  details_ = open(fs::path(folder) / "details.csv", "file,key,latency_us,half_width_pct,replays,outliers,calls");
  skipped_ = open(fs::path(folder) / "skipped.csv", "file,key,reason");
}

bool Results::has(const Key& key) const { return known_.contains(joined(key)); }

void Results::add(const Key& key, const Timing& t) {
  rows_ << fmt::format("{},{:.4f}\n", joined(key), t.us) << std::flush;
  details_ << fmt::format("{},{},{:.4f},{:.2f},{},{},{}\n", name_, joined(key, ' '), t.us, t.half_width_pct,
                          t.replays, t.outliers, t.calls);
  known_.insert(joined(key));
  ++added_;
}

void Results::skip(const Key& key, const std::string& reason) {
  skipped_ << fmt::format("{},{},{}\n", name_, joined(key, ' '), one_cell(reason)) << std::flush;
}

}  // namespace moe::bench
