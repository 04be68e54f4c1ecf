#include "sweep/store.hpp"

#include <fmt/core.h>
#include <sqlite3.h>

#include <cmath>

#include "base/check.hpp"

namespace moe {
namespace {

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

/// A prepared statement. Values are bound and read by position, from 1 and from 0.
class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql) : db_(db) {
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) fail();
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int i, const std::string& v) { sqlite3_bind_text(statement_, i, v.c_str(), -1, SQLITE_TRANSIENT); }
  void bind(int i, double v) { sqlite3_bind_double(statement_, i, v); }
  void bind(int i, std::uint64_t v) { sqlite3_bind_int64(statement_, i, static_cast<sqlite3_int64>(v)); }
  void bind_null(int i) { sqlite3_bind_null(statement_, i); }
  /// True while there is a row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
    return code == SQLITE_ROW;
  }
  void reset() { sqlite3_reset(statement_); }
  std::string text(int i) const {
    const auto* t = sqlite3_column_text(statement_, i);
    return t == nullptr ? std::string() : reinterpret_cast<const char*>(t);
  }
  double number(int i) const { return sqlite3_column_double(statement_, i); }
  std::uint64_t count(int i) const { return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, i)); }

 private:
  [[noreturn]] void fail() const { throw InputError(std::string("result database: ") + sqlite3_errmsg(db_)); }
  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
};

std::string files_text(const Study& s) {
  std::string out;
  for (const auto& [path, hash] : s.files) out += path + " " + hash + "\n";
  return out;
}

std::string set_text(const Study& s) {
  std::string out;
  for (const auto& [key, value] : s.set) out += (out.empty() ? "" : " ") + key + "=" + value;
  return out;
}

}  // namespace

struct Store::Database {
  sqlite3* handle = nullptr;
  std::string path;
  std::vector<std::string> axes;  ///< axis keys, once known
  ~Database() { sqlite3_close(handle); }

  void run(const std::string& sql) {
    char* message = nullptr;
    if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message) == SQLITE_OK) return;
    const std::string text = message != nullptr ? message : "unknown error";
    sqlite3_free(message);
    throw InputError(fmt::format("result database `{}`: {}", path, text));
  }
  std::string meta(const std::string& key) const {
    Statement s(handle, "select value from study where key = ?");
    s.bind(1, key);
    return s.step() ? s.text(0) : std::string();
  }
  bool has_table() const {
    return Statement(handle, "select 1 from sqlite_master where name = 'study'").step() && !meta("axes").empty();
  }
  void read_axes() {
    axes.clear();
    const std::string all = meta("axis_keys");
    for (std::size_t from = 0; from < all.size();) {
      const std::size_t end = all.find('\n', from);
      axes.push_back(all.substr(from, end - from));
      from = end + 1;
    }
  }
};

Store::Store(const std::string& path) : db_(std::make_unique<Database>()) {
  db_->path = path;
  if (sqlite3_open(path.c_str(), &db_->handle) != SQLITE_OK)
    throw InputError(fmt::format("cannot open result database `{}`: {}", path, sqlite3_errmsg(db_->handle)));
  sqlite3_busy_timeout(db_->handle, 10000);
  if (!path.empty()) db_->run("pragma journal_mode = wal; pragma synchronous = normal");
  if (has_study()) db_->read_axes();
}

Store::~Store() = default;
Store::Store(Store&&) noexcept = default;

bool Store::has_study() const { return db_->has_table(); }
std::string Store::meta(const std::string& key) const { return db_->meta(key); }
std::vector<std::string> Store::axis_keys() const { return db_->axes; }
std::uint64_t Store::total() const { return std::stoull("0" + meta("points")); }

void Store::begin(const Study& study) {
  std::string keys, sql = "create table points (point integer primary key, status text not null, rule text, reason text";
  for (const std::string& key : study.grid.keys()) {
    keys += key + "\n";
    sql += ", " + quoted(key) + " text";
  }
  for (const std::string& m : metric_names()) sql += ", " + quoted(m) + " real";
  db_->run("begin immediate; create table study (key text primary key, value text); " + sql + ")");
  const std::pair<const char*, std::string> facts[] = {
      {"schema", "1"}, {"experiment", study.file}, {"axes", study.grid.text()}, {"axis_keys", keys},
      {"points", std::to_string(study.grid.size())}, {"set", set_text(study)}, {"files", files_text(study)}};
  for (const auto& [key, value] : facts) {
    Statement s(db_->handle, "insert into study values (?, ?)");
    s.bind(1, std::string(key));
    s.bind(2, value);
    s.step();
  }
  db_->run("commit");
  db_->read_axes();
}

