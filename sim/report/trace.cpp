#include "report/trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "timeline/critical_path.hpp"

namespace moe {
namespace {

using Json = nlohmann::ordered_json;

/// A trace event with its sort key: time, then longer first.
struct Event {
  Time at, duration;
  Json json;
};

constexpr int kCriticalPid = 1, kLinksPid = 2, kFirstServerPid = 10, kFirstSenderPid = 1000;

const char* name_of(Wait w) { return w == Wait::start ? "start" : w == Wait::queue ? "queue" : "dependency"; }

std::int64_t whole_ns(Time t) { return (t.count() + 500) / 1000; }
/// Microseconds with three decimals: what the importer keeps. A division, so that the text has no further digits.
double us3(Time t) { return static_cast<double>(whole_ns(t)) / 1000; }
/// Length of a slice, so that slices which touch do so after rounding too.
double us3(Time from, Time to) { return static_cast<double>(whole_ns(to) - whole_ns(from)) / 1000; }

class TraceWriter {
 public:
  TraceWriter(const Program& p, const Resources& r, const Timeline& t) : program_(p), resources_(r), timeline_(t) {
    for (const Segment& s : critical_path(p, t)) critical_.insert(s.op);
  }

  std::vector<Event> events() {
    critical_track();
    for (std::size_t i = 0; i < program_.size(); ++i) {
      const OpId op = static_cast<OpId>(i);
      if (program_.kind[op] == Kind::compute) slice(op);
      else if (program_.kind[op] == Kind::transfer) flow(op);
    }
    link_counters();
    arrows();
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return a.at != b.at ? a.at < b.at : a.duration > b.duration;
    });
    return std::move(events_);
  }

  Json names() const {
    Json out = Json::array();
    auto sort = [&](int pid) {
      out.push_back({{"ph", "M"}, {"pid", pid}, {"tid", 0}, {"name", "process_sort_index"}, {"args", {{"sort_index", pid}}}});
    };
    auto meta = [&](int pid, int tid, const char* what, const std::string& name) {
      out.push_back({{"ph", "M"}, {"pid", pid}, {"tid", tid}, {"name", what}, {"args", {{"name", name}}}});
    };
    meta(kCriticalPid, 0, "process_name", "critical path");
    meta(kCriticalPid, 1, "thread_name", "step");
    if (!counted_.empty()) meta(kLinksPid, 0, "process_name", "links");
    std::set<int> pids;
    sort(kCriticalPid);
    if (!counted_.empty()) sort(kLinksPid);
    for (const auto& [server, seat] : seats_) {
      const std::string& full = resources_.server_names[server];
      const std::size_t blank = full.find(' ');
      if (pids.insert(seat.first).second) {
        meta(seat.first, 0, "process_name", full.substr(0, blank));
        sort(seat.first);
      }
      meta(seat.first, seat.second, "thread_name", blank == std::string::npos ? "compute" : full.substr(blank + 1));
    }
    for (const int sender : senders_) meta(kFirstSenderPid + sender, 0, "process_name", fmt::format("gpu{} sends", sender));
    return out;
  }

 private:
  void add(Time at, Time duration, Json json) { events_.push_back({at, duration, std::move(json)}); }

  /// Servers that share the first word of their name are threads of one process.
  std::pair<int, int> seat(ServerId server) {
    const auto found = seats_.find(server);
    if (found != seats_.end()) return found->second;
    const std::string& full = resources_.server_names[server];
    const std::string word = full.substr(0, full.find(' '));
    const auto process = pids_.emplace(word, kFirstServerPid + static_cast<int>(pids_.size())).first->second;
    return seats_.emplace(server, std::make_pair(process, ++threads_[process])).first->second;
  }

  void critical_track() {
    for (const Segment& s : critical_path(program_, timeline_)) {
      const bool shared = s.owner == Owner::sharing;
      Json json = {{"ph", "X"}, {"pid", kCriticalPid}, {"tid", 1}, {"ts", us3(s.from)}, {"dur", us3(s.from, s.to)},
                   {"cat", shared ? "sharing" : std::string(name_of_category(s.op))}, {"name", describe(program_, s.op)}};
      if (shared) json["args"] = {{"lost_on", resources_.link_names[s.link]}};
      add(s.from, s.to - s.from, std::move(json));
    }
  }

  std::string_view name_of_category(OpId op) const { return moe::name_of(program_.category[op]); }

