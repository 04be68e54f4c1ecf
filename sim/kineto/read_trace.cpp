// The reader of trace.hpp: a SAX handler, so that a trace of many gigabytes needs memory for its kernels
// only.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>

#include "kineto/json_stream.hpp"
#include "kineto/trace.hpp"

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

/// One trace may hold several GPUs: the one that worked longest is kept.
void keep_one_device(KinetoTrace& t, Diagnostics& out) {
  std::map<std::int32_t, std::int64_t> busy;
  for (const GpuEvent& e : t.events) busy[e.device] += e.duration_ns();
  if (busy.size() > 1) {
    const auto most = std::max_element(busy.begin(), busy.end(), [](auto& a, auto& b) {
                        return a.second < b.second;
                      })->first;
    std::erase_if(t.events, [&](const GpuEvent& e) { return e.device != most; });
    out.warning(fmt::format("the trace shows {} GPUs: device {}, the busiest, is used", busy.size(), most),
                {t.file, 0, 0, 1});
  }
}

void explain(const std::string& problem, JsonStream& text, const std::string& file, Diagnostics& out) {
  int line = 0, column = 0;
  if (const std::size_t at = problem.find("at line "); at != std::string::npos)
    std::sscanf(problem.c_str() + at, "at line %d, column %d", &line, &column);
  const Place place{file, line, column, 1};
  if (!text.damage().empty())
    out.error(fmt::format("{} after {} bytes of text", text.damage(), text.position()), {file, 0, 0, 1}, "",
              "copy or record it again");
  else if (text.sgetc() == std::char_traits<char>::eof())  // the parser wanted more than there is
    out.error(
        "the trace ends in the middle: the copy is cut short, or the profiled process was stopped while it "
        "wrote",
        place);
  else
    out.error("not a JSON trace: " + problem.substr(std::min(problem.size(), problem.rfind(": ") + 2)), place,
              "", "expected the file that torch.profiler's export_chrome_trace writes");
}

}  // namespace

KinetoTrace read_kineto(const std::string& file, Diagnostics& out) {
  KinetoTrace trace;
  trace.file = file;
  JsonStream text(file);
  if (std::filesystem::is_directory(file)) {
    out.error("this is a folder", {file, 0, 0, 1}, "", "name the trace file in it");
    return trace;
  }
  if (!text.is_open() || (text.sgetc() == std::char_traits<char>::eof() && text.damage().empty())) {
    out.error(text.is_open() ? "the file is empty or cannot be read" : "cannot read the file",
              {file, 0, 0, 1});
    return trace;
  }
  Reader reader(trace);
  std::istream in(&text);
  if (!nlohmann::json::sax_parse(in, &reader) || !text.damage().empty()) {
    explain(reader.problem, text, file, out);
    return trace;
  }
  if (trace.events.empty())
    out.error("there is no GPU kernel in this trace", {file, 0, 0, 1}, "",
              "record with ProfilerActivity.CUDA");
  keep_one_device(trace, out);
  const auto by_start = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
  std::stable_sort(trace.events.begin(), trace.events.end(), by_start);
  std::stable_sort(trace.annotations.begin(), trace.annotations.end(), by_start);
  return trace;
}

}  // namespace moe
