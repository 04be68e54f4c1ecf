// A CUDA graph that frees itself, and how long its replays take.
#pragma once
#include <cuda_runtime_api.h>

#include <functional>
#include <vector>

namespace moe::bench {

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Graph {
 public:
  /// Captures what `body` launches on the stream.
  Graph(cudaStream_t stream, const std::function<void(cudaStream_t)>& body);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  /// Microseconds from event to event around each of `times` replays, launched back to back.
  std::vector<double> replay(cudaStream_t stream, int times) const;
  std::size_t nodes() const { return nodes_; }

 private:
  cudaGraphExec_t exec_ = nullptr;
  std::size_t nodes_ = 0;
};

}  // namespace moe::bench
