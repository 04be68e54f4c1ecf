#include "workload/acceptance.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numbers>
#include <sstream>

namespace moe {
namespace {

/// Inverse of the standard normal distribution by bisection of erfc.
double normal_quantile(double p) {
  double lo = -9, hi = 9;
  for (int i = 0; i < 60; ++i) {
    const double mid = (lo + hi) / 2;
    (0.5 * std::erfc(-mid / std::numbers::sqrt2) < p ? lo : hi) = mid;
  }
  return (lo + hi) / 2;
}

std::vector<double> geometric(double ratio, int k, double first = 1) {
  std::vector<double> out;
  for (int i = 0; i < k; ++i) out.push_back(first *= ratio);
  return out;
}

std::vector<double> extended(std::vector<double> s, int k) {
  const double last = s.size() > 1 && s[s.size() - 2] > 0 ? s.back() / s[s.size() - 2] : s.back();
  while (static_cast<int>(s.size()) < k) s.push_back(s.back() * last);
  s.resize(static_cast<std::size_t>(k));
  return s;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) {
    cell.erase(std::remove_if(cell.begin(), cell.end(), [](char c) { return c == ' ' || c == '\r'; }), cell.end());
    out.push_back(cell);
  }
  return out;
}

}  // namespace

double conditional_probability(double length, int drafts) {
  double lo = 0, hi = 1;
  for (int i = 0; i < 60; ++i) {
    const double a = (lo + hi) / 2;
    (acceptance_length(geometric(a, drafts)) < length ? lo : hi) = a;
  }
  return (lo + hi) / 2;
}

std::vector<double> survival(const Acceptance& a, int k, int batch, int k_of_run) {
  double mean = a.mean_length;
  const std::vector<double>* positions = &a.per_position;
  for (const BatchAcceptance& b : a.by_batch)
    if (batch <= b.max_batch) {
      mean = b.mean_length;
      positions = &b.per_position;
      break;
    }
  // Beyond the last entry without a value of its own, the last entry holds.
  if (mean <= 0 && positions->empty() && !a.by_batch.empty())
    mean = a.by_batch.back().mean_length, positions = &a.by_batch.back().per_position;
  if (k <= 0) return {};
  if (!positions->empty()) return extended(*positions, k);
  const int measured = std::max(1, a.drafts > 0 ? a.drafts : k_of_run);
  return geometric(conditional_probability(mean, measured), k);
}

double acceptance_length(const std::vector<double>& s) {
  double length = 1;
  for (const double v : s) length += v;
  return length;
}

std::vector<double> accepted_distribution(const std::vector<double>& s) {
  std::vector<double> out;
  double before = 1;
  for (const double v : s) out.push_back(before - v), before = v;
  out.push_back(before);
  return out;
}

double served_length(double length, double spread, int k) {
  if (spread <= 0) return length;
  constexpr int kSequences = 200;
  double inverse = 0;
  for (int i = 0; i < kSequences; ++i)
    inverse += 1 / std::clamp(length + spread * normal_quantile((i + 0.5) / kSequences), 1.0, k + 1.0);
  return kSequences / inverse;
}

double slowest_length(double length, double spread, int k, int batch) {
  if (spread <= 0) return length;
  const double share = 1 - std::pow(0.5, 1.0 / std::max(1, batch));
  return std::clamp(length + spread * normal_quantile(share), 1.0, k + 1.0);
}

std::string read_acceptance_trace(const std::string& file, Acceptance& into) {
  std::ifstream in(file);
  std::string line;
  if (!in || !std::getline(in, line)) return "cannot read `" + file + "`";
  const std::vector<std::string> names = cells_of(line);
  const auto column = [&](const char* name) { return std::find(names.begin(), names.end(), name) - names.begin(); };
  const auto accepted = column("accepted"), sequence = column("sequence");
  const auto columns = static_cast<std::ptrdiff_t>(names.size());
  if (accepted == columns) return "`" + file + "` has no column `accepted`";
  std::vector<double> at_least;
  std::map<std::string, std::pair<double, double>> by_sequence;  // tokens, steps
  double steps = 0;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty()) continue;
    if (static_cast<std::ptrdiff_t>(cells.size()) < columns) return "`" + file + "`: a row is too short: " + line;
    const int n = std::atoi(cells[static_cast<std::size_t>(accepted)].c_str());
    if (n < 0 || n > 64) return "`" + file + "`: `accepted` is out of range: " + line;
    at_least.resize(std::max(at_least.size(), static_cast<std::size_t>(n)));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) at_least[i] += 1;
    ++steps;
    if (sequence < columns) {
      auto& [tokens, of] = by_sequence[cells[static_cast<std::size_t>(sequence)]];
      tokens += 1 + n, of += 1;
    }
  }
  if (steps == 0) return "`" + file + "` holds no step";
  for (double& v : at_least) v /= steps;
  if (at_least.empty()) at_least.push_back(0);
  into.per_position = at_least;
  double sum = 0, square = 0;
  for (const auto& [name, t] : by_sequence) sum += t.first / t.second, square += std::pow(t.first / t.second, 2);
  const auto n = static_cast<double>(by_sequence.size());
  if (n > 1) into.spread = std::sqrt(std::max(0.0, square / n - std::pow(sum / n, 2)));
  return {};
}

}  // namespace moe
