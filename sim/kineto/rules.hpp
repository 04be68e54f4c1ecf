// Which part of a step does a kernel belong to? Rules by kernel name, from calibration/mappings/kernels.yaml.
//
//   rules:
//     - {category: all_reduce, kernels: ["ncclDevKernel_AllReduce", "^cross_device_reduce_*stage"]}
//     - {category: cast, kernels: ["unrolled_elementwise_kernel*direct_copy"], unless: ["LoadWithoutCast"]}
//
// A pattern is a piece of the name; `*` stands for anything, `^` for the beginning, `$` for the end; letters
// count alike in upper and lower case. The first rule that fits applies; a kernel that none fits stays
// unclassified and is listed.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.hpp"
#include "program/program.hpp"

namespace moe {

/// The categories of a breakdown, and one more for what no rule knows.
inline constexpr std::size_t kUnclassified = kCategoryNames.size();
inline constexpr std::size_t kKernelCategories = kCategoryNames.size() + 1;
/// Name of a category, "unclassified" included.
std::string_view category_name(std::size_t category);
/// Does the kernel move data between GPUs?
bool is_communication(std::size_t category);

struct KernelRule {
  std::size_t category = kUnclassified;
  std::vector<std::string> kernels;  ///< one must fit the kernel's name
  std::vector<std::string> ops;      ///< where given, one must fit the operator that launched it
  std::vector<std::string> unless;   ///< none may fit the kernel's name
};

struct KernelRules {
  std::string file;
  std::vector<std::string> sources;
  std::vector<KernelRule> rules;
  std::vector<std::string> step_annotations;  ///< spans that are a step, best first
  std::vector<std::string> prefill;           ///< annotations of steps that also compute prompts
  std::vector<std::string> training;          ///< operators, spans and kernels that only training has
  double lm_head_longer = 2;                  ///< see the declaration in rules.cpp
};

/// Declares the keys of a rule file.
void bind_kernel_rules(Fields& f, KernelRules& rules);
/// Reads a rule file; unknown keys, unknown categories and empty patterns are errors with their place.
KernelRules load_kernel_rules(const std::string& file, Diagnostics& out);

/// True when `pattern` fits `text` (see above).
bool pattern_fits(std::string_view pattern, std::string_view text);
bool any_fits(const std::vector<std::string>& patterns, std::string_view text);
/// Category of a kernel by its name and the operator that launched it ("" when unknown).
std::size_t classify(const KernelRules& rules, std::string_view kernel, std::string_view op);

}  // namespace moe
