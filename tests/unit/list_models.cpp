#include "report/list_models.hpp"

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "model/load.hpp"

using namespace moe;

namespace {

Model repository_model(const std::string& name) {
  Diagnostics found;
  return load_model(std::string(MOE_SIM_SOURCE_DIR) + "/models/" + name + ".yaml", found);
}

}  // namespace

TEST_CASE("the table of models is the one shown in its header", "[unit]") {
  const std::string text =
      models_table({repository_model("gpt-oss-20b"), repository_model("qwen3.5-122b-a10b"),
                    repository_model("step-3.5-flash")});
  CHECK(text ==
        "model                 total    active  KV cache  KV cache     fixed  checkpoints\n"
        "                          B         B  KB/token  KB/token    MB/seq  GB on disk\n"
        "                                           bf16       fp8      bf16\n"
        "gpt-oss-20b            20.9       3.6      24.6      12.3       3.1  mxfp4 13.8\n"
        "qwen3.5-122b-a10b     122.1       9.0      24.6      12.3     153.6  bf16 250.2, nvfp4 83.5, fp8 "
        "127.2*\n"
        "step-3.5-flash        197.0      11.5      49.2      24.6      69.2  bf16 398.9, fp8 208.7*\n");
}

TEST_CASE("the JSON list of models has the documented keys", "[unit]") {
  const nlohmann::json list = models_json({repository_model("mixtral-8x7b")});
  REQUIRE(list.size() == 1);
  const nlohmann::json& m = list[0];
  CHECK(m.at("name") == "mixtral-8x7b");
  CHECK(m.at("repository") == "mistralai/Mixtral-8x7B-v0.1");
  CHECK(m.at("layers") == 32);
  CHECK(m.at("max_context") == 32768);
  // The converter's index gives 93405585408 B of bf16: half as many parameters.
  CHECK(m.at("parameters") == 93405585408 / 2);
  CHECK(m.at("checkpoints")[0].at("bytes") == 93405585408);
  CHECK(m.at("mtp_parameters") == 0);
  CHECK(m.at("vision_parameters") == 0);
  // Embedding and head are 32000 x 4096 each.
  const std::int64_t body = m.at("active_parameters").at("body");
  CHECK(m.at("active_parameters").at("with_head") == body + 32000 * 4096);
  CHECK(m.at("active_parameters").at("with_embed_head") == body + 2 * 32000 * 4096);
  // 32 layers x 2 x 8 heads x 128 x 2 B.
  CHECK(m.at("kv_cache").at("bf16").at("bytes_per_token") == 131072);
  CHECK(m.at("kv_cache").at("fp8").at("window_bytes_per_sequence") == 0);
  CHECK(m.at("kv_cache").at("fp8").at("state_bytes_per_sequence") == 0);
  for (const char* key : {"id", "repository", "activation", "kv_dtype", "verified"})
    CHECK(m.at("checkpoints")[0].contains(key));
}

TEST_CASE("no models make an empty table and an empty list", "[unit]") {
  CHECK(models_table({}).substr(0, 5) == "model");
  CHECK(models_json({}).dump() == "[]");
}
