// What does a user's benchmark say about a decode step? One row of the measurement table that `moe-sim
// validate` reads.
//
//   id,model,quant,engine,...,context_tokens,concurrency,metric,value,rig,...
//   GLM51-001,GLM-5.1,NVFP4,vLLM 0.24,...,2048,8,tpot_ms,31.8,,...
//
// Cells are texts: what the file does not say stays empty, and the user may say it on the command line.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/diagnostic.hpp"

namespace moe {

/// Columns of the table, in order (docs/traces.md explains them).
const std::vector<std::string>& bench_columns();

struct BenchRow {
  std::map<std::string, std::string> cells;  ///< by column; absent: empty
  /// Fills a cell that is empty.
  void fill(const std::string& column, const std::string& value) {
    if (!value.empty() && cells[column].empty()) cells[column] = value;
  }
  /// Adds a sentence to the notes.
  void note(const std::string& sentence);
};

/// What one file gave.
struct BenchFile {
  std::string format;  ///< "vLLM benchmark result", "SGLang server log", ...
  std::vector<BenchRow> rows;
  std::map<std::string, std::string>
      facts;  ///< columns that hold for every row of the run (engine arguments)
};

struct BenchOptions {
  bool mean = false;    ///< mean TPOT instead of the median
  bool anyway = false;  ///< rows that are not a decode step's too, with quality C
};

/// Recognises the format by content and reads it. A file that holds no figure of a decode step is refused: an
/// error with the reason, and no rows.
BenchFile read_bench(const std::string& text, const std::string& file, const BenchOptions& options,
                     Diagnostics& out);

/// Header and rows; cells with commas or quotes are quoted (RFC 4180).
std::string bench_csv(const std::vector<BenchRow>& rows);

/// Number as a cell: up to six significant digits, no exponent.
std::string cell(double value);

}  // namespace moe
