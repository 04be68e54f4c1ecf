// Written by hand: the suite is built on machines that have no JSON library.
#include "box/report_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

namespace moe::bench {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else out += c;
  }
  return out + "\"";
}

/// `open` items `close`, one per line.
template <class Items, class Text>
std::string listed(char open, char close, const Items& items, const Text& text) {
  std::string out(1, open);
  bool first = true;
  for (const auto& item : items) {
    out += first ? "\n    " : ",\n    ";
    out += text(item);
    first = false;
  }
  return out + (first ? "" : "\n  ") + close;
}

std::string section_text(const SectionSeen& s) {
  std::string reasons;
  for (const std::string& r : s.throttle) reasons += (reasons.empty() ? "" : ", ") + quoted(r);
  return fmt::format(
      "{{\"section\": {}, \"seconds\": {:.1f}, \"sm_mhz\": [{}, {}], \"most_watts\": {}, \"most_celsius\": {}, "
      "\"throttle\": [{}], \"outcome\": {}}}",
      quoted(s.name), s.seconds, s.sm_mhz_low, s.sm_mhz_high, s.watts_high, s.celsius_high, reasons,
      quoted(s.outcome.empty() ? "done" : s.outcome));
}

std::string link_text(const LinkSeen& l) {
  return fmt::format("{{\"method\": {}, \"from\": {}, \"to\": {}, \"direction\": {}, \"bytes\": {:.0f}, \"latency_us\": {:.4f}}}",
                     quoted(l.method), quoted(l.from), quoted(l.to), quoted(l.direction), l.bytes, l.us);
}

}  // namespace

std::string report_json(const Seen& seen) {
  std::string out = "{\n  \"schema\": 1,\n  \"device\": ";
  std::vector<std::pair<std::string, std::string>> device = seen.device;
  for (auto& [name, value] : device)
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
  out += listed('{', '}', device, [](const auto& d) { return quoted(d.first) + ": " + quoted(d.second); });
  out += ",\n  \"sections\": " + listed('[', ']', seen.sections, section_text);
  out += ",\n  \"files\": " + listed('{', '}', seen.files, [](const auto& f) { return fmt::format("{}: {}", quoted(f.first), f.second); });
  out += ",\n  \"skipped\": " + listed('[', ']', seen.skipped, [](const auto& s) {
           return fmt::format("{{\"file\": {}, \"reason\": {}, \"points\": {}}}", quoted(s.first.first), quoted(s.first.second), s.second);
         });
  out += ",\n  \"links\": " + listed('[', ']', seen.links, link_text);
  std::vector<std::vector<std::string>> comms = seen.communicators;
  std::erase_if(comms, [](const auto& c) { return c.size() != 4; });
  out += ",\n  \"communicators\": " + listed('[', ']', comms, [](const auto& c) {
           return fmt::format("{{\"path\": {}, \"gpus\": {}, \"channels\": {}, \"graph_GBps\": {}}}", quoted(c[0]), c[1], c[2], c[3]);
         });
  out += ",\n  \"one_shot\": " + listed('[', ']', seen.one_shot, [](const OneShotFit& f) {
           return fmt::format("{{\"gpus\": {}, \"rows\": {}, \"t0_us\": {:.4f}, \"GBps\": {:.3f}, \"worst_pct\": {:.2f}}}", f.gpus, f.rows,
                              f.t0_us, f.GBps, f.worst_pct);
         });
  return out + "\n}\n";
}

}  // namespace moe::bench
