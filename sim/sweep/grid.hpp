// Which points does a study have? Every combination of its axes, numbered; the first axis varies slowest.
//
//   plan.tp=1,2  x  batch=1,4,16     point 4 is plan.tp=2, batch.sequences=4
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "sweep/axis.hpp"

namespace moe {

struct Grid {
  std::vector<Axis> axes;

  std::uint64_t size() const;
  Overrides point(std::uint64_t index) const;  ///< key and value of every axis key
  std::vector<std::string> keys() const;       ///< all axis keys in order
  std::string text() const;                    ///< stable description, to recognise the same study again
};

/// What is studied: an experiment, changes to all of its points, and the axes.
struct Study {
  std::string file;
  Overrides set;
  Grid grid;
  std::vector<std::pair<std::string, std::string>> files;  ///< path and hash of every file that a point may read
};

/// The study of an experiment: its `sweep:` axes, replaced key by key or completed by `--axis` arguments. Checks every
/// value of every axis by itself, and finds every named file. Throws InputError.
Study read_study(const std::string& file, const Overrides& set, const std::vector<std::string>& axes);
/// Fills study.files and checks the axes; for a grid that was made by hand.
void check_study(Study& study);

}  // namespace moe
