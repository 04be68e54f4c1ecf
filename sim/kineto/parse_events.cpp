// The reader of trace.hpp: a SAX handler, so that a trace of many gigabytes needs memory for its kernels
// only.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>

#include "kineto/parse_events.hpp"

namespace moe {
namespace {

/// Microseconds as written -> nanoseconds, without the rounding of a double (time since 1970 needs 61 bits).
std::int64_t nanoseconds(const std::string& text) {
  constexpr std::int64_t kMost = 9'000'000'000'000'000;  // us: what fits as ns
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  const auto at = static_cast<std::size_t>(end - text.data());
  if (error != std::errc{} || (at < text.size() && text[at] != '.') ||
      text.find_first_of("eE") != std::string::npos)
    return static_cast<std::int64_t>(
        std::clamp(std::strtod(text.c_str(), nullptr), -1.0 * kMost, 1.0 * kMost) * 1000);
  whole = std::clamp(whole, -kMost, kMost);
  std::int64_t rest = 0;
  for (std::size_t i = 1; i <= 3; ++i) rest = rest * 10 + (at + i < text.size() ? text[at + i] - '0' : 0);
  return whole * 1000 + (text[0] == '-' ? -rest : rest);
}

std::int64_t integer(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

/// The fields of one event, as texts by key. Only those that are asked for are kept.
struct RawEvent {
  std::string phase, category, name, start, duration;
  std::map<std::string, std::string> args;
  void clear() {
    phase.clear(), category.clear(), name.clear(), start.clear(), duration.clear();
    args.clear();
  }
  const std::string& arg(const std::string& key) const {
    static const std::string none;
    const auto at = args.find(key);
    return at == args.end() ? none : at->second;
  }
  std::int64_t id(const std::string& key) const { return arg(key).empty() ? -1 : integer(arg(key)); }
  std::int64_t operator_id() const { return std::max(id("External id"), id("external id")); }
};

bool is_wanted(const std::string& key) {
  static const std::vector<std::string> wanted{
      "External id", "external id",     "correlation",   "device",     "stream", "Input Dims",
      "Input type",  "Collective name", "In msg nelems", "Group size", "dtype",  "Process Group Name"};
  return std::find(wanted.begin(), wanted.end(), key) != wanted.end();
}

class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Reader(KinetoTrace& trace) : trace_(trace) { trace_.names.id(""); }
  std::string problem;  ///< the parser's message, "" when the text was read to its end

  bool null() override { return take("null"); }
  bool boolean(bool value) override { return take(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return take(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return take(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return take(text); }
  bool string(string_t& text) override { return take(text); }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& text) override {
    if (depth_ == event_depth_)
      key_ = text;
    else if (in_args() && depth_ == event_depth_ + 1)
      arg_ = text;
    else if (depth_ <= 3 && !in_events_)
      key_ = text;
    if (depth_ == 1) top_ = text;
    return true;
  }
  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == event_depth_) raw_.clear(), key_.clear();
    return true;
  }
  bool end_object() override {
    if (depth_ == event_depth_) finish_event();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    // {"traceEvents": [...]}, or the list alone
    if (!in_events_ && (depth_ == 0 || (depth_ == 1 && top_ == "traceEvents")))
      in_events_ = true, event_depth_ = depth_ + 2;
    ++depth_;
    if (collects()) raw_.args[arg_] += '[';
    return true;
  }
  bool end_array() override {
    if (collects()) close_list();
    --depth_;
    if (in_events_ && depth_ == event_depth_ - 2) in_events_ = false, event_depth_ = -1;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    problem = e.what();
    return false;
  }

 private:
  bool in_args() const { return event_depth_ > 0 && depth_ > event_depth_ && key_ == "args"; }
  /// Inside the list of a wanted argument: its text is put together again.
  bool collects() const { return in_args() && depth_ > event_depth_ + 1 && is_wanted(arg_); }
  void close_list() {
    std::string& text = raw_.args[arg_];
    if (text.ends_with(',')) text.pop_back();
    text += depth_ > event_depth_ + 2 ? "]," : "]";
  }
  bool take(const std::string& text) {
    if (depth_ == event_depth_) {
      if (key_ == "ph")
        raw_.phase = text;
      else if (key_ == "cat")
        raw_.category = text;
      else if (key_ == "name")
        raw_.name = text;
      else if (key_ == "ts")
        raw_.start = text;
      else if (key_ == "dur")
        raw_.duration = text;
    } else if (collects()) {
      raw_.args[arg_] += text + ",";
    } else if (in_args() && depth_ == event_depth_ + 1 && is_wanted(arg_)) {
      raw_.args[arg_] = text;
    } else if (!in_events_ && top_ == "distributedInfo" && depth_ == 2) {
      if (key_ == "rank") trace_.rank = static_cast<int>(integer(text));
      if (key_ == "world_size") trace_.world = static_cast<int>(integer(text));
    } else if (!in_events_ && top_ == "deviceProperties" && key_ == "name" && trace_.device.empty()) {
      trace_.device = text;
    }
    return true;
  }
  void finish_event();
  void finish_kernel(std::int64_t start, std::int64_t duration);

  KinetoTrace& trace_;
  RawEvent raw_;
  int depth_ = 0, event_depth_ = -1;
  bool in_events_ = false;
  std::string top_, key_, arg_;
};

void Reader::finish_event() {
  if (raw_.phase != "X" || raw_.start.empty()) return;
  // Kineto of PyTorch 1.x wrote Kernel, Memcpy, Memset, Operator and Runtime.
  std::string cat = raw_.category;
  for (char& c : cat) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::int64_t start = nanoseconds(raw_.start),
                     duration = raw_.duration.empty() ? 0 : nanoseconds(raw_.duration);
  if (cat == "kernel" || cat == "gpu_memcpy" || cat == "gpu_memset" || cat == "memcpy" || cat == "memset") {
    finish_kernel(start, duration);
  } else if (cat == "cpu_op" || cat == "operator") {
    if (const std::int64_t id = raw_.operator_id(); id >= 0)
      trace_.ops[id] = {trace_.names.id(raw_.name), trace_.names.id(raw_.arg("Input Dims")),
                        trace_.names.id(raw_.arg("Input type"))};
  } else if (cat == "user_annotation") {
    trace_.annotations.push_back({trace_.names.id(raw_.name), start, start + duration});
  } else if (cat == "cuda_runtime" || cat == "cuda_driver" || cat == "runtime") {
    if (const std::int64_t id = raw_.id("correlation"); id >= 0)
      trace_.launches[id] = {start, raw_.name.find("GraphLaunch") != std::string::npos};
  }
}

void Reader::finish_kernel(std::int64_t start, std::int64_t duration) {
  GpuEvent e;
  e.start_ns = start, e.end_ns = start + std::max<std::int64_t>(duration, 0);
  e.name = trace_.names.id(raw_.name);
  e.device = static_cast<std::int32_t>(std::max<std::int64_t>(raw_.id("device"), 0));
  e.stream = static_cast<std::int32_t>(raw_.id("stream"));
  e.op = raw_.operator_id(), e.correlation = raw_.id("correlation");
  if (!raw_.arg("Collective name").empty()) {
    const CollectiveFacts facts{raw_.arg("Collective name"), raw_.arg("dtype"),
                                raw_.arg("Process Group Name"), raw_.id("In msg nelems"),
                                static_cast<int>(raw_.id("Group size"))};
    const auto at = std::find(trace_.collectives.begin(), trace_.collectives.end(), facts);
    e.collective = static_cast<std::int32_t>(at - trace_.collectives.begin());
    if (at == trace_.collectives.end()) trace_.collectives.push_back(facts);
  }
  trace_.events.push_back(e);
}

}  // namespace

std::string parse_events(std::istream& in, KinetoTrace& trace) {
  Reader reader(trace);
  const bool whole = nlohmann::json::sax_parse(in, &reader);
  return whole ? "" : reader.problem;
}

}  // namespace moe
