#include "verify/reference.hpp"

#include <cuda_fp8.h>

#include "harness/check.hpp"

namespace moe::bench::reference {
namespace {

__device__ float e4m3(fp8_bits bits) {
  __nv_fp8_e4m3 v;
  v.__x = bits;
  return static_cast<float>(v);
}
__device__ float rounded_e4m3(float v) { return static_cast<float>(__nv_fp8_e4m3(v)); }

__device__ float weight(const Matrix& w, int expert, long row, int k, int at) {
  switch (w.format) {
    case Format::bf16: return __bfloat162float(static_cast<const bf16*>(w.values)[row * k + at]);
    case Format::fp8:
      return e4m3(static_cast<const fp8_bits*>(w.values)[row * k + at]) *
             (w.expert_scale != nullptr ? w.expert_scale[expert] : w.scale);
    default:
      return (static_cast<float>(static_cast<const std::uint8_t*>(w.values)[row * k + at]) - 8) *
             __bfloat162float(w.scales[row * (k / 32) + at / 32]);
  }
}

__device__ long item() { return static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; }
unsigned blocks_for(long items) { return static_cast<unsigned>((items + 127) / 128); }

__global__ void gemm_kernel(const bf16* x, Matrix w, bf16* y, int n, int k, float x_quantum, long items) {
  const long i = item();
  if (i >= items) return;
  float sum = 0;
  for (int j = 0; j < k; ++j) {
    float v = __bfloat162float(x[i / n * k + j]);
    if (x_quantum > 0) v = rounded_e4m3(fminf(fmaxf(v / x_quantum, -448.0f), 448.0f)) * x_quantum;
    sum += v * weight(w, 0, i % n, k, j);
  }
  y[i] = __float2bfloat16(sum);
}

__global__ void per_head_kernel(const bf16* x, const bf16* w, bf16* y, int heads, int n, int k, long items) {
  const long i = item();
  if (i >= items) return;
  const long row = i / n, head = row % heads;
  float sum = 0;
  for (int j = 0; j < k; ++j) sum += __bfloat162float(x[row * k + j]) * __bfloat162float(w[(head * n + i % n) * k + j]);
  y[i] = __float2bfloat16(sum);
}

/// One thread per token: the choices and their shares.
__global__ void choose(ExpertShape s, const float* logits, float* ids, float* shares) {
  const int t = static_cast<int>(item());
  if (t >= s.tokens) return;
  const float* row = logits + static_cast<long>(t) * s.experts;
  float sum = 0;
  for (int j = 0; j < s.topk; ++j) {
    int best = -1;
    for (int e = 0; e < s.experts; ++e) {
      bool taken = false;
      for (int p = 0; p < j; ++p) taken = taken || static_cast<int>(ids[t * s.topk + p]) == e;
      if (!taken && (best < 0 || row[e] > row[best])) best = e;
    }
    ids[t * s.topk + j] = static_cast<float>(best);
    shares[t * s.topk + j] = expf(row[best] - row[static_cast<int>(ids[t * s.topk])]);
    sum += shares[t * s.topk + j];
  }
  for (int j = 0; j < s.topk; ++j) shares[t * s.topk + j] /= sum;
}

/// out[choice][n] = x[row] w[expert]^T, rounded to bf16; quantise: x rows to e4m3 by their own maximum.
__global__ void expert_gemm(ExpertShape s, const float* ids, const float* x_float, const bf16* x, Matrix w, int n,
                            int k, float* out, long items) {
  const long i = item();
  if (i >= items) return;
  const long choice = i / n;
  const int expert = static_cast<int>(ids[choice]) - s.first_expert;
  if (expert < 0 || expert >= s.local_experts) return;
  const auto value = [&](int j) {
    return x != nullptr ? __bfloat162float(x[choice / s.topk * k + j]) : x_float[choice * k + j];
  };
  float quantum = 0;
  if (w.format == Format::fp8) {
    for (int j = 0; j < k; ++j) quantum = fmaxf(quantum, fabsf(value(j)));
    quantum /= 448;
  }
  float sum = 0;
  for (int j = 0; j < k; ++j) {
    const float v = quantum > 0 ? rounded_e4m3(value(j) / quantum) * quantum : value(j);
    sum += v * weight(w, expert, static_cast<long>(expert) * n + i % n, k, j);
  }
  out[i] = __bfloat162float(__float2bfloat16(sum));
}

/// The kernels keep the middle in bf16 (not before quantising it to e4m3).
__global__ void gate(const float* first, float* middle, int width, bool round, long items) {
  const long i = item();
  if (i >= items) return;
  const float g = first[i / width * 2 * width + i % width], up = first[i / width * 2 * width + width + i % width];
  const float v = up * g / (1 + expf(-g));
  middle[i] = round ? __bfloat162float(__float2bfloat16(v)) : v;
}

__global__ void sum_choices(ExpertShape s, const float* ids, const float* shares, const float* out, bf16* y,
                            long items) {
  const long i = item();
  if (i >= items) return;
  const long t = i / s.hidden;
  float sum = 0;
  for (int j = 0; j < s.topk; ++j) {
    const int expert = static_cast<int>(ids[t * s.topk + j]) - s.first_expert;
    if (expert >= 0 && expert < s.local_experts)
      sum += shares[t * s.topk + j] * out[(t * s.topk + j) * s.hidden + i % s.hidden];
  }
  y[i] = __float2bfloat16(sum);
}

__global__ void attention_kernel(Attention a, const bf16* q, const bf16* k, const bf16* v, bf16* y, float* scores) {
  const long row = blockIdx.x;
  const int head = static_cast<int>(row % a.heads), query = static_cast<int>(row / a.heads % a.queries);
  const long cache = row / a.heads / a.queries * a.sequence_stride + head / (a.heads / a.kv_heads) * a.head_stride;
  const int sees = a.context - (a.queries - 1 - query);
  float* s = scores + row * a.context;
  for (int t = static_cast<int>(threadIdx.x); t < sees; t += static_cast<int>(blockDim.x)) {
    float sum = 0;
    for (int j = 0; j < a.score_dim; ++j) sum += __bfloat162float(q[row * a.score_dim + j]) * __bfloat162float(k[cache + t * a.token_stride + j]);
    s[t] = sum * a.scale;
  }
  __syncthreads();
  float top = -INFINITY, total = 0;
  for (int t = 0; t < sees; ++t) top = fmaxf(top, s[t]);
  for (int t = 0; t < sees; ++t) total += expf(s[t] - top);
  for (int c = static_cast<int>(threadIdx.x); c < a.value_dim; c += static_cast<int>(blockDim.x)) {
    float sum = 0;
    for (int t = 0; t < sees; ++t) sum += expf(s[t] - top) * __bfloat162float(v[cache + t * a.token_stride + c]);
    y[row * a.value_dim + c] = __float2bfloat16(sum / total);
  }
}

__global__ void rmsnorm_kernel(const bf16* x, const bf16* w, bf16* y, int cols) {
  const long row = static_cast<long>(blockIdx.x) * cols;
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += __bfloat162float(x[row + c]) * __bfloat162float(x[row + c]);
  const float scale = 1 / sqrtf(sum / static_cast<float>(cols) + 1e-6f);
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += static_cast<int>(blockDim.x))
    y[row + c] = __float2bfloat16(__bfloat162float(x[row + c]) * scale * __bfloat162float(w[c]));
}

__global__ void softmax_kernel(const float* x, float* y, int vocab) {
  const long row = static_cast<long>(blockIdx.x) * vocab;
  float top = -INFINITY, sum = 0;
  for (int c = 0; c < vocab; ++c) top = fmaxf(top, x[row + c]);
  for (int c = 0; c < vocab; ++c) sum += expf(x[row + c] - top);
  for (int c = static_cast<int>(threadIdx.x); c < vocab; c += static_cast<int>(blockDim.x)) y[row + c] = expf(x[row + c] - top) / sum;
}

__global__ void argmax_kernel(const float* x, int* ids, int rows, int vocab) {
  const int row = static_cast<int>(item());
  if (row >= rows) return;
  int best = 0;
  for (int c = 1; c < vocab; ++c)
    if (x[static_cast<long>(row) * vocab + c] > x[static_cast<long>(row) * vocab + best]) best = c;
  ids[row] = best;
}

/// One thread per column of a value head's state.
__global__ void delta_kernel(DeltaShape s, const bf16* q, const bf16* k, const bf16* v, const float* g,
                             const float* beta, float* state, bf16* y) {
  constexpr int kDim = 128;
  const long head = blockIdx.x, row = head / s.v_heads, key = (row * s.k_heads + head % s.v_heads * s.k_heads / s.v_heads) * kDim;
  const int c = static_cast<int>(threadIdx.x);
  float* cell = state + head * kDim * kDim + c;
  float seen = 0, out = 0;
  for (int r = 0; r < kDim; ++r) {
    cell[r * kDim] *= expf(g[head]);
    seen += cell[r * kDim] * __bfloat162float(k[key + r]);
  }
  const float change = beta[head] * (__bfloat162float(v[head * kDim + c]) - seen);
  for (int r = 0; r < kDim; ++r) {
    cell[r * kDim] += __bfloat162float(k[key + r]) * change;
    out += cell[r * kDim] * __bfloat162float(q[key + r]);
  }
  y[head * kDim + c] = __float2bfloat16(out);
}

}  // namespace

