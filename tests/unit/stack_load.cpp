// Engine stacks: what is read, what a wrong file is told, and that every stack of the repository is sound.
#include "stack/load.hpp"

#include <fmt/core.h>

#include "catch.hpp"
#include "experiment/files.hpp"
#include "repository.hpp"

using namespace moe;

namespace {

struct Read {
  Stack stack;
  Diagnostics found;
  explicit Read(const std::string& text) {
    stack = read_stack(parse_document(text, "dir/mine.yaml", found), found);
  }
  std::vector<std::string> errors() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : found.all())
      if (d.is_error) out.push_back(fmt::format("{}:{} {}", d.place.line, d.place.column, d.message));
    return out;
  }
};

using Texts = std::vector<std::string>;

std::string file(const std::string& launch, const std::string& all_reduce, const std::string& rest = {}) {
  return "schema: 1\nengine: x\nsources: [made up]\nkernels: {dense: {bf16: a, any: b}, mla: c}\n"
         "launch: {" +
         launch + "}\nall_reduce: {" + all_reduce + "}\n" + rest;
}
const std::string kFull = "graph: full, capture_sizes: [1, 4, 8]", kNccl = "implementation: nccl";

}  // namespace

TEST_CASE("a stack names a kernel path by op and format, with `any` for the rest", "[unit]") {
  const Read r(file(kFull, kNccl));
  REQUIRE(r.errors().empty());
  CHECK(r.stack.name == "mine");
  CHECK(r.stack.path("dense", "bf16") == "a");
  CHECK(r.stack.path("dense", "fp8") == "b");
  CHECK(r.stack.path("mla", "fp8") == "c");  // a plain path serves any format
  CHECK(r.stack.path("gqa", "fp8").empty());
}

TEST_CASE("a batch is padded up to the next captured size, and 0 says there is none", "[unit]") {
  const Read r(file(kFull, kNccl));
  CHECK(r.stack.padded_rows(1) == 1);
  CHECK(r.stack.padded_rows(2) == 4);
  CHECK(r.stack.padded_rows(8) == 8);
  CHECK(r.stack.padded_rows(9) == 0);
  CHECK(Read(file("graph: eager, host_per_layer: 1 ms", kNccl)).stack.padded_rows(3) == 3);
}

TEST_CASE("op classes, formats and fusable kernels form closed sets", "[unit]") {
  const std::string text =
      "schema: 1\nengine: x\nsources: [y]\nkernels:\n  dence: a\n  experts: {fp88: b}\n"
      "launch: {graph: full}\nall_reduce: {implementation: nccl}\nfused: [add_nrom]\n";
  CHECK(Read(text).errors() == Texts{"6:12 `fp88` is not a number format", "5:3 unknown key `dence`",
                                     "9:8 `add_nrom` cannot be fused"});
}

TEST_CASE("capture sizes ascend, and launch modes need their host times", "[unit]") {
  CHECK(Read(file("graph: full, capture_sizes: [8, 4]", kNccl)).errors() ==
        Texts{"5:38 `capture_sizes` must ascend"});
  CHECK(Read(file("graph: eager", kNccl)).errors().at(0).find("needs `host_per_layer`") != std::string::npos);
  CHECK(Read(file("graph: piecewise", kNccl)).errors().at(0).find("needs `host_per_eager_attention`") !=
        std::string::npos);
}

TEST_CASE("keys without effect are errors", "[unit]") {
  CHECK(Read(file("graph: eager, host_per_layer: 1 ms, capture_sizes: [1]", kNccl)).errors() ==
        Texts{"5:61 `capture_sizes` has no effect with `graph: eager`"});
  CHECK(Read(file("graph: full, host_per_eager_attention: 1 ms", kNccl)).errors().size() == 1);
  CHECK(Read(file(kFull, kNccl + ", cutoff: 56 KiB")).errors() ==
        Texts{"6:44 `cutoff` has no effect with `implementation: nccl`"});
  const std::string custom = "implementation: custom, one_shot: [{ranks: 8, t0: 7.4 us, rate: 23 GB/s}]";
  CHECK(Read(file(kFull, custom)).errors().empty());
  CHECK(Read(file(kFull, custom + ", ignore_cutoff_rows: 8")).errors().size() == 1);
  CHECK(Read(file(kFull, custom + ", two_shot_extra: 3 us")).errors().size() == 1);
}

TEST_CASE("an own all-reduce kernel needs its times", "[unit]") {
  CHECK(Read(file(kFull, "implementation: custom")).errors() ==
        Texts{"6:30 an own kernel needs its measured times in `one_shot`"});
}

TEST_CASE("the own kernel has one pair of constants per rank count", "[unit]") {
  const std::string one = "{ranks: 8, t0: 7 us, rate: 23 GB/s}";
  CHECK(Read(file(kFull, "implementation: custom, one_shot: [" + one + ", " + one + "]")).errors() ==
        Texts{"6:94 8 ranks are listed twice"});
}

TEST_CASE("an all-reduce that contains the norm leaves no norm to run", "[unit]") {
  CHECK(Read(file(kFull, kNccl + ", fused_with_norm: true")).stack.fuses("add_norm"));
  CHECK_FALSE(Read(file(kFull, kNccl)).stack.fuses("add_norm"));
}

TEST_CASE("the extra cast runs in all, MoE or dense layers", "[unit]") {
  CHECK(Read(file(kFull, kNccl, "extra_cast: {bytes: 1 GB, layers: moe}\n")).stack.extra_cast.layers ==
        "moe");
  CHECK(Read(file(kFull, kNccl, "extra_cast: {bytes: 1 GB, layers: mo}\n")).errors() ==
        Texts{"7:35 unknown value `mo` for `layers`"});
}

TEST_CASE("every stack of the repository is read without errors and says where its facts come from", "[unit]") {
  Diagnostics found;
  const auto names = data_names(kStacks, test::root() + "/x.yaml");
  REQUIRE(names.size() >= 4);
  for (const std::string& name : names) {
    INFO(name);
    CHECK_FALSE(load_stack(test::root() + "/calibration/stacks/" + name + ".yaml", found).sources.empty());
  }
  INFO(found.render());
  CHECK(found.all().empty());
}
