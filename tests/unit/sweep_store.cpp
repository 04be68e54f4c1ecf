// The result file of a sweep: nothing twice, nothing lost, the same bytes out whatever the order in.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "catch.hpp"
#include "sweep/export.hpp"
#include "sweep/progress.hpp"
#include "sweep/runner.hpp"

using namespace moe;

namespace {

struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(const std::string& name) : path((std::filesystem::temp_directory_path() / name).string()) { remove(); }
  ~TemporaryFile() { remove(); }
  void remove() const {
    for (const char* tail : {"", "-wal", "-shm"}) std::filesystem::remove(path + tail);
  }
};

Study small_study() { return read_study("experiments/kimi-k2.5-int4-tp8.yaml", {}, {"plan.tp=1,3,8", "batch=1,4"}); }

std::vector<Row> rows_of(const Study& study, int threads) {
  std::vector<std::uint64_t> todo{0, 1, 2, 3, 4, 5};
  std::vector<Row> rows;
  CaseCache cache;
  run_points(study, todo, cache, [&](std::vector<Row>&& some) { std::move(some.begin(), some.end(), std::back_inserter(rows)); }, {threads, 1});
  return rows;
}

std::string csv_of(const Store& store) {
  std::ostringstream out;
  write_csv(store, out);
  write_json(store, out);
  return out.str();
}

}  // namespace

TEST_CASE("a point without an answer keeps its reason", "[unit]") {
  std::vector<Row> rows = rows_of(small_study(), 2);
  std::sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.index < b.index; });
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].rule == "memory");        // Kimi on one GPU
  CHECK(rows[2].rule == "illegal-plan");  // 64 heads over 3
  REQUIRE(rows[4].status == Status::ok);
  CHECK(rows[4].metrics.size() == metric_names().size());
}

TEST_CASE("exports do not depend on threads or on the order in which points finish", "[unit]") {
  const Study study = small_study();
  Store one(""), two("");
  one.begin(study);
  two.begin(study);
  one.add(rows_of(study, 1));
  std::vector<Row> rows = rows_of(study, 2);
  std::reverse(rows.begin(), rows.end());
  two.add(rows);
  two.add(rows);  // a point that is there keeps its row
  CHECK(csv_of(one) == csv_of(two));
  CHECK(two.progress().done == 6);
  CHECK(two.progress().infeasible == 4);
}

TEST_CASE("shards merge into what one run gives; another study is refused", "[unit]") {
  const Study study = small_study();
  const std::vector<Row> rows = rows_of(study, 1);
  const TemporaryFile a("moe-sim-test-a.db"), b("moe-sim-test-b.db");
  Store first(a.path), second(b.path), whole("");
  for (Store* s : {&first, &second, &whole}) s->begin(study);
  for (const Row& r : rows) (r.index % 2 == 0 ? first : second).add({r});
  whole.add(rows);
  CHECK(first.merge(second) == 3);
  CHECK(csv_of(first) == csv_of(whole));
  Study other = study;
  other.grid.axes[0].values.pop_back();
  CHECK_THROWS_AS(first.expect_same(other), InputError);
}

TEST_CASE("the progress line tells rate and time left", "[unit]") {
  CHECK(progress_line(50, 100, 0, 5).find("10 points/s  about 5 s left") != std::string::npos);
  CHECK(progress_line(50, 100, 40, 5).find("2 points/s  about 25 s left") != std::string::npos);
}