  void slice(OpId op) {
    const auto [pid, tid] = seat(program_.server[op]);
    const Time start = timeline_.start[op], end = timeline_.end[op];
    Json args = {{"op", index(op)}, {"wait", name_of(timeline_.wait[op])}, {"start_ps", start.count()}, {"duration_ps", (end - start).count()},
                 {"critical", critical_.count(op) > 0}};
    if (timeline_.cause[op] != kNoOp) args["cause"] = describe(program_, timeline_.cause[op]);
    add(start, end - start, {{"ph", "X"}, {"pid", pid}, {"tid", tid}, {"ts", us3(start)}, {"dur", us3(start, end)},
                             {"cat", std::string(name_of_category(op))}, {"name", describe(program_, op)}, {"args", std::move(args)}});
  }

  void flow(OpId op) {
    const Label& label = program_.label[op];
    senders_.insert(label.source);
    const std::string id = fmt::format("op{}", index(op)), lane = fmt::format("→ gpu{}", label.target);
    const Time start = timeline_.start[op], end = timeline_.end[op];
    const Time lost = end - start - timeline_.alone[op];
    Json common = {{"pid", kFirstSenderPid + label.source}, {"id", id}, {"cat", std::string(name_of_category(op))}, {"name", lane}};
    Json begin = {{"ph", "b"}, {"ts", us3(start)}}, finish = {{"ph", "e"}, {"ts", us3(end)}};
    begin.update(common);
    finish.update(common);
    begin["args"] = {{"op", describe(program_, op)}, {"bytes", program_.bytes[op].count}, {"alone_us", to_us(timeline_.alone[op])}, {"lost_us", to_us(lost)}};
    add(start, end - start, std::move(begin));
    add(end, Time{0}, std::move(finish));
    for (const LinkId link : program_.path[op]) {
      const double rate = end > start ? program_.bytes[op].count / (to_us(end - start) * 1e3) : 0;  // GB/s, mean
      counted_[link].emplace_back(start, rate);
      counted_[link].emplace_back(end, -rate);
    }
  }

  /// Along the critical path, where it changes from one stream to another.
  void arrows() {
    int id = 0;
    for (const OpId op : critical_) {
      const OpId cause = timeline_.cause[op];
      if (cause == kNoOp || program_.kind[op] != Kind::compute || program_.kind[cause] != Kind::compute) continue;
      if (program_.server[op] == program_.server[cause]) continue;
      // The tail lies inside the slice that it leaves: a nanosecond before its end.
      const Time tail = std::max(timeline_.start[cause], timeline_.end[cause] - Time{1000}), head = timeline_.start[op];
      const auto [from, from_thread] = seat(program_.server[cause]);
      const auto [to, to_thread] = seat(program_.server[op]);
      add(tail, Time{0}, {{"ph", "s"}, {"pid", from}, {"tid", from_thread}, {"id", ++id}, {"ts", us3(tail)}, {"cat", "cause"}, {"name", "cause"}});
      add(head, Time{0}, {{"ph", "f"}, {"pid", to}, {"tid", to_thread}, {"id", id}, {"ts", us3(head)}, {"cat", "cause"}, {"name", "cause"}, {"bp", "e"}});
    }
  }

  void link_counters() {
    for (auto& [link, changes] : counted_) {
      std::stable_sort(changes.begin(), changes.end(), [](auto& a, auto& b) { return a.first < b.first; });
      double rate = 0;
      for (std::size_t i = 0; i < changes.size(); ++i) {
        rate += changes[i].second;
        if (i + 1 < changes.size() && changes[i + 1].first == changes[i].first) continue;
        add(changes[i].first, Time{0}, {{"ph", "C"}, {"pid", kLinksPid}, {"ts", us3(changes[i].first)},
                                        {"name", resources_.link_names[link]}, {"args", {{"GB/s", std::max(0.0, rate)}}}});
      }
    }
  }

  const Program& program_;
  const Resources& resources_;
  const Timeline& timeline_;
  std::vector<Event> events_;
  std::set<OpId> critical_;
  std::map<ServerId, std::pair<int, int>> seats_;
  std::map<std::string, int> pids_;
  std::map<int, int> threads_;
  std::set<int> senders_;
  std::map<LinkId, std::vector<std::pair<Time, double>>> counted_;
};

}  // namespace

void write_trace(std::ostream& out, const Program& program, const Resources& resources, const Timeline& timeline,
                 const TraceHead& head) {
  TraceWriter writer(program, resources, timeline);
  const std::vector<Event> events = writer.events();
  const Json meta = {{"tool", head.version}, {"experiment", head.experiment}, {"makespan_ps", timeline.makespan.count()}, {"inputs", head.inputs}};
  out << "{\"displayTimeUnit\":\"ns\",\n\"metadata\":" << meta.dump() << ",\n\"traceEvents\":[\n";
  const char* comma = "";
  for (const Json& m : writer.names()) {
    out << comma << m.dump();
    comma = ",\n";
  }
  for (const Event& e : events) out << comma << e.json.dump();
  out << "]}\n";
}

}  // namespace moe
