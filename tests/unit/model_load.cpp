// What a wrong model file is told: each case changes one thing in a file that is right.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.hpp"
#include "model/layer_ranges.hpp"
#include "model/load.hpp"

using namespace moe;

namespace {

const std::string kRight =
    "schema: 1\n"                                                                              // line 1
    "repository: lab/tiny\n"                                                                   // 2
    "architecture: Tiny\n"                                                                     // 3
    "sources: [made up]\n"                                                                     // 4
    "hidden: 64\n"                                                                             // 5
    "vocab: 100\n"                                                                             // 6
    "layer_count: 4\n"                                                                         // 7
    "max_context: 1024\n"                                                                      // 8
    "attention:\n"                                                                             // 9
    "  mla: {kind: mla, heads: 4, q_lora_rank: 8, kv_lora_rank: 8, qk_nope_head_dim: 8,\n"     // 10
    "        qk_rope_head_dim: 4, v_head_dim: 8}\n"                                            // 11
    "  gqa: {kind: gqa, heads: 8, kv_heads: 2, head_dim: 8}\n"                                 // 12
    "mlp:\n"                                                                                   // 13
    "  dense: {kind: dense, intermediate: 128}\n"                                              // 14
    "  moe: {kind: moe, experts: 8, topk: 2, expert_intermediate: 32, router_format: fp32}\n"  // 15
    "layers:\n"                                                                                // 16
    "  0: {attention: mla, mlp: dense}\n"                                                      // 17
    "  1..3: {attention: gqa, mlp: moe}\n"                                                     // 18
    "checkpoints:\n"                                                                           // 19
    "  - {id: bf16, repository: lab/tiny, method: bf16, formats: {default: bf16},\n"           // 20
    "     activation: bf16, kv_dtype: bf16}\n";                                                // 21

/// kRight with one piece of text replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kRight;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

struct Reading {
  Model model;
  Diagnostics found;
};

Reading read(const std::string& text) {
  Reading r;
  r.model = parse_model(text, "tiny.yaml", r.found);
  return r;
}

/// Exactly one diagnostic, on this line and path.
void check_only(const std::string& text, int line, const std::string& path, const std::string& message,
                const std::string& help) {
  const Reading r = read(text);
  INFO(r.found.render());
  REQUIRE(r.found.all().size() == 1);
  const Diagnostic& d = r.found.all()[0];
  CHECK(d.message == message);
  CHECK(d.place.line == line);
  CHECK(d.path == path);
  CHECK(d.help == help);
}

}  // namespace

TEST_CASE("a right model file is read without a word", "[unit]") {
  const Reading r = read(kRight);
  INFO(r.found.render());
  REQUIRE(r.found.all().empty());
  CHECK(r.model.name == "tiny");
  REQUIRE(r.model.layers.size() == 4);
  CHECK(r.model.attention_of(r.model.layers[0]).kind == Attention::Kind::mla);
  CHECK(r.model.attention_of(r.model.layers[3]).kv_heads == 2);
  CHECK(r.model.mlp_of(r.model.layers[3]).topk == 2);
}

TEST_CASE("a router is stored as its block says unless the checkpoint lists it", "[unit]") {
  const auto router = static_cast<std::size_t>(TensorClass::router);
  CHECK(read(kRight).model.checkpoints[0].format[router] == Format::fp32);
  const Reading listed = read(with("{default: bf16}", "{default: bf16, router: bf16}"));
  CHECK(listed.model.checkpoints[0].format[router] == Format::bf16);
}

TEST_CASE("a half that a layer leaves out is the block of kind none", "[unit]") {
  const Reading r = read(with("1..3: {attention: gqa, mlp: moe}", "1..3: {mlp: moe}"));
  REQUIRE(r.found.all().empty());
  CHECK(r.model.attention_of(r.model.layers[2]).kind == Attention::Kind::none);
}