void Store::expect_same(const Study& study) const {
  auto differ = [&](const char* what, const std::string& here, const std::string& there) {
    if (here != there)
      throw InputError(fmt::format("`{}` holds another study: its {} is `{}`, now it is `{}`\n  = help: name another --db, or remove the file",
                                   db_->path, what, there, here));
  };
  differ("sweep", study.grid.text(), meta("axes"));
  differ("--set", set_text(study), meta("set"));
  if (files_text(study) != meta("files"))
    throw InputError(fmt::format("an input file changed since `{}` was begun\n  = help: name another --db, or remove the file", db_->path));
}

std::vector<bool> Store::done() const {
  std::vector<bool> out(total());
  Statement s(db_->handle, "select point from points");
  while (s.step())
    if (s.count(0) < out.size()) out[s.count(0)] = true;
  return out;
}

Progress Store::progress() const {
  Progress p{total(), 0, 0, 0};
  Statement s(db_->handle, "select count(*), sum(status = 'infeasible'), sum(status = 'failed') from points");
  if (s.step()) p.done = s.count(0), p.infeasible = s.count(1), p.failed = s.count(2);
  return p;
}

void Store::add(const std::vector<Row>& rows) {
  if (rows.empty()) return;
  const std::size_t columns = 4 + db_->axes.size() + metric_names().size();
  std::string sql = "insert or ignore into points values (?";
  for (std::size_t i = 1; i < columns; ++i) sql += ",?";
  db_->run("begin immediate");
  {
    Statement s(db_->handle, sql + ")");
    for (const Row& r : rows) {
      int i = 0;
      s.bind(++i, r.index);
      s.bind(++i, std::string(name_of(r.status)));
      s.bind(++i, r.rule);
      s.bind(++i, r.reason);
      for (const std::string& v : r.axes) s.bind(++i, v);
      for (std::size_t m = 0; m < metric_names().size(); ++m) {
        if (m < r.metrics.size() && std::isfinite(r.metrics[m])) s.bind(++i, r.metrics[m]);
        else s.bind_null(++i);
      }
      s.step();
      s.reset();
    }
  }
  db_->run("commit");
}

void Store::each(const std::function<void(const Row&)>& use) const {
  Statement s(db_->handle, "select * from points order by point");
  const int axes = static_cast<int>(db_->axes.size());
  while (s.step()) {
    Row r;
    r.index = s.count(0);
    r.status = status_of(s.text(1));
    r.rule = s.text(2);
    r.reason = s.text(3);
    for (int i = 0; i < axes; ++i) r.axes.push_back(s.text(4 + i));
    if (r.status == Status::ok)
      for (std::size_t m = 0; m < metric_names().size(); ++m) r.metrics.push_back(s.number(4 + axes + static_cast<int>(m)));
    use(r);
  }
}

std::uint64_t Store::merge(const Store& other) {
  for (const char* key : {"axes", "set", "files"})
    if (meta(key) != other.meta(key))
      throw InputError(fmt::format("`{}` and `{}` hold different studies: `{}` differs", db_->path, other.db_->path, key));
  std::map<std::uint64_t, Row> mine;
  each([&](const Row& r) { mine.emplace(r.index, r); });
  std::vector<Row> fresh;
  other.each([&](const Row& r) {
    const auto found = mine.find(r.index);
    if (found == mine.end()) return fresh.push_back(r);
    if (found->second.metrics != r.metrics || found->second.reason != r.reason)
      throw InputError(fmt::format("point {} has two different answers in `{}` and `{}`", r.index, db_->path, other.db_->path));
  });
  add(fresh);
  return fresh.size();
}

void Store::close() {
  // Another process that reads the file keeps its log alive; that is no error.
  if (!db_->path.empty())
    sqlite3_exec(db_->handle, "pragma wal_checkpoint(truncate); pragma journal_mode = delete", nullptr, nullptr, nullptr);
}

}  // namespace moe
