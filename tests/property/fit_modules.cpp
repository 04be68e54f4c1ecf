// MLA blocks and DSA rows through the whole pipeline, from made-up files; several folders in one profile. The constants
// that the rows are made with are in the loops below.
#include <fmt/core.h>

#include "catch.hpp"
#include "fit/errors.hpp"
#include "fit/fit_profile.hpp"
#include "measured.hpp"
#include "program.hpp"
#include "temporary.hpp"

using namespace moe;

namespace {

const char* kProtocol =
    "schema: 1\nsources: [made up]\nformats: {fp8_block: {bytes_per_weight: 1, bytes_per_activation: 1, compute: fp8}}\n"
    "models: {org/Small: {hidden: 4096, q_lora_rank: 1024, kv_lora_rank: 512, qk_rope_head_dim: 64,\n"
    "  qk_nope_head_dim: 128, v_head_dim: 128}}\n"
    "paths:\n  - {op: mla_module, rows: \"*\", copies: 0}\n  - {op: dsa, rows: \"*\", copies: 0}\n";

/// 30 us + weights at 1.4 TB/s + cache at 1.4 TB/s. Per rank 4096 x (1024 + 576) = 6.55 MB; per head in fp8
/// 192 x 1024 + 128 x 4096 = 0.721 MB, and 2 B x 512 x 256 = 0.262 MB absorbed.
std::string blocks() {
  std::string csv = "path,model,kv_dtype,gemm_dtype,heads,tp,batch,context,latency_us\n";
  for (const int heads : {4, 8, 16, 32, 64})
    for (const int batch : {1, 2, 4, 8, 16, 32, 64, 128})
      for (const int context : {128, 512, 2048, 8192, 32768}) {
        const double weights = 4096 * 1600 + heads * (192 * 1024 + 128 * 4096 + 2 * 512 * 256.0);
        csv += fmt::format("engine-1/core,org/Small,fp8,fp8_block,{},1,{},{},{:.4f}\n", heads, batch, context,
                           30 + (weights + 576.0 * batch * context) / 1.4e6);
      }
  return csv;
}

/// Sparse core over min(context, 2048) rows of 656 B, index logits over 136 B per cached token, top-k over 16 B.
std::string sparse() {
  std::string csv = "path,op,kv_dtype,heads,batch,context,topk,latency_us\n";
  for (const int batch : {1, 2, 4, 8, 16, 32, 64, 128, 256})
    for (const int context : {512, 2048, 8192, 32768}) {
      const double rows = std::min(context, 2048), all = static_cast<double>(batch) * context;
      csv += fmt::format("engine-1/dsa,sparse_mla,fp8,16,{},{},2048,{:.4f}\n", batch, context, 9 + 656 * batch * rows / 1.2e6);
      csv += fmt::format("engine-1/dsa,indexer_logits,fp8,64,{},{},2048,{:.4f}\n", batch, context, 6 + 136 * all / 1.3e6);
      csv += fmt::format("engine-1/dsa,indexer_topk,fp8,64,{},{},2048,{:.4f}\n", batch, context, 7 + 16 * all / 1.1e6);
    }
  return csv;
}

}  // namespace

TEST_CASE("MLA blocks are fitted with their weights by head, and predict held-out blocks", "[property]") {
  const test::Folder folder;
  folder.write("protocol.yaml", kProtocol);
  folder.write("mla_module.csv", blocks());
  const Measurements m = read_measurements(folder.path());
  const Protocol protocol = find_protocol(m, "", "");
  const Profile p = fit_profile(m, protocol, test::measured_gpu(), {});
  REQUIRE(p.mla_module.count("engine-1/core/mla_module/Small/fp8_block/kv_fp8") == 1);
  const MlaModulePath& path = p.mla_module.begin()->second;
  CHECK(path.weight_bytes_shared == 4096 * 1600);
  CHECK(path.weight_bytes_per_head == 192 * 1024 + 128 * 4096 + 2 * 512 * 256);
  CHECK(path.quality.median_pct < 3);
  CHECK(path.quality.p90_pct < 10);
  const std::vector<SummaryRow> rows = summarise(evaluate_profile(p, m, protocol, Which::held_out, false, {}, {}));
  REQUIRE_FALSE(rows.empty());
  CHECK(rows.front().op == "mla_module");
}

