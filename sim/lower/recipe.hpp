// What does one layer run? A recipe is the list of kernels of one kind of layer; it is made once and stamped for every
// layer of that kind. Only the routed experts differ from layer to layer.
#pragma once
#include <string>
#include <vector>

#include "lower/lower.hpp"

namespace moe {

struct Item {
  enum class What { kernel, collective, routed_experts, eager_attention } what = What::kernel;
  std::string name;
  Category category = Category::small_kernels;
  KernelCost cost;                 ///< kernel
  std::string path;                ///< of the profile; "": none
  bool timed_alone = false;        ///< its time does not contain the idle gap of a graph node
  bool replicated = false;
  bool part = false;               ///< a further part of a kernel path already counted
  bool aux_stream = false;         ///< runs beside the main stream, joined by the next collective
  CollectiveOp op = CollectiveOp::all_reduce;
  double bytes = 0;                ///< collective
};
using Recipe = std::vector<Item>;

/// Costs one kernel after the other into a recipe. Rows are the padded rows of the step, sequences the real ones.
class Cook {
 public:
  Cook(const Case& c, const GpuSpec& gpu, double rows) : case_(c), gpu_(gpu), rows_(rows) {}

  /// y = x w of a weight class. `n` and `k` are this rank's sizes. Adds the quantisation of x when the path's time
  /// does not contain it.
  void dense(const char* name, TensorClass weights, double n, double k, bool replicated,
             Category category = Category::dense_gemm, double rows = 0);
  /// Row reduction (norm, top-k): `width` elements per row, read and written in 2 bytes. Skipped if `fusable` is
  /// fused by the stack.
  void reduction(const char* name, const char* fusable, double width);
  /// Elementwise kernel that reads and writes `bytes` in total.
  void elementwise(const char* name, const char* fusable, double bytes, Category category = Category::small_kernels);
  /// Any path of the profile's elementwise section: op class of the stack, unit count x, bytes.
  void other(const char* name, const char* op, const std::string& format, Category category, double x, double bytes,
             double reuse_bytes, bool replicated);
  void attention(const char* name, const char* op, const AttentionShape& shape, double longest_context,
                 bool replicated_kv);
  void all_reduce(const char* name);
  void collective(const char* name, Category category, CollectiveOp op, double bytes);
  void routed_experts();
  void eager_attention();
  /// Marks the items added since `from` as running on the second stream.
  void move_to_aux(std::size_t from);

  const Case& inputs() const { return case_; }
  const GpuSpec& gpu() const { return gpu_; }
  double rows() const { return rows_; }
  double tp() const { return case_.experiment.plan.tp; }
  Recipe take() { return std::move(recipe_); }
  std::size_t size() const { return recipe_.size(); }

 private:
  Item& add(const char* name, Category category, const KernelCost& cost, const std::string& path,
            const std::vector<std::string>& includes, bool replicated);
  const Case& case_;
  const GpuSpec& gpu_;
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
/// Everything outside the layers.
void cook_embedding(Cook& cook);
void cook_head(Cook& cook);

/// The routed experts of one layer, from one draw of the router: top-k, permute, first GEMM, second GEMM.
inline constexpr std::size_t kFirstGemm = 2;
Recipe cook_experts(const Case& c, const GpuSpec& gpu, const MoePath& path, const std::string& path_name,
                    const Mlp& mlp, const std::vector<int>& rows_per_expert, double tokens);

}  // namespace moe
