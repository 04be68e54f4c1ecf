#include "import/nccl_tests.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

namespace moe {
namespace {

const std::vector<std::string> kTypes{"int8",  "uint8",    "int32", "uint32",   "int64",   "uint64", "half",
                                      "float", "bfloat16", "double", "fp8_e4m3", "fp8_e5m2"};

/// all_reduce_perf -> all_reduce; "" where the line names no test.
std::string test_named(const std::string& line) {
  const std::size_t end = line.find("_perf");
  if (end == std::string::npos) return "";
  std::size_t begin = end;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(line[begin - 1])) != 0 || line[begin - 1] == '_')) --begin;
  const std::string name = line.substr(begin, end - begin);
  return name == "alltoall" ? "all_to_all" : name;
}

bool as_number(const std::string& word, double& value) {
  char* end = nullptr;
  value = std::strtod(word.c_str(), &end);
  return !word.empty() && *end == '\0';
}

/// size count type redop root time algbw busbw ...; redop is missing for tests without one.
bool read_row(const std::string& line, MeasuredCollective& row) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string w; in >> w;) words.push_back(w);
  double count = 0, algbw = 0;
  if (words.size() < 8 || !as_number(words[0], row.bytes) || !as_number(words[1], count)) return false;
  if (std::find(kTypes.begin(), kTypes.end(), words[2]) == kTypes.end()) return false;
  row.dtype = words[2];
  return as_number(words[5], row.latency_us) && as_number(words[6], algbw);
}

std::string untagged(std::string line) {
  const std::size_t tag = line.find("<stdout>:");
  if (line.starts_with("[") && tag != std::string::npos) line.erase(0, tag + 9);
  return line;
}

/// The number behind `word`, e.g. nGpus 2; 0: not there.
int number_after(const std::string& line, const std::string& word) {
  const std::size_t at = line.find(word);
  return at == std::string::npos ? 0 : std::atoi(line.c_str() + at + word.size());
}

}  // namespace

std::vector<MeasuredCollective> read_nccl_tests(const std::string& text, const std::string& file, int gpus,
                                                Diagnostics& out) {
  std::vector<MeasuredCollective> rows;
  std::string op;
  std::set<int> ranks;
  int per_process = 0, last_rank = -1, number = 0;
  std::istringstream in(text);
  for (std::string raw; std::getline(in, raw);) {
    ++number;
    const std::string line = untagged(raw);
    if (const std::string name = test_named(line); !name.empty()) op = name;
    per_process = std::max(per_process, number_after(line, "nGpus"));
    if (line.find("Rank") != std::string::npos && line.find("device") != std::string::npos) {
      last_rank = std::max(last_rank, number_after(line, "Rank"));
      ranks.insert(number_after(line, "Rank"));
    }
    MeasuredCollective row;
    if (!read_row(line, row)) continue;
    if (row.bytes <= 0 || row.latency_us <= 0) {
      if (row.bytes > 0) out.warning("a row without a time is left out", {file, number, 1, 1});
      continue;
    }
    row.op = op;
    rows.push_back(row);
  }
  if (rows.empty()) out.error("there is no row of nccl-tests in this file", {file, 0, 0, 1});
  const int found = std::max(last_rank + 1, ranks.empty() ? per_process : 0);
  if (gpus == 0 && found < 2)
    out.error("the output does not say how many ranks took part", {file, 0, 0, 1}, "", "give `--gpus N`");
  if (gpus > 0 && found > 1 && gpus != found)
    out.warning(fmt::format("the output shows {} ranks, `--gpus` says {}", found, gpus), {file, 0, 0, 1});
  for (MeasuredCollective& r : rows) {
    r.gpus = gpus > 0 ? gpus : found;
    if (r.op.empty()) r.op = "all_reduce";
  }
  if (!rows.empty() && op.empty())
    out.warning("the output does not name its test: all_reduce is assumed", {file, 0, 0, 1});
  return rows;
}

std::string collective_csv(const std::vector<MeasuredCollective>& rows, const std::string& path) {
  std::string csv = "path,op,dtype,gpus,bytes,latency_us\n";
  for (const MeasuredCollective& r : rows)
    csv += fmt::format("{},{},{},{},{:.0f},{:g}\n", path, r.op, r.dtype, r.gpus, r.bytes, r.latency_us);
  return csv;
}

}  // namespace moe
