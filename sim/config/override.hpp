// Change one value of a file that was read: `--set plan.tp=4`, what-ifs, sweep axes.
#pragma once
#include <string>

#include "config/document.hpp"

namespace moe {

/// Sets the dotted `key` of a map to `text`, read as YAML ("4", "[1, 2]", "true"); creates maps on the way.
/// The value's place is "--set key=text", so that a later error quotes what the user typed.
void set_value(Node& root, const std::string& key, const std::string& text, Diagnostics& out);

/// Whether a value was given by set_value and not by the file.
bool is_override(const Place& place);

}  // namespace moe
