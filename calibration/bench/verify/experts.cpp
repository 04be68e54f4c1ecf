#include <fmt/core.h>

#include "kernels/experts.hpp"
#include "kernels/pack.hpp"
#include "verify/checks.hpp"
#include "verify/reference.hpp"

namespace moe::bench {
namespace {

/// Random plain weights, the same packed, and what the kernel is given as scales.
struct Weights {
  Buffer plain, scales, packed, expert_scale;
  reference::Matrix matrix;

  Weights(cudaStream_t stream, Format format, int experts, int n, int k, std::size_t packed_bytes, std::uint64_t seed) {
    const std::size_t values = static_cast<std::size_t>(experts) * static_cast<std::size_t>(n) * static_cast<std::size_t>(k);
    const Fill kind = format == Format::bf16 ? Fill::small_bf16 : format == Format::fp8 ? Fill::normal_e4m3 : Fill::nibbles;
    plain = Buffer(values * (format == Format::bf16 ? 2 : 1), kind, seed);
    scales = Buffer(values / 32 * 2, Fill::scale_bf16, seed + 1);
    packed = poisoned(packed_bytes);
    expert_scale = Buffer(static_cast<std::size_t>(experts) * 4, Fill::scale_f32, seed + 2);
    matrix = {format, plain.as(), scales.as<bf16>(), 1, expert_scale.as<float>()};
    launch_pack(stream, format, plain.as(), scales.as<bf16>(), experts, n, k, packed.as());
  }
};

double expert_error(cudaStream_t stream, Format format, const ExpertShape& s) {
  const auto size = [](long a, long b) { return static_cast<std::size_t>(a * b); };
  const Buffer x(size(s.tokens, s.hidden) * 2, Fill::normal_bf16, 21);
  const Buffer logits(size(s.tokens, s.experts) * 4, Fill::normal_f32, 22);
  const Weights w13(stream, format, s.local_experts, 2 * s.intermediate, s.hidden, w13_bytes(format, s), 31);
  const Weights w2(stream, format, s.local_experts, s.hidden, s.intermediate, w2_bytes(format, s), 41);
  const Buffer y = poisoned(size(s.tokens, s.hidden) * 2), good = poisoned(size(s.tokens, s.hidden) * 2);
  const Buffer scratch = poisoned(experts_workspace_bytes(format, s));
  const Buffer plain_scratch(size(s.tokens, s.topk) * static_cast<std::size_t>(3 * s.intermediate + s.hidden + 2) * 4);
  const ExpertWeights weights{w13.packed.as(), w2.packed.as(), w13.expert_scale.as<float>(), w2.expert_scale.as<float>()};
  for (int twice = 0; twice < 2; ++twice)  // the second run meets what the first one left
    launch_experts(stream, format, s, x.as<bf16>(), logits.as<float>(), weights, y.as<bf16>(), scratch.as());
  reference::experts(stream, s, x.as<bf16>(), logits.as<float>(), w13.matrix, w2.matrix, good.as<bf16>(), plain_scratch.as<float>());
  return relative_error(stream, y.as<bf16>(), good.as<bf16>(), size(s.tokens, s.hidden));
}

}  // namespace

std::vector<Check> expert_checks(bool small) {
  // tokens, hidden, intermediate, topk, experts, local, first: skinny with k split 4, 2 and 1 ways, wide tiles of 32
  // and 64 rows, columns that do not fill a block, a rank's own experts.
  const std::vector<ExpertShape> shapes =
      small ? std::vector<ExpertShape>{{3, 1024, 64, 2, 8, 8, 0}, {40, 512, 192, 2, 4, 4, 0}, {70, 256, 128, 4, 8, 2, 4}}
            : std::vector<ExpertShape>{{1, 2048, 256, 8, 64, 64, 0},   {13, 1024, 192, 4, 32, 32, 0},
                                       {16, 576, 64, 6, 40, 40, 0},    {64, 1088, 320, 2, 8, 8, 0},
                                       {200, 512, 448, 2, 8, 8, 0},    {96, 1024, 256, 8, 64, 16, 32},
                                       {150, 768, 192, 8, 384, 384, 0}};
  std::vector<Check> checks;
  for (const Format f : {Format::bf16, Format::fp8, Format::int4})
    for (const ExpertShape& s : shapes)
      checks.push_back({fmt::format("experts {} tokens={} {}x{} top {} of {}, {} here", dtype_name(f), s.tokens,
                                    s.hidden, s.intermediate, s.topk, s.experts, s.local_experts),
                        f == Format::fp8 ? 2e-2 : 1e-2, [=](cudaStream_t stream) { return expert_error(stream, f, s); }});
  return checks;
}

}  // namespace moe::bench
