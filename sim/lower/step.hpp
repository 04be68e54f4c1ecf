// One decode step of a plan while it is written down: passes of micro-batches through stages and layers.
#pragma once
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "lower/experts.hpp"
#include "lower/writer.hpp"

namespace moe {

/// What a pass over the layers is for.
struct StepShape {
  double queries = 1;      ///< query tokens per sequence: 1, or drafts + 1 in a verify step
  double head_tokens = 1;  ///< per sequence: positions that go through the output head
  int seed = 0;            ///< sets its routing apart from other passes
};

class Drafter;

class Step {
 public:
  Step(const Case& c, const LowerOptions& options);
  /// A further pass on the ranks of `writer`, of another model or over other tokens.
  Step(const Case& c, const LowerOptions& options, Writer& writer, const Layout& layout, const StepShape& shape);
  ~Step();
  Lowered lower();

  /// One draft pass on a stage: embedding, projection of the target's states, all layers, output head.
  void draft_pass(int stage, int micro, bool fuses, bool projects, bool captured);

 private:
  void pass(int micro);
  void stage(int stage, int micro);
  void layer(int stage, int micro, int i);
  /// Writes recipes of all groups side by side, so that they meet in their collectives.
  void write(int stage, int micro, const std::vector<const Recipe*>& by_group, int layer);
  void write_item(int stage, int micro, const std::vector<const Recipe*>& by_group, std::size_t k, int layer);
  void collective(int stage, int micro, const std::vector<const Recipe*>& by_group, std::size_t k, int layer);
  void routed(int stage, int micro, int layer);
  void routed_in_group(int micro, const std::vector<int>& ranks, Experts& e, int layer);
  void play_experts(int rank, int micro, const Recipe& stages, int layer, const std::vector<int>& rows, double tokens_here);
  /// The groups of a collective on one stage: GPUs in ring order and ranks that are played.
  struct Meeting {
    std::vector<std::vector<int>> gpus, played;
    std::vector<std::size_t> group;  ///< data-parallel group whose recipe is meant
  };
  const Meeting& meeting(Scope scope, int stage);
  void routed_across(int micro, const std::vector<int>& ranks, int layer);
  void exchange_tokens(int stage, int micro, bool back, int layer);
  void launch(int stage, int micro, const char* name, double us, int layer);
  template <class Body>
  std::vector<const Recipe*> recipes(int micro, std::tuple<int, int, int> key, Body body);
  Experts& experts(int micro, int group);
  std::vector<std::string> warnings() const;
  bool eager() const;
  const Batch& batch(int micro, int group) const { return batches_[static_cast<std::size_t>(micro * layout_.dp + group)]; }
  double rows_of(int micro) const { return rows_[static_cast<std::size_t>(micro)]; }
  void prepare_batches();
  PassShape pass_shape(int micro) const { return {rows_of(micro), shape_.queries, shape_.head_tokens}; }
  int groups_played() const { return writer_.folded() ? 1 : layout_.dp; }

  const Case& case_;
  Layout layout_;
  GpuSpec gpu_;
  std::vector<Batch> batches_;       ///< by micro-batch and group; an idle group runs one dummy sequence
  std::vector<int> rows_;            ///< by micro-batch: padded rows of every group
  std::vector<int> real_;            ///< by micro-batch and group: real sequences
  bool beyond_capture_ = false;
  bool uncaptured_ = false;          ///< a draft that is launched kernel by kernel
  StepShape shape_;
  std::unique_ptr<Writer> own_writer_;
  Writer& writer_;
  std::unique_ptr<Drafter> drafter_;
  int step_;
  int mlp_ = 0;                      ///< MoE block of the layer at hand
  RankLoads travelling_;             ///< routing of the layer at hand, drawn when tokens are dispatched
  double active_ = 0;
  int moe_layers_ = 0;
  std::map<std::tuple<int, int, int, int, int>, Recipe> recipes_;
  std::map<std::tuple<int, int, int>, Experts> experts_;
  std::map<std::pair<Scope, int>, Meeting> meetings_;
};

}  // namespace moe
