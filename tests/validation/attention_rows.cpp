// Four held-out rows of the prototype fit of decode attention (AIConfigurator 095f58a5), one per path, drawn at random
// there: the port must print the same model time. The tables' context counts the new token, heads are per GPU, KV
// is read back-to-back (footprint = the KV itself), and MLA has one KV head, rank 512 and rows of 576 elements.
#include <cmath>

#include "cost/compute.hpp"
#include "validation/rtx_pro_6000.hpp"

using namespace moe;

namespace {
struct Row {
  const char* path;
  double sequences, context, heads, kv_heads, head_dim, kv_row_bytes;
  double measured_us, model_us;  ///< model_us as published, one decimal
};
constexpr Row kRows[] = {
    {"sglang-0.5.14/flashinfer/gqa/kv_bfloat16", 128, 2048, 32, 4, 256, 2 * 4 * 256 * 2, 715.7, 724.5},
    {"trtllm-1.3.0rc20/torch_flow/gqa/kv_fp8", 2, 4096, 32, 2, 192, 2 * 2 * 192, 79.4, 68.1},
    {"vllm-0.24.0/vllm_flashinfer_fidecode/gqa/kv_fp8", 512, 8192, 2, 1, 128, 2 * 1 * 128, 736.0, 741.3},
    {"sglang-0.5.14/triton/mla/kv_bfloat16", 32, 2048, 1, 1, 512, 576 * 2, 92.9, 69.7},
};
}  // namespace

TEST_CASE("decode attention reproduces the prototype's held-out predictions to the printed digit", "[validation]") {
  const Profile profile = rtx_pro_6000();
  for (const Row& row : kRows) {
    AttentionShape shape;
    shape.sequences = row.sequences;
    shape.context = row.context;
    shape.heads = row.heads;
    shape.kv_heads = row.kv_heads;
    shape.head_dim = row.head_dim;
    shape.kv_row_bytes = row.kv_row_bytes;
    const double footprint = row.sequences * row.context * row.kv_row_bytes;
    const KernelCost cost = decode_attention(profile.gpu, profile.attention.at(row.path), shape, footprint);
    INFO(row.path << ": " << cost.time_us << " us, published " << row.model_us << ", measured " << row.measured_us);
    CHECK(std::abs(cost.time_us - row.model_us) <= 0.05 + 1e-9);
  }
}