TEST_CASE("DSA rows become a sparse core and two streams over the cache", "[property]") {
  const test::Folder folder;
  folder.write("protocol.yaml", kProtocol);
  folder.write("dsa.csv", sparse());
  const Measurements m = read_measurements(folder.path());
  const Profile p = fit_profile(m, find_protocol(m, "", ""), test::measured_gpu(), {});
  REQUIRE(p.attention.count("engine-1/dsa/sparse_mla/kv_fp8") == 1);
  REQUIRE(p.elementwise.count("engine-1/dsa/indexer_logits") == 1);
  REQUIRE(p.elementwise.count("engine-1/dsa/indexer_topk") == 1);
  CHECK(p.attention.begin()->second.quality.median_pct < 4);
  // 1.3 of 1.792 TB/s: 0.725; 1.1: 0.614. The fit has to find the rates, not only the times.
  CHECK(p.elementwise.at("engine-1/dsa/indexer_logits").dram_eff == Approx(0.725).epsilon(0.05));
  CHECK(p.elementwise.at("engine-1/dsa/indexer_topk").dram_eff == Approx(0.614).epsilon(0.05));
  CHECK(p.elementwise.at("engine-1/dsa/indexer_topk").t0_us == Approx(7).epsilon(0.05));
}

TEST_CASE("a block of a model that the protocol does not know is an error that names it", "[property]") {
  const test::Folder folder;
  folder.write("protocol.yaml", kProtocol);
  folder.write("mla_module.csv", "path,model,kv_dtype,gemm_dtype,heads,tp,batch,context,latency_us\na/b,org/Smal,fp8,fp8_block,4,1,1,128,30\n");
  const Measurements m = read_measurements(folder.path());
  std::string message;
  try {
    paths_of(m, find_protocol(m, "", ""));
  } catch (const InputError& e) {
    message = e.what();
  }
  CHECK(message.find("no model `org/Smal`") != std::string::npos);
  CHECK(message.find("org/Small") != std::string::npos);
}

TEST_CASE("rows of the project's suite need no protocol of their own: all cold but the casts", "[property]") {
  const test::Folder folder;  // points MOE_SIM_DATA at the repository
  folder.write("gemm.csv", "path,dtype,m,n,k,latency_us\nsuite-1/cublaslt,bfloat16,8,1024,1024,5\nsuite-1/cublaslt,fp8,8,1024,1024,4\n");
  folder.write("cast.csv", "path,op,dtype,m,k,latency_us\nsuite-1/cast,scale_matrix,fp8,8,1024,2\n");
  const Measurements m = read_measurements(folder.path());
  const Protocol protocol = find_protocol(m, "", "");
  CHECK(protocol.file.ends_with("suite.yaml"));
  for (const PathData& d : paths_of(m, protocol))
    for (const Sample& s : samples_of(m, d, protocol, test::measured_gpu())) CHECK(s.cold == (d.op != Op::cast));
}

TEST_CASE("fit takes several folders; a path that two of them have is an error", "[property]") {
  const test::Folder folder;
  const auto measured = [&](const std::string& name, const std::string& engine) {
    std::string csv = "path,op,dtype,m,k,latency_us\n";
    for (const int k : {256, 512, 1024, 2048, 4096, 5120, 6144, 7168})
      for (const int rows : {1, 8, 64, 512}) csv += fmt::format("{}/cast,scale_matrix,fp8,{},{},{:.4f}\n", engine, rows, k, 2 + 1e-6 * rows * k);
    folder.write(name + "/protocol.yaml", kProtocol);
    folder.write(name + "/cast.csv", csv);
    return folder.path(name);
  };
  const std::string tables = measured("tables", "engine-1"), own = measured("own", "engine-2"), again = measured("again", "engine-2");
  const std::string gpu = test::root() + "/calibration/gpus/rtx-pro-6000.yaml";
  const test::Ran both = test::moe_sim("fit " + tables + " " + own + " --gpu " + gpu + " --out " + folder.path("p.yaml"));
  CHECK(both.code == 0);
  const std::string text = test::read_file(folder.path("p.yaml"));
  CHECK(text.find("path: engine-1/cast_fp8") != std::string::npos);
  CHECK(text.find("path: engine-2/cast_fp8") != std::string::npos);
  CHECK(text.find("file: tables/cast.csv") != std::string::npos);
  const test::Ran twice = test::moe_sim("fit " + own + " " + again + " --gpu " + gpu + " --out " + folder.path("q.yaml"));
  CHECK(twice.code == 2);
  CHECK(twice.err.find("`engine-2/cast_fp8` is in") != std::string::npos);
}
