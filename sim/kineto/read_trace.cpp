#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <istream>
#include <map>

#include "kineto/json_stream.hpp"
#include "kineto/parse_events.hpp"

namespace moe {
namespace {

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
  std::istream in(&text);
  const std::string problem = parse_events(in, trace);
  if (!problem.empty() || !text.damage().empty()) {
    explain(problem, text, file, out);
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
