// Reads `speculation:` and the files it names.
#pragma once
#include <functional>

#include "experiment/experiment.hpp"

namespace moe {

/// The declarations of `speculation:`.
void bind_speculation(Fields& f, Speculation& s);
/// The declarations of a file in models/drafts: a model of few layers, and how it hangs on its target.
void bind_draft(Fields& f, Draft& draft);
/// The declarations of a file in calibration/acceptance.
void bind_acceptance_entry(Fields& f, Acceptance& a);

/// Reads draft, acceptance trace and library entry into the case. `place` gives the place of a key for messages.
void load_speculation(Case& c, const std::function<Place(const std::string&)>& place, Diagnostics& out);

}  // namespace moe
