#include "cost/load_gpu.hpp"

#include <filesystem>

namespace moe {
namespace {

void bind_memory(Fields& f, GpuSpec& g) {
  const Range some = Range::positive();
  f.quantity("dram_bandwidth", g.dram_Bps, Unit::bandwidth, Need::required, some, "peak memory bandwidth");
  f.quantity("memory", g.memory_bytes, Unit::bytes, Need::required, some, "installed");
  f.quantity("usable_memory", g.usable_bytes, Unit::bytes, Need::optional, some,
             "what the driver leaves to programs; left out: all that is installed");
  f.quantity("l2", g.l2_bytes, Unit::bytes, Need::required, some, "L2 cache");
  f.quantity("l2_bandwidth", g.l2_Bps, Unit::bandwidth, Need::optional, Range::positive(), "what all SMs together read from L2");
  f.quantity("l2_resident", g.l2_resident_bytes, Unit::bytes, Need::required, some,
             "footprint up to which repeated reads hit L2 (fitted)");
  f.number("l2_sharpness", g.l2_sharpness, Need::optional, some, "exponent of the hit curve (fitted)");
  f.quantity("shared_memory", g.shared_memory_bytes, Unit::bytes, Need::required, some, "that one block may use");
  if (!f.describing() && g.usable_bytes > g.memory_bytes)
    f.error("usable_memory", "`usable_memory` exceeds `memory`", "what is installed is the larger of the two");
  if (!f.has("usable_memory")) g.usable_bytes = g.memory_bytes;
}

void bind_gpu(Fields& f, GpuSpec& g) {
  int schema = 1;
  f.integer("schema", schema, Need::required, Range::between(1, 1), "version of this format");
  f.text("product", g.product, Need::required, "name in reports");
  f.integer("sm", g.sm, Need::required, Range::at_least(1), "streaming multiprocessors");
  bind_memory(f, g);
  f.section("dense_tflops", Need::required, "tensor-core peak without sparsity, 1e12 FLOP/s", [&](Fields& t) {
    double bf16 = 0, fp8 = 0, fp4 = 0;
    t.number("bf16", bf16, Need::required, Range::positive(), "bfloat16");
    t.number("fp8", fp8, Need::required, Range::positive(), "FP8");
    t.number("fp4", fp4, Need::optional, Range::not_negative(), "FP4; 0: not supported");
    g.bf16_flops = bf16 * 1e12, g.fp8_flops = fp8 * 1e12, g.fp4_flops = fp4 * 1e12;
  });
  f.quantity("power", g.power_watts, Unit::power, Need::optional, Range::positive(), "board power limit");
  std::vector<std::string> sources;
  f.texts("sources", sources, Need::required, "where the numbers come from");
}

}  // namespace

GpuSpec load_gpu(const std::string& file, Diagnostics& out, std::vector<FieldInfo>* record) {
  GpuSpec gpu;
  gpu.name = std::filesystem::path(file).stem().string();
  const Document document = load_document(file, out);
  read_map(document.root, "", out, [&](Fields& f) { bind_gpu(f, gpu); }, record);
  return gpu;
}

std::vector<FieldInfo> describe_gpu() {
  GpuSpec gpu;
  return describe([&](Fields& f) { bind_gpu(f, gpu); });
}

}  // namespace moe
