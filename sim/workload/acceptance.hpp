// How many tokens does a step with drafts yield? Acceptance is a property of draft, target and text: an input.
//
//   survival S_i      share of steps in which drafts 1..i were all accepted; what engines print per position
//   acceptance length 1 + S_1 + ... + S_k, the bonus token counted (vLLM, SGLang: "mean acceptance length")
//   P(n accepted)     S_n - S_(n+1): the first rejection ends a step (Leviathan et al. 2023, arXiv 2211.17192)
//
// A mean length alone stands for a constant conditional probability a with 1 + a + ... + a^k = length; so does a
// recorded list beyond its last position, with the last conditional probability. Example: 73.9, 48.7, 30.4 % give
// 2.53 tokens per step with three drafts, 1.74 with one.
//
// Sequences differ. With a standard deviation `spread` of the length from one sequence to another, a batch that is
// refilled serves N tokens per sequence in N E[1/length] steps (harmonic mean: slow sequences stay longer), and a
// batch that is not refilled ends with its slowest sequence (batch drain).
#pragma once
#include <string>
#include <vector>

namespace moe {

/// Acceptance up to a batch size, where it depends on it.
struct BatchAcceptance {
  int max_batch = 0;
  double mean_length = 0;
  std::vector<double> per_position;
};

struct Acceptance {
  std::vector<double> per_position;  ///< survival S_1, S_2, ...
  double mean_length = 0;            ///< 0: not given
  int drafts = 0;                    ///< that mean_length was measured with; 0: the k of the run
  double low = 0, high = 0;          ///< 90 % interval of the mean length; 0: taken as exact
  double spread = 0;                 ///< standard deviation of the mean length between sequences
  std::vector<BatchAcceptance> by_batch;
  std::string trace, library, source;
  bool given() const { return mean_length > 0 || !per_position.empty() || !by_batch.empty(); }
};

/// S_1 .. S_k for a batch of `batch` sequences. `k_of_run` stands in where the file does not say with how many drafts a
/// mean length was measured.
std::vector<double> survival(const Acceptance& a, int k, int batch, int k_of_run);
/// 1 + sum of S_i.
double acceptance_length(const std::vector<double>& survival);
/// a in [0, 1] with 1 + a + ... + a^drafts = length.
double conditional_probability(double length, int drafts);
/// P(0 accepted), ..., P(k accepted).
std::vector<double> accepted_distribution(const std::vector<double>& survival);
/// Harmonic mean over sequences, lengths normal with `spread`, cut to [1, k + 1].
double served_length(double length, double spread, int k);
/// Median length of the slowest of `batch` sequences: quantile 1 - 0.5^(1/batch) from below.
double slowest_length(double length, double spread, int k, int batch);

/// Reads a recorded trace: CSV with a column `accepted` (drafts accepted in one step) and optionally `sequence`, which
/// gives the spread. "" or what is wrong.
std::string read_acceptance_trace(const std::string& file, Acceptance& into);

}  // namespace moe
