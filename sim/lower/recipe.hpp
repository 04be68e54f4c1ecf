// What does one layer run? A recipe is the list of kernels and exchanges of one kind of layer for one data-parallel
// group; it is made once and stamped for every layer of that kind. All groups of a stage have recipes of the same
// shape, so that they meet in their collectives; only costs differ, and the routed experts differ layer by layer.
#pragma once
#include <string>
#include <vector>

#include "lower/call.hpp"
#include "lower/lower.hpp"

namespace moe {

/// Who takes part in a collective: the lanes of a group, the ranks that share a KV cache by token, the same lane of
/// every group, or all ranks of a stage.
enum class Scope { group, context, across, stage };

struct Item {
  /// fork/join: the second stream leaves and meets the main one. dispatch/combine: routed tokens travel to their
  /// experts and back (between groups).
  enum class What { kernel, collective, routed_experts, eager_attention, join_streams, dispatch, combine } what = What::kernel;
  std::string name;
  Category category = Category::small_kernels;
  KernelCost cost;                 ///< kernel
  std::string path;                ///< of the profile; "": none
  bool timed_alone = false;        ///< its time does not contain the idle gap of a graph node
  bool replicated = false;
  bool part = false;               ///< a further part of a kernel path already counted
  bool aux_stream = false;         ///< runs beside the main stream until the next join
  CollectiveOp op = CollectiveOp::all_reduce;
  Scope scope = Scope::group;
  double bytes = 0;                ///< collective
  double rows = 0;                 ///< collective: rows of the batch, for cut-offs
  CallShape call;                  ///< what a replay calls it with
  // Filled by the writer, once per item: numbers that names and paths stand for.
  mutable int label = -1, use = -1;
};
using Recipe = std::vector<Item>;

/// all_reduce, all_gather, ... of a message of `bytes`.
CallShape collective_call(CollectiveOp op, double bytes);

/// What a pass works on: padded rows, and query tokens per sequence (1, or drafts + 1 in a verify step).
struct PassShape {
  double rows = 1;
  double queries = 1;
  double head_tokens = 1;  ///< per sequence: positions that go through the output head
};

/// Costs one kernel after the other into a recipe. Rows are the padded rows of the step, the batch is the group's own.
class Cook {
 public:
  Cook(const Case& c, const GpuSpec& gpu, const Layout& layout, const Batch& batch, PassShape shape)
      : case_(c), gpu_(gpu), layout_(layout), batch_(batch), shape_(shape), rows_(shape.rows) {}

  /// y = x w of a weight class. `n` and `k` are this rank's sizes. Adds the quantisation of x when the path's time
  /// does not contain it.
  void dense(const char* name, TensorClass weights, double n, double k, bool replicated,
             Category category = Category::dense_gemm, double rows = 0);
  /// Row reduction (norm, top-k): `width` elements per row of the batch, read and written in 2 bytes, reduced `row`
  /// by `row` (0: all of them together). Skipped if `fusable` is fused by the stack; by the path that the stack names
  /// for `fusable`, or else for `reduction`.
  void reduction(const char* name, const char* fusable, double width, double row = 0);
  /// Elementwise kernel that reads and writes `bytes` in total; path as above, or else of `elementwise`.
  void elementwise(const char* name, const char* fusable, double bytes, Category category = Category::small_kernels,
                   const CallSizes& sizes = {});
  /// Any path of the profile's elementwise section: op class of the stack, unit count x, bytes.
  void other(const char* name, const char* op, const std::string& format, Category category, double x, double bytes,
             double reuse_bytes, bool replicated);
  void attention(const char* name, const char* op, const AttentionShape& shape, double longest_context,
                 bool replicated_kv);
  /// Sizes of the item that was added last, beside those that every item of its class has.
  void sized(CallSizes sizes);
  /// Left out when the scope has one rank.
  void collective(const char* name, Category category, CollectiveOp op, Scope scope, double bytes);
  void all_reduce(const char* name);
  /// An item that the step fills in: routed experts, dispatch, combine, joins, eager launches.
  void mark(Item::What what);
  /// Marks the items added since `from` as running on the second stream.
  void move_to_aux(std::size_t from);

  const Case& inputs() const { return case_; }
  const GpuSpec& gpu() const { return gpu_; }
  const Layout& layout() const { return layout_; }
  const Batch& batch() const { return batch_; }
  double rows() const { return rows_; }
  double queries() const { return shape_.queries; }
  double head_rows() const { return batch_.sequences * shape_.head_tokens; }
  double tp() const { return layout_.tp; }
  int ranks_of(Scope scope) const;
  Recipe take() { return std::move(recipe_); }
  std::size_t size() const { return recipe_.size(); }

 private:
  void add(const char* name, Category category, const KernelCost& cost, const std::string& path,
           const std::vector<std::string>& includes, bool replicated, CallShape call);
  const Case& case_;
  const GpuSpec& gpu_;
  const Layout& layout_;
  Batch batch_;
  PassShape shape_;
  double rows_;
  Recipe recipe_;
};

/// Path of an op class, checked to be named by the stack and to exist in the profile section `known`.
/// Throws InputError that says what is missing and where it would go.
template <class Paths>
const typename Paths::mapped_type& kernel_path(const Case& c, const Paths& known, const std::string& section,
                                               const std::string& op, const std::string& format, std::string& path);
[[noreturn]] void missing_kernel(const Case& c, const std::string& section, const std::string& op,
                                 const std::string& format, const std::string& path);

template <class Paths>
const typename Paths::mapped_type& kernel_path(const Case& c, const Paths& known, const std::string& section,
                                               const std::string& op, const std::string& format, std::string& path) {
  path = c.stack.path(op, format);
  const auto found = known.find(path);
  if (found == known.end()) missing_kernel(c, section, op, format, path);
  return found->second;
}

void cook_attention(Cook& cook, const Attention& attention, bool indexer);
void cook_mlp(Cook& cook, const Mlp& mlp);
void cook_residual(Cook& cook);
/// Everything outside the layers.
void cook_embedding(Cook& cook);
void cook_head(Cook& cook);
/// Output head of a draft: greedy, one pass over the logits.
void cook_draft_head(Cook& cook);
/// What joins a draft to its target: norms of embedding and hidden state, and the projection of `fused` states.
void cook_fusion(Cook& cook, int fused, bool projects);

}  // namespace moe
