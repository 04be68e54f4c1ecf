#include "kineto/rules.hpp"

#include <algorithm>
#include <cctype>

namespace moe {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

void bind_patterns(Fields& f, const std::string& key, std::vector<std::string>& into, Need need,
                   const std::string& help) {
  f.texts(key, into, need, help);
  for (const std::string& p : into)
    if (p.find_first_not_of("*^$ ") == std::string::npos)
      f.error(key, "the pattern `" + p + "` fits every name");
}

}  // namespace

std::string_view category_name(std::size_t category) {
  return category < kCategoryNames.size() ? kCategoryNames[category] : "unclassified";
}

bool is_communication(std::size_t category) {
  const auto is = [&](Category c) { return category == static_cast<std::size_t>(c); };
  return is(Category::all_reduce) || is(Category::all_to_all) || is(Category::all_gather) ||
         is(Category::pipeline);
}

void bind_kernel_rules(Fields& f, KernelRules& r) {
  int schema = 1;
  f.integer("schema", schema, Need::required, Range::between(1, 1), "version of this file's format");
  f.texts("sources", r.sources, Need::optional, "where the names were seen, one sentence each");
  f.list("rules", Need::required, "the first rule that fits a kernel applies", [&](Fields& g, std::size_t) {
    KernelRule rule;
    int category = 0;
    g.choice("category", category, {kCategoryNames.begin(), kCategoryNames.end()}, Need::required,
             "of the breakdown");
    rule.category = static_cast<std::size_t>(category);
    bind_patterns(g, "kernels", rule.kernels, Need::required, "pieces of kernel names; one must fit");
    bind_patterns(g, "ops", rule.ops, Need::optional,
                  "pieces of the launching operator's name; one must fit");
    bind_patterns(g, "unless", rule.unless, Need::optional, "pieces of kernel names; none may fit");
    r.rules.push_back(rule);
  });
  f.section("steps", Need::optional, "how a step is found", [&](Fields& g) {
    bind_patterns(g, "annotations", r.step_annotations, Need::optional,
                  "named spans that are a step, best first");
    bind_patterns(g, "prefill", r.prefill, Need::optional,
                  "named spans that also compute prompts: not decode");
    bind_patterns(g, "training", r.training, Need::optional,
                  "operators, spans and kernels that only training has");
    g.number("lm_head_longer", r.lm_head_longer, Need::optional, Range::at_least(1),
             "the last dense GEMM of a step is the lm_head when sampling follows, or when it is this many "
             "times longer "
             "than any other");
  });
}

KernelRules load_kernel_rules(const std::string& file, Diagnostics& out) {
  KernelRules rules;
  rules.file = file;
  const Document document = load_document(file, out);
  if (!out.has_errors()) read_map(document.root, "", out, [&](Fields& f) { bind_kernel_rules(f, rules); });
  return rules;
}

bool pattern_fits(std::string_view pattern, std::string_view text) {
  const bool anchored = pattern.starts_with('^'), ends = pattern.ends_with('$');
  if (anchored) pattern.remove_prefix(1);
  if (ends) pattern.remove_suffix(1);
  // Two positions to fall back to: the last `*`, and (not anchored) the beginning, which counts as one.
  std::size_t p = 0, t = 0, star = anchored ? std::string_view::npos : 0, retry = 0;
  while (true) {
    if (p == pattern.size() && (!ends || t == text.size())) return true;
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p, retry = t;
    } else if (p < pattern.size() && t < text.size() && lower(pattern[p]) == lower(text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos && retry < text.size()) {
      p = star, t = ++retry;
    } else {
      return false;
    }
  }
}

bool any_fits(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& p) { return pattern_fits(p, text); });
}

std::size_t classify(const KernelRules& rules, std::string_view kernel, std::string_view op) {
  for (const KernelRule& r : rules.rules)
    if (any_fits(r.kernels, kernel) && (r.ops.empty() || any_fits(r.ops, op)) && !any_fits(r.unless, kernel))
      return r.category;
  return kUnclassified;
}

}  // namespace moe
