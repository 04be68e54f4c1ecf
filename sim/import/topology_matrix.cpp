// nvidia-smi topo -m. What a paste may have gone through is undone first: colours (with or without the escape
// character), prompts, lost leading tabs, `#` or quote marks before lines, tabs turned into blanks.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

#include "import/sketch.hpp"

namespace moe {
namespace {

constexpr int kMostNvlinks = 18;  ///< of one GPU; more in a row of the matrix: they go through switches

struct Line {
  int number = 0;
  std::vector<std::string> words;
};

std::string without_colours(const std::string& line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::size_t bracket = line[i] == '\033' ? i + 1 : i;
    if (bracket < line.size() && line[bracket] == '[') {
      const std::size_t end = line.find_first_not_of("0123456789;", bracket + 1);
      if (end != std::string::npos && line[end] == 'm' && (line[i] == '\033' || end > bracket + 1)) {
        i = end;
        continue;
      }
    }
    if (line[i] != '\r') out += line[i];
  }
  return out;
}

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream in(text);
  std::string raw;
  for (int number = 1; std::getline(in, raw); ++number) {
    std::istringstream words(without_colours(raw));
    Line line{number, {}};
    for (std::string w; words >> w;)
      if (!(line.words.empty() && (w == "#" || w == "|" || w == ">"))) line.words.push_back(w);
    lines.push_back(std::move(line));
  }
  return lines;
}