void gemm(cudaStream_t stream, const bf16* x, const Matrix& w, bf16* y, int m, int n, int k, float x_quantum) {
  const long items = static_cast<long>(m) * n;
  gemm_kernel<<<blocks_for(items), 128, 0, stream>>>(x, w, y, n, k, x_quantum, items);
  BENCH_CHECK_LAUNCH();
}

void per_head(cudaStream_t stream, const bf16* x, const bf16* w, bf16* y, int tokens, int heads, int n, int k) {
  const long items = static_cast<long>(tokens) * heads * n;
  per_head_kernel<<<blocks_for(items), 128, 0, stream>>>(x, w, y, heads, n, k, items);
  BENCH_CHECK_LAUNCH();
}

void experts(cudaStream_t stream, const ExpertShape& s, const bf16* x, const float* logits, const Matrix& w13,
             const Matrix& w2, bf16* y, float* scratch) {
  const long rows = static_cast<long>(s.tokens) * s.topk, i = s.intermediate;
  float *ids = scratch, *shares = ids + rows, *first = shares + rows, *middle = first + rows * 2 * i, *out = middle + rows * i;
  choose<<<blocks_for(s.tokens), 128, 0, stream>>>(s, logits, ids, shares);
  expert_gemm<<<blocks_for(rows * 2 * i), 128, 0, stream>>>(s, ids, nullptr, x, w13, 2 * s.intermediate, s.hidden, first, rows * 2 * i);
  gate<<<blocks_for(rows * i), 128, 0, stream>>>(first, middle, s.intermediate, w13.format != Format::fp8, rows * i);
  expert_gemm<<<blocks_for(rows * s.hidden), 128, 0, stream>>>(s, ids, middle, nullptr, w2, s.hidden, s.intermediate, out, rows * s.hidden);
  const long items = static_cast<long>(s.tokens) * s.hidden;
  sum_choices<<<blocks_for(items), 128, 0, stream>>>(s, ids, shares, out, y, items);
  BENCH_CHECK_LAUNCH();
}