TEST_CASE("only the listed layers compute sparse-attention indices", "[unit]") {
  const Reading r =
      read(with("v_head_dim: 8}", "v_head_dim: 8, dsa: {heads: 1, head_dim: 8, topk: 4, layers: 0}}"));
  REQUIRE(r.found.all().empty());
  CHECK(r.model.layers[0].indexer);
  CHECK_FALSE(r.model.layers[1].indexer);
  check_only(with("v_head_dim: 8}", "v_head_dim: 8, dsa: {heads: 1, head_dim: 8, topk: 4, layers: 0..2+2}}"),
             10, "attention", "`mla.dsa.layers` lists layer 2, which does not use this block",
             "decoder layers are 0..3, then come 0 MTP layers");
}

TEST_CASE("an unknown key is named with the key that was meant", "[unit]") {
  check_only(with("hidden: 64", "hiden: 64"), 5, "hiden", "unknown key `hiden`", "did you mean `hidden`?");
  check_only(with("{default: bf16}", "{default: bf16, routed_expert: nvfp4}"), 20,
             "checkpoints[0].formats.routed_expert", "unknown key `routed_expert`",
             "did you mean `routed_experts`?");
}

TEST_CASE("a layer without a block is an error at the map of layers", "[unit]") {
  check_only(with("1..3:", "1:"), 17, "layers", "no block is given for layer 2..3",
             "`layer_count` is 4; every layer needs an entry");
}

TEST_CASE("a layer given twice is an error that names the other entry", "[unit]") {
  check_only(with("1..3:", "0..3:"), 18, "layers.0..3.attention", "layer 0 is given twice",
             "it is also part of `0`");
}

TEST_CASE("a layer beyond the last one is an error", "[unit]") {
  check_only(with("1..3:", "1..4:"), 18, "layers.1..4.attention", "there is no layer 4",
             "`layer_count` is 4, so the last layer is 3");
}

TEST_CASE("a layer range that is none is an error", "[unit]") {
  check_only(with("1..3:", "1-3:"), 18, "layers.1-3.attention", "`1-3` is not a layer or a range of layers",
             "write layers like `0`, `1..60` or `0..44+4, 1..45+4`");
  check_only(with("1..3:", "3..1:"), 18, "layers.3..1.attention", "`3..1` ends before it starts",
             "write layers like `0`, `1..60` or `0..44+4, 1..45+4`");
}

TEST_CASE("a block name that does not exist is an error with a suggestion", "[unit]") {
  check_only(with("{attention: gqa,", "{attention: gqua,"), 18, "layers.1..3.attention",
             "no attention block is named `gqua`", "did you mean `gqa`?");
}

TEST_CASE("an unknown kind is one error, its keys are not blamed", "[unit]") {
  check_only(with("kind: gqa, ", "kind: gqq, "), 12, "attention.gqa.kind", "unknown value `gqq` for `kind`",
             "did you mean `gqa`?");
}

TEST_CASE("a size that the kind needs is an error when missing", "[unit]") {
  check_only(with(", kv_heads: 2", ""), 12, "attention.gqa.kv_heads", "missing key `kv_heads`", "");
}

TEST_CASE("a key that the kind does not use is an error, not silence", "[unit]") {
  check_only(with("v_head_dim: 8}", "v_head_dim: 8, window: 128}"), 11, "attention.mla.window",
             "`window` has no effect on `kind: mla`", "it belongs to kind gqa, dsv4");
  check_only(with("intermediate: 128}", "intermediate: 128, experts: 8}"), 14, "mlp.dense.experts",
             "`experts` has no effect on `kind: dense`", "it belongs to kind moe");
}

TEST_CASE("KV heads must divide query heads", "[unit]") {
  check_only(with("kv_heads: 2", "kv_heads: 3"), 12, "attention.gqa.kv_heads",
             "3 kv_heads do not divide 8 heads", "`heads` must be a multiple of `kv_heads`");
}

TEST_CASE("a token cannot choose more experts than there are", "[unit]") {
  check_only(with("topk: 2", "topk: 9"), 15, "mlp.moe.topk", "`topk` is 9, but there are only 8 `experts`",
             "");
}

TEST_CASE("shared experts need a width", "[unit]") {
  check_only(with("topk: 2", "topk: 2, shared_experts: 1"), 15, "mlp.moe.shared_experts",
             "`shared_experts` has no effect without `shared_intermediate`", "add `shared_intermediate`");
}