bool is_numbered(const std::string& word, const std::string& prefix) {
  return word.size() > prefix.size() && word.starts_with(prefix) &&
         std::all_of(word.begin() + std::ptrdiff_t(prefix.size()), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}
bool is_gpu(const std::string& word) { return is_numbered(word, "GPU"); }

/// How near two GPUs are, from near to far; nvlink says nothing about PCIe.
enum class Near { self, pix, pxb, phb, node, sys, nvlink, unknown };
Near near_of(const std::string& cell) {
  static const std::map<std::string, Near> known{{"X", Near::self},   {"PIX", Near::pix},   {"PXB", Near::pxb},
                                                 {"PHB", Near::phb},  {"NODE", Near::node}, {"SOC", Near::sys},
                                                 {"SYS", Near::sys}};
  if (is_numbered(cell, "NV")) return Near::nvlink;
  const auto found = known.find(cell);
  return found == known.end() ? Near::unknown : found->second;
}

struct Row {
  int line = 0;
  std::vector<std::string> cells;
  std::string affinity, numa;
};

struct Matrix {
  std::vector<std::string> gpus;
  std::size_t others = 0;        ///< columns of NICs
  std::map<std::string, Row> rows;
  const std::string& cell(std::size_t a, std::size_t b) const { return rows.at(gpus[a]).cells[b]; }
};

/// The header: GPU0 GPU1 ... and no cell between them.
const Line* header_of(const std::vector<Line>& lines) {
  for (const Line& l : lines)
    if (!l.words.empty() && is_gpu(l.words[0]) && (l.words.size() < 2 || near_of(l.words[1]) == Near::unknown))
      return &l;
  return nullptr;
}

/// What stands right of the device columns: CPU affinity, then the NUMA node; or free text "NUMA 1".
void read_tail(const Line& line, std::size_t from, Row& row) {
  std::vector<std::string> tail(line.words.begin() + std::ptrdiff_t(std::min(from, line.words.size())), line.words.end());
  if (tail.size() >= 2 && tail[0] == "NUMA") row.numa = tail[1];
  else if (tail.size() >= 2 && tail[1] != "N/A") row.affinity = tail[0], row.numa = tail[1];
  else if (!tail.empty()) row.affinity = tail[0];
}

void read_rows(const std::vector<Line>& lines, const Line& header, const std::string& file, Matrix& m, Diagnostics& out) {
  for (const Line& l : lines) {
    if (l.number <= header.number || l.words.empty() || !is_gpu(l.words[0])) continue;
    const auto column = std::find(m.gpus.begin(), m.gpus.end(), l.words[0]);
    if (column == m.gpus.end() || m.rows.count(l.words[0]) != 0) {
      out.error(fmt::format("`{}` {}", l.words[0], column == m.gpus.end() ? "has no column" : "has two rows"),
                {file, l.number, 1, 1});
      continue;
    }
    if (l.words.size() < m.gpus.size() + 1) {
      out.error(fmt::format("the row of `{}` has {} of {} GPU cells", l.words[0], l.words.size() - 1, m.gpus.size()),
                {file, l.number, 1, 1}, "", "the paste is cut; copy the whole output");
      continue;
    }
    Row row;
    row.line = l.number;
    row.cells.assign(l.words.begin() + 1, l.words.begin() + 1 + std::ptrdiff_t(m.gpus.size()));
    read_tail(l, 1 + m.gpus.size() + m.others, row);
    m.rows[l.words[0]] = row;
  }
  for (const std::string& g : m.gpus)
    if (m.rows.count(g) == 0 && !out.has_errors())
      out.error(fmt::format("`{}` has no row", g), {file, header.number, 1, 1}, "", "the paste is cut; copy the whole output");
}

void check_cells(const Matrix& m, const std::string& file, Diagnostics& out) {
  for (std::size_t a = 0; a < m.gpus.size(); ++a)
    for (std::size_t b = 0; b < m.gpus.size(); ++b) {
      const std::string& cell = m.cell(a, b);
      const Place place{file, m.rows.at(m.gpus[a]).line, 1, 1};
      const Near near = near_of(cell);
      if (near == Near::unknown)
        return out.error(fmt::format("`{}` is not a connection of `nvidia-smi topo -m`", cell), place, "",
                         "OK, NS, CNS, GNS and the like come from `topo -p2p`, which says nothing about the tree");
      if ((a == b) != (near == Near::self))
        return out.error(fmt::format("{} to {} is `{}`", m.gpus[a], m.gpus[b], cell), place, "",
                         "the diagonal, and only it, is X: is a column missing?");
      if (cell != m.cell(b, a))
        return out.error(fmt::format("{} to {} is `{}`, but {} to {} is `{}`", m.gpus[a], m.gpus[b], cell, m.gpus[b],
                                     m.gpus[a], m.cell(b, a)), place);
    }
}

Matrix read_matrix(const std::string& text, const std::string& file, Diagnostics& out) {
  Matrix m;
  const std::vector<Line> lines = lines_of(text);
  const Line* header = header_of(lines);
  if (header == nullptr) {
    out.error("there is no matrix of GPUs in this file", {file, 0, 0, 1}, "", "expected the output of `nvidia-smi topo -m`");
    return m;
  }
  for (const std::string& w : header->words) {
    if (is_gpu(w)) m.gpus.push_back(w);
    else if (w == "CPU" || w == "NUMA" || w == "Affinity" || w == "GPU") break;
    else ++m.others;
  }
  read_rows(lines, *header, file, m, out);
  if (!out.has_errors()) check_cells(m, file, out);
  return m;
}

/// Groups by a relation between GPUs; numbers the groups in the order of their first GPU.
template <class Related>
std::vector<int> groups_of(std::size_t n, Related related) {
  std::vector<std::size_t> root(n);
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (root[i] != i) i = root[i];
    return i;
  };
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b)
      if (related(a, b)) root[std::max(find(a), find(b))] = std::min(find(a), find(b));
  std::map<std::size_t, int> number;
  std::vector<int> group;
  for (std::size_t i = 0; i < n; ++i) {
    const auto [at, is_new] = number.emplace(find(i), static_cast<int>(number.size()));
    group.push_back(at->second);
  }
  return group;
}

/// Where a GPU hangs, as far as NVLink cells let one see it: the NUMA node, or the CPU list.
std::string home(const Row& row) { return !row.numa.empty() && row.numa != "N/A" ? "numa " + row.numa : row.affinity; }

void add_nvlinks(const Matrix& m, Sketch& s) {
  const auto count = [&](std::size_t a, std::size_t b) {
    return near_of(m.cell(a, b)) == Near::nvlink ? std::stoi(m.cell(a, b).substr(2)) : 0;
  };
  for (std::size_t a = 0; a < m.gpus.size(); ++a) {
    int sum = 0, most = 0;
    for (std::size_t b = 0; b < m.gpus.size(); ++b) sum += count(a, b), most = std::max(most, count(a, b));
    if (sum > kMostNvlinks) s.gpus[a].switch_links = most;
  }
  for (std::size_t a = 0; a < m.gpus.size(); ++a)
    for (std::size_t b = a + 1; b < m.gpus.size(); ++b)
      if (count(a, b) > 0 && (s.gpus[a].switch_links == 0 || s.gpus[b].switch_links == 0))
        s.nvlinks.push_back({static_cast<int>(a), static_cast<int>(b), count(a, b)});
  if (s.gpus[0].switch_links > 0)
    s.inferred.push_back(fmt::format("NVSwitch: each GPU shows {} NVLinks to every other one, more than it has",
                                     s.gpus[0].switch_links));
  if (s.gpus[0].switch_links > 0 || !s.nvlinks.empty()) {
    s.assumed_rates.push_back("25 GB/s per NVLink and direction (NVLink 2 to 4; NVLink 5 has 50)");
    s.assumed.push_back("which switches the GPUs' PCIe slots share, since the matrix shows NVLink in its place");
  }
}

