// What has to be done? A step written down as plain arrays: ops, what they occupy, and what must end before them.
//
// Example: gpu0 computes 10 us, sends 1 MB to gpu1 over two links, gpu1 computes 5 us:
//
//   Builder b;                                             // program/builder.hpp
//   auto a = b.compute(ServerId{0}, from_us(10), label_a);
//   auto t = b.transfer(path, Bytes{1e6}, from_us(1), label_t);   // path: {LinkId{0}, LinkId{3}}
//   auto c = b.compute(ServerId{1}, from_us(5), label_c);
//   b.order(a, t); b.order(t, c);
//   Program p = b.seal();                                  // checked: no cycle, ids in range
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.hpp"
#include "base/time.hpp"
#include "base/units.hpp"

namespace moe {

enum class OpId : std::uint32_t {};
enum class LinkId : std::uint16_t {};
enum class ServerId : std::uint16_t {};
inline constexpr OpId kNoOp{0xffffffff};

/// compute: occupies one server for a fixed time. transfer: moves bytes over shared links after a latency.
/// join: takes no time and occupies nothing; it ends when its predecessors have ended.
enum class Kind : std::uint8_t { compute, transfer, join };

/// Where a report books an op. The engine never looks at it. Names are the keys of breakdown_ms in result.json.
enum class Category : std::uint8_t {
  attention, experts, shared_experts, all_reduce, all_to_all, all_gather, cast, dense_gemm,
  small_kernels, lm_head, sampling, draft, pipeline, host,
};
inline constexpr std::array<std::string_view, 14> kCategoryNames{
    "attention", "experts", "shared_experts", "all_reduce", "all_to_all", "all_gather", "cast", "dense_gemm",
    "small_kernels", "lm_head", "sampling", "draft", "pipeline", "host"};
constexpr std::string_view name_of(Category c) { return kCategoryNames[static_cast<std::size_t>(c)]; }

/// Enough to print "L17 all_reduce gpu3" or "L17 dispatch gpu3→gpu5".
struct Label {
  std::uint16_t name = 0;    ///< index into Program::names
  std::int16_t layer = -1;   ///< -1: outside the layers
  std::int16_t source = -1;  ///< rank that executes or sends; -1: none
  std::int16_t target = -1;  ///< rank that receives; -1: none
  friend bool operator==(const Label&, const Label&) = default;
};

/// A sealed step graph. All fields are *set* by the builder; nothing changes afterwards.
struct Program {
  Table<OpId, Kind> kind;
  Table<OpId, Category> category;
  Table<OpId, ServerId> server;      ///< compute only
  Table<OpId, Time> duration;        ///< compute only
  Table<OpId, Bytes> bytes;          ///< transfer only
  Table<OpId, Time> latency;         ///< transfer only: precedes the bytes, occupies no link
  Table<OpId, Bandwidth> rate_cap;   ///< transfer only: the flow's own limit; 0: none
  Table<OpId, std::uint32_t> weight; ///< transfer only: shares a full link as that many equal flows do; at least 1
  Rows<OpId, LinkId> path;           ///< transfer only
  Rows<OpId, OpId> successors;
  Table<OpId, std::uint32_t> predecessor_count;
  Table<OpId, Label> label;
  std::vector<std::string> names;    ///< op names, shared by labels

  std::size_t size() const { return kind.size(); }
};

/// "L17 all_reduce gpu3"
std::string describe(const Program& program, OpId op);

/// All that the engine knows of the machine. A what-if edits a copy of this.
struct Resources {
  Table<LinkId, Bandwidth> capacity;
  Table<LinkId, std::string> link_names;      ///< "gpu0 → sw0"
  Table<ServerId, std::string> server_names;  ///< "gpu0 compute"
};

}  // namespace moe
