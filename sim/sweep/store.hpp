// Where are the answers of a study kept? In one SQLite file that any tool opens:
//
//   $ sqlite3 out.db 'select "plan.tp", "batch.sequences", step_ms from points where status = "ok"'
//
// Rows are written in batches, each one transaction of a write-ahead log: a process that is killed loses at most the
// batch it was writing, and the file always opens. Only store.cpp sees SQLite.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sweep/point.hpp"

namespace moe {

struct Progress {
  std::uint64_t total = 0, done = 0, infeasible = 0, failed = 0;
};

class Store {
 public:
  /// Opens or creates the file; "" is a temporary database that disappears. Throws InputError.
  explicit Store(const std::string& path);
  ~Store();
  Store(Store&&) noexcept;

  /// True when the file already holds a study.
  bool has_study() const;
  /// Writes the study's description into a fresh file.
  void begin(const Study& study);
  /// Throws InputError that names the difference unless the file holds exactly this study.
  void expect_same(const Study& study) const;
  std::vector<std::string> axis_keys() const;
  std::string meta(const std::string& key) const;
  std::uint64_t total() const;

  /// True for every point that has a row.
  std::vector<bool> done() const;
  Progress progress() const;
  /// One transaction. A point that is there already keeps its row.
  void add(const std::vector<Row>& rows);
  /// Every row by index.
  void each(const std::function<void(const Row&)>& use) const;
  /// Rows of another file of the same study; throws InputError when a point has two different answers.
  std::uint64_t merge(const Store& other);
  /// Leaves one file without a log beside it.
  void close();

 private:
  struct Database;
  std::unique_ptr<Database> db_;
};

}  // namespace moe