void attention(cudaStream_t stream, const Attention& a, const bf16* q, const bf16* k, const bf16* v, bf16* y,
               float* scores) {
  attention_kernel<<<static_cast<unsigned>(a.sequences * a.queries * a.heads), 128, 0, stream>>>(a, q, k, v, y, scores);
  BENCH_CHECK_LAUNCH();
}

void rmsnorm(cudaStream_t stream, const bf16* x, const bf16* weight, bf16* y, int rows, int cols) {
  rmsnorm_kernel<<<static_cast<unsigned>(rows), 128, 0, stream>>>(x, weight, y, cols);
  BENCH_CHECK_LAUNCH();
}
void softmax(cudaStream_t stream, const float* x, float* y, int rows, int vocab) {
  softmax_kernel<<<static_cast<unsigned>(rows), 128, 0, stream>>>(x, y, vocab);
  BENCH_CHECK_LAUNCH();
}
void argmax(cudaStream_t stream, const float* x, int* ids, int rows, int vocab) {
  argmax_kernel<<<blocks_for(rows), 128, 0, stream>>>(x, ids, rows, vocab);
  BENCH_CHECK_LAUNCH();
}
void delta_update(cudaStream_t stream, const DeltaShape& s, const bf16* q, const bf16* k, const bf16* v,
                  const float* g, const float* beta, float* state, bf16* y) {
  delta_kernel<<<static_cast<unsigned>(s.rows * s.v_heads), 128, 0, stream>>>(s, q, k, v, g, beta, state, y);
  BENCH_CHECK_LAUNCH();
}

}  // namespace moe::bench::reference
