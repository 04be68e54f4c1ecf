// What did a real run choose? Recorded routing, read strictly from CSV.
//
//   # histogram: rows per expert                   # trace: the choices of each token, best expert first
//   layer,expert,count                             layer,token,experts
//   3,0,1182                                       3,0,17,201,5,90,311,44,8,263
//   3,1,977                                        3,1,17,90,12,5,340,201,66,2
//   *,0,1004      every layer without own rows     *,0,...
//   0,1004        the same: layer left out
//
// One header line, empty lines and lines that start with # are allowed. Layers count from 0, as in reports; dense
// layers must not appear. Every layer with experts needs rows; tokens of a trace are used cyclically, in file order,
// and every layer must list as many. Problems are Diagnostics with file and line; reading stops after 20.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/diagnostic.hpp"
#include "workload/routing.hpp"

namespace moe {

/// One layer of a record.
struct RecordedLayer {
  std::vector<double> count;           ///< rows per expert
  std::vector<std::uint32_t> choice;   ///< trace: topk experts per token, token after token
};

struct RecordedRouting {
  static constexpr int kAnyLayer = -1;
  std::map<int, RecordedLayer> layers;  ///< by model layer; kAnyLayer: layers without own rows
  int tokens = 0;                       ///< trace: per layer
  const RecordedLayer& layer(int number) const {
    const auto own = layers.find(number);
    return own != layers.end() ? own->second : layers.at(kAnyLayer);
  }
};

/// Reads a histogram or a trace (`kind`). `shapes`: by model layer, experts 0 where a layer has none; empty shapes
/// are not allowed. `text` is the content of `file`. Errors go to `out`.
RecordedRouting read_recorded(Routing::Kind kind, const std::string& file, const std::string& text,
                              const std::vector<RouterShape>& shapes, Diagnostics& out);

}  // namespace moe
