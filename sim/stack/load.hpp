// Reads calibration/stacks/*.yaml.
#pragma once
#include <string>

#include "config/fields.hpp"
#include "stack/stack.hpp"

namespace moe {

/// The declarations of a stack file.
void bind_stack(Fields& f, Stack& stack);
/// Turns a parsed stack file into a Stack; what is wrong goes to `out`.
Stack read_stack(const Document& doc, Diagnostics& out);
/// Reads one stack file.
Stack load_stack(const std::string& file, Diagnostics& out);

}  // namespace moe
