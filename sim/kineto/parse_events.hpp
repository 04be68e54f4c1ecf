// What events does the JSON of a trace hold? The text in, the events of trace.hpp out.
#pragma once
#include <iosfwd>
#include <string>

#include "kineto/trace.hpp"

namespace moe {

/// Adds the events to `trace`, in file order. "" when the text was read to its end, else the parser's
/// message.
std::string parse_events(std::istream& in, KinetoTrace& trace);

}  // namespace moe
