// Which keys belong to which kind of block? One row per key; used by bind_attention and bind_mlp.
//
//   Key<Attention, int>{"kv_heads", &Attention::kv_heads, kinds(Kind::gqa), 0, 1, "key and value heads"}
//
// declares kv_heads as required in a block of kind gqa; in a block of another kind the key is an error.
#pragma once
#include <fmt/core.h>

#include <string>
#include <vector>

#include "config/fields.hpp"

namespace moe {

/// A set of kinds, one bit each.
template <class... Kind>
constexpr unsigned kinds(Kind... kind) {
  return ((1u << static_cast<unsigned>(kind)) | ... | 0u);
}

template <class Block, class Value>
struct Key {
  const char* name;
  Value Block::*into;
  unsigned required;  ///< kinds that need it
  unsigned optional;  ///< kinds that may have it
  double low;         ///< smallest allowed value of a number
  const char* help;
};

/// "gqa, dsv4" for a set of kinds; `names` holds the name of kind 1 first (kind 0 is none).
inline std::string kind_list(unsigned set, const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    if ((set >> (i + 1)) & 1u) out += (out.empty() ? "" : ", ") + names[i];
  return out;
}

/// Whether a block of this kind has the key; else the key, where written, is reported as one without effect.
/// A block whose own kind could not be read gets no further messages.
template <class Block>
bool applies(Fields& f, const Block& block, const char* name, unsigned used_by,
             const std::vector<std::string>& names) {
  const auto kind = static_cast<unsigned>(block.kind);
  if (f.describing() || ((used_by >> kind) & 1u)) return true;
  if (!f.has(name)) return false;
  f.raw(name, "", Need::optional, "");
  if (kind > 0)
    f.error(name, fmt::format("`{}` has no effect on `kind: {}`", name, names[kind - 1]),
            fmt::format("it belongs to kind {}", kind_list(used_by, names)));
  return false;
}

template <class Block, class Value>
Need need_of(const Fields& f, const Block& block, const Key<Block, Value>& key) {
  const bool required = f.describing() ? key.required != 0 && key.optional == 0
                                       : ((key.required >> static_cast<unsigned>(block.kind)) & 1u) != 0;
  return required ? Need::required : Need::optional;
}

/// Reads every count and flag of a table that the block's kind has.
template <class Block, class Value, std::size_t N>
void bind_keys(Fields& f, Block& block, const Key<Block, Value> (&table)[N],
               const std::vector<std::string>& names) {
  for (const auto& key : table) {
    const unsigned used_by = key.required | key.optional;
    if (!applies(f, block, key.name, used_by, names)) continue;
    const std::string help = fmt::format("{} (kind {})", key.help, kind_list(used_by, names));
    if constexpr (std::is_same_v<Value, bool>)
      f.flag(key.name, block.*key.into, need_of(f, block, key), help);
    else
      f.integer(key.name, block.*key.into, need_of(f, block, key), Range::between(key.low, 1e6), help);
  }
}

/// `kind: mla`, first key of every block. Kind 0 (none) is not offered: a layer leaves that half out instead.
template <class Block>
void bind_kind(Fields& f, Block& block, const std::vector<std::string>& names, const std::string& help) {
  int position = -1;
  f.choice("kind", position, names, Need::required, help);
  block.kind = static_cast<typename Block::Kind>(position + 1);
}

}  // namespace moe
