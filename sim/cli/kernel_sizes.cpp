#include <fmt/core.h>

#include <charconv>

#include "cli/kernel_ops.hpp"

namespace moe {

const std::vector<std::pair<std::string, std::string>>& kernel_sizes() {
  static const std::vector<std::pair<std::string, std::string>> sizes{
      {"m", "rows"},
      {"n", "columns"},
      {"k", "inner size, or width of a cast"},
      {"tokens", "of the batch that routes together; elsewhere the rows (m) or the sequences"},
      {"hidden", "input width of the experts"},
      {"intermediate", "width of a whole expert"},
      {"topk", "experts per token"},
      {"experts", "of the layer"},
      {"tp", "an expert is cut into so many parts"},
      {"ep", "experts are spread over so many GPUs"},
      {"sequences", "that decode together"},
      {"context", "cached tokens, the new one included"},
      {"queries", "query tokens per sequence"},
      {"heads", "on one GPU"},
      {"kv-heads", "on one GPU"},
      {"head-dim", "of a head"},
      {"k-dim", "of a state"},
      {"v-dim", "of a state"},
      {"channels", "of a convolution, on one GPU"},
      {"x", "see the path's x_unit"},
      {"bytes", "see the path's bytes_of"}};
  return sizes;
}

std::vector<double> sweep_values(const std::string& text) {
  const auto number = [&](const std::string& t) {
    double v = 0;
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), v);
    if (error != std::errc{} || end != t.data() + t.size() || v <= 0)
      throw InputError(
          fmt::format("`{}` is not a sweep\n  = help: 1..512, 1..512x4, 8..64+8 or 1,2,5", text));
    return v;
  };
  std::vector<double> values;
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t comma = std::min(text.find(',', begin), text.size());
      values.push_back(number(text.substr(begin, comma - begin)));
      begin = comma + 1;
    }
    return values;
  }
  const std::size_t step_at = text.find_first_of("x+", dots);
  const double low = number(text.substr(0, dots)),
               high =
                   number(text.substr(dots + 2, step_at == std::string::npos ? step_at : step_at - dots - 2));
  const double step = step_at == std::string::npos ? 2 : number(text.substr(step_at + 1));
  const bool adds = step_at != std::string::npos && text[step_at] == '+';
  if (!adds && step <= 1) throw InputError("a factor of a sweep is greater than 1");
  for (double v = low; v <= high * (1 + 1e-9); v = adds ? v + step : v * step) values.push_back(v);
  return values;
}

}  // namespace moe
