// What was measured? Reads a folder of CSV files, one per op class, strictly: every mistake with file and
// line.
//
//   gemm.csv:  path,dtype,m,n,k,latency_us
//              sglang-0.5.14/sglang_torch_linear,bfloat16,8,4096,7168,41.2
//   gives one Series{op: gemm, path: "sglang-0.5.14/sglang_torch_linear", tags: {"bfloat16"}} with the point
//   {size: {8, 4096, 7168}, us: 41.2, line: 2}. Columns and units: docs/measurements.md.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {

enum class Op { gemm, moe, gqa, mla, mla_module, bmm, cast, linear, dsa, small };

/// One kind of file: its columns are `path`, the tags, the sizes and `latency_us`, in any order.
struct OpClass {
  Op op;
  const char* name;  ///< as commands and protocol files write it
  const char* file;
  std::vector<std::string> tags;   ///< text columns that tell series apart
  std::vector<std::string> sizes;  ///< number columns
};
const std::vector<OpClass>& op_classes();
const OpClass& op_class(Op op);

struct Point {
  std::array<double, 8>
      size{};  ///< in the order of OpClass::sizes; distribution: 0 balanced, a for power_law_a
  double us = 0;
  int line = 0;
};

/// The points of one kernel path in one number format.
struct Series {
  Op op = Op::gemm;
  std::string path;
  std::vector<std::string> tags;
  std::vector<Point> points;
};

struct InputFile {
  std::string name;  ///< without folder
  std::string hash;  ///< FNV-1a 64 of the bytes
  std::size_t rows = 0;
};

struct Measurements {
  std::string folder;
  std::vector<Series> series;  ///< sorted by op, path, tags
  std::vector<InputFile> files;
};

/// Reads every known file that the folder has; `only` (op names, empty: all) leaves the others out. Files of
/// other tools are not touched. Throws InputError when there is no known file or a row is wrong.
Measurements read_measurements(const std::string& folder, const std::vector<std::string>& only = {});

/// `hidden=7168,experts=384`: which points? All named columns must have the given value; unknown names throw.
struct Where {
  std::vector<std::pair<std::string, double>> equal;
  bool matches(Op op, const Point& p) const;
  /// Does the op have all the columns?
  bool applies(Op op) const;
};
Where parse_where(const std::string& text);

}  // namespace moe
