// Which smooth correction do the rows support? Builds the residual table of a path from its fit rows.
//
// Rows are averaged in cells (same shape, sizes that vary within a shape to the next doubling, warm or cold):
// the cell's value is the median of ln(measured/model). Points are taken where the table so far misses most,
// until the budget is spent. Whether a table helps at all, and how far its points reach, is decided on a
// third of the fit shapes that the trial table has not seen; the held-out shapes take no part.
#pragma once
#include "fit/tune.hpp"

namespace moe {

/// `ln_residual[i]` belongs to `rows[i]`. Empty table when it does not help on unseen fit shapes.
/// Tested: tests/property/residual_table.cpp.
ResidualTable fit_residuals(const GpuSpec& gpu, const std::string& section, const Rows& rows,
                            const std::vector<double>& ln_residual, std::size_t budget);

}  // namespace moe