TEST_CASE("two checkpoints cannot have one id", "[unit]") {
  const std::string second =
      "  - {id: bf16, repository: lab/tiny, method: bf16, formats: {}, activation: bf16, kv_dtype: bf16}\n";
  check_only(kRight + second, 22, "checkpoints[1].id", "two checkpoints have the id `bf16`",
             "an experiment could not tell them apart");
}

TEST_CASE("a format for tensors that the model lacks is worth a warning", "[unit]") {
  const Reading r = read(with("{default: bf16}", "{default: bf16, shared_experts: nvfp4}"));
  CHECK_FALSE(r.found.has_errors());
  REQUIRE(r.found.all().size() == 1);
  CHECK(r.found.all()[0].message == "`shared_experts` has no effect: the model has no such tensors");
}

TEST_CASE("formats of MTP layers without MTP layers are an error", "[unit]") {
  check_only(with("{default: bf16},", "{default: bf16}, mtp_formats: {default: bf16},"), 20,
             "checkpoints[0].mtp_formats", "`mtp_formats` has no effect: the model has no MTP layers", "");
}

TEST_CASE("another schema is refused", "[unit]") {
  check_only(with("schema: 1", "schema: 2"), 1, "schema", "schema 2 is not known",
             "this program reads `schema: 1`");
}

TEST_CASE("every error of a file is reported in one pass, and no model is returned", "[unit]") {
  std::string text = with("hidden: 64", "hiden: 64");
  text.replace(text.find("topk: 2"), 7, "topk: 9");
  text.replace(text.find("1..3:"), 5, "1..2:");
  const Reading r = read(text);
  CHECK(r.found.error_count() == 3);
  CHECK(r.model.name == "tiny");
  CHECK(r.model.layers.empty());
}

TEST_CASE("an empty file, a list and a missing file are errors", "[unit]") {
  for (const std::string text : {"", "# only a comment\n", "- 1\n- 2\n", "just words\n"}) {
    const Reading r = read(text);
    INFO(text);
    REQUIRE(r.found.error_count() == 1);
    CHECK(r.found.all()[0].message == "a map of keys was expected here");
  }
  Diagnostics found;
  load_model("no/such/model.yaml", found);
  REQUIRE(found.error_count() == 1);
  CHECK(found.all()[0].message == "cannot read `no/such/model.yaml`");
}

TEST_CASE("garbage is an error, never a crash", "[unit]") {
  CHECK(read(std::string("\x01\xff\x00{[", 5)).found.has_errors());
  CHECK(read("layers: {0..9999: {attention: 1}}\nlayer_count: 99999999999\n").found.has_errors());
  CHECK(read("attention: {a: 1, b: [], c: {kind: {}}}\nmtp: []\ncheckpoints: {}\n").found.has_errors());
}

TEST_CASE("a model file cut off anywhere is read or refused", "[unit]") {
  std::ifstream in(std::string(MOE_SIM_SOURCE_DIR) + "/models/glm-5.2.yaml");
  std::ostringstream whole;
  whole << in.rdbuf();
  const std::string text = whole.str();
  REQUIRE(text.size() > 1000);
  for (std::size_t end = 0; end < text.size(); end += 7) {
    const Reading r = read(text.substr(0, end));
    if (!r.found.has_errors()) CHECK(r.model.layers.size() == 78);
  }
}

TEST_CASE("layer ranges list numbers, spans and steps", "[unit]") {
  CHECK(parse_layer_ranges("7").layers == std::vector<int>{7});
  CHECK(parse_layer_ranges("0..2, 6..14+4").layers == std::vector<int>{0, 1, 2, 6, 10, 14});
  for (const std::string text : {"", "a", "-1", "1..", "..3", "1..3+0", "1,,2", "1+2", "99999999999"}) {
    INFO(text);
    CHECK_FALSE(parse_layer_ranges(text).problem.empty());
  }
  CHECK(layer_ranges_text({3, 4, 5, 9}) == "3..5, 9");
}

TEST_CASE("every key of a model file is documented", "[unit]") {
  const auto fields = describe([](Fields& f) {
    Model model;
    bind_model(f, model);
  });
  REQUIRE(fields.size() > 100);
  for (const FieldInfo& f : fields) {
    INFO(f.path);
    CHECK_FALSE(f.help.empty());
    CHECK_FALSE(f.type.empty());
  }
}