/// One switch per group of PIX; groups that reach each other by PXB hang on one upper switch.
void add_switches(const Matrix& m, const std::vector<int>& complex_of, Sketch& s) {
  const std::size_t n = m.gpus.size();
  const auto near = [&](std::size_t a, std::size_t b) { return near_of(m.cell(a, b)); };
  const std::vector<int> pix = groups_of(n, [&](auto a, auto b) { return near(a, b) == Near::pix; });
  const std::vector<int> pxb = groups_of(n, [&](auto a, auto b) { return near(a, b) == Near::pix || near(a, b) == Near::pxb; });
  std::map<int, int> upper, leaf;
  for (std::size_t g = 0; g < n; ++g) {
    bool shares_upper = false;
    for (std::size_t other = 0; other < n; ++other)
      shares_upper = shares_upper || (pxb[other] == pxb[g] && pix[other] != pix[g]);
    const bool shares_leaf = std::count(pix.begin(), pix.end(), pix[g]) > 1;
    if (shares_upper && upper.count(pxb[g]) == 0) {
      upper[pxb[g]] = static_cast<int>(s.switches.size());
      s.switches.push_back({-1, complex_of[g], 0});
    }
    if (!shares_leaf && !shares_upper) continue;
    if (leaf.count(pix[g]) == 0) {
      leaf[pix[g]] = static_cast<int>(s.switches.size());
      s.switches.push_back({shares_upper ? upper[pxb[g]] : -1, complex_of[g], 0});
    }
    s.gpus[g].parent = leaf[pix[g]];
  }
  if (!leaf.empty()) s.inferred.push_back(fmt::format("{} switches from PIX and PXB cells", s.switches.size()));
  if (!upper.empty()) s.assumed.push_back("switches joined by PXB hang on one upper switch with a single x16 uplink");
}

}  // namespace

Sketch read_topology_matrix(const std::string& text, const std::string& file, Diagnostics& out) {
  Sketch s;
  const Matrix m = read_matrix(text, file, out);
  if (out.has_errors()) return s;
  const std::size_t n = m.gpus.size();
  s.source = fmt::format("{} (nvidia-smi topo -m, {} GPUs)", file, n);
  const auto near = [&](std::size_t a, std::size_t b) { return near_of(m.cell(a, b)); };
  const auto same_home = [&](std::size_t a, std::size_t b) {
    return near(a, b) == Near::nvlink && home(m.rows.at(m.gpus[a])) == home(m.rows.at(m.gpus[b]));
  };
  const std::vector<int> sockets = groups_of(n, [&](auto a, auto b) { return near(a, b) <= Near::node || same_home(a, b); });
  const std::vector<int> complexes = groups_of(n, [&](auto a, auto b) { return near(a, b) <= Near::phb || same_home(a, b); });
  for (std::size_t g = 0; g < n; ++g) {
    s.gpus.push_back({-1, complexes[g], 0, 0, m.gpus[g]});
    if (static_cast<std::size_t>(complexes[g]) == s.socket_of.size()) s.socket_of.push_back(sockets[g]);
  }
  add_switches(m, complexes, s);
  add_nvlinks(m, s);
  s.inferred.push_back(fmt::format("{} socket(s) from SYS cells{}; {} root complexes from NODE cells",
                                   *std::max_element(sockets.begin(), sockets.end()) + 1,
                                   s.nvlinks.empty() && s.gpus[0].switch_links == 0 ? "" : " and NUMA affinity",
                                   s.socket_of.size()));
  s.assumed_rates.push_back("PCIe Gen5 x16 everywhere (56.4 GB/s payload per direction); 50 GB/s between sockets");
  s.assumed.push_back("latencies of other machines");
  if (m.others > 0) s.inferred.push_back(fmt::format("{} NICs are left out", m.others));
  return s;
}

}  // namespace moe
