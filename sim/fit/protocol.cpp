#include "fit/protocol.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace moe {
namespace {

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const OpClass& c : op_classes()) names.emplace_back(c.name);
  return names;
}

/// A list of `column=value,column=value`.
void bind_shapes(Fields& f, const std::string& key, std::vector<Where>& into, const std::string& help) {
  std::vector<std::string> texts;
  f.texts(key, texts, Need::optional, help);
  for (const std::string& text : texts) {
    try {
      into.push_back(parse_where(text));
    } catch (const InputError& e) {
      f.error(key, e.what());
    }
  }
}

void bind_path(Fields& f, PathProtocol& p) {
  int op = 0;
  f.choice("op", op, op_names(), Need::required, "op class");
  p.op = static_cast<Op>(op);
  f.text("rows", p.rows, Need::required, "pattern of the path column, `*` stands for anything");
  f.text("dtype", p.dtype, Need::optional, "pattern of the tags, joined by `/`");
  f.text("name", p.name, Need::optional, "path in the profile; {engine}, {path} and {dtype} are filled in");
  f.text("format", p.format, Need::optional, "number format, where it is not called like the dtype");
  f.number("copies", p.copies, Need::optional, Range::not_negative(),
           "sets of weights used in turn; 0: nothing is used twice (cold)");
  f.number("fill_l2", p.fill_l2, Need::optional, Range::not_negative(),
           "as many sets as fit into L2, at most this many");
  f.text("skip", p.skip, Need::optional, "why these rows are not used");
  f.flag("clamped", p.clamped, Need::optional, "remote experts' rows were folded onto local expert 0");
  bind_shapes(f, "ungated", p.ungated, "column=value: shapes without a gate matrix");
  bind_shapes(f, "only", p.only, "column=value: the entry is for these shapes; others look further");
  bind_shapes(f, "exclude", p.exclude, "column=value: shapes that are not used");
  f.texts("includes", p.parts, Need::optional, "what the time contains besides the kernel");
}

std::string joined(const std::vector<std::string>& tags) {
  std::string text;
  for (const auto& t : tags) text += (text.empty() ? "" : "/") + t;
  return text;
}

std::string default_name(const Series& s) {
  const std::string engine = s.path.substr(0, s.path.find('/'));
  switch (s.op) {
    case Op::gqa: return s.path + "/gqa/kv_" + s.tags[0];
    case Op::mla: return s.path + "/mla/kv_" + s.tags[0];
    case Op::mla_module:
      return s.path + "/mla_module/" + s.tags[0].substr(s.tags[0].find_last_of('/') + 1) + "/" + s.tags[2] + "/kv_" + s.tags[1];
    case Op::bmm: return engine + "/mla_bmm/" + s.tags[1];
    case Op::cast: return engine + (s.tags[0] == "scale_matrix" ? "/cast_" + s.tags[1] : "/absmax");
    case Op::linear: return s.path;
    case Op::small: return engine + "/" + s.tags[0];
    case Op::dsa: return s.path + "/" + s.tags[0] + (s.tags[0] == "sparse_mla" ? "/kv_" + s.tags[1] : "");
    default: return s.path + "/" + s.tags[0];
  }
}

void replace(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

}  // namespace

bool fits(const std::string& pattern, const std::string& text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return pattern == text;
  if (text.size() < star || text.compare(0, star, pattern, 0, star) != 0) return false;
  const std::string rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= text.size(); ++at)
    if (fits(rest, text.substr(at))) return true;
  return false;
}

void bind_protocol(Fields& f, Protocol& p) {
  int schema = 1;
  f.integer("schema", schema, Need::required, Range::between(1, 1), "version of this file's format");
  f.texts("sources", p.sources, Need::required, "where the measurements come from, one sentence each");
  f.integer("hold_out", p.hold_out, Need::optional, Range::at_least(2),
            "one shape of this many is not fitted");
  f.named("formats", Need::required, "number formats by name", [&](Fields& g, const std::string& name) {
    Format& format = p.formats[name];
    g.number("bytes_per_weight", format.bytes_per_weight, Need::required, Range::positive(),
             "scales included");
    g.number("bytes_per_activation", format.bytes_per_activation, Need::required, Range::positive(),
             "scales included");
    g.choice("compute", format.compute, {"bf16", "fp8", "fp4"}, Need::required, "format of the multiply");
    g.flag("quantises", format.quantises, Need::optional, "the time contains quantising the activations");
  });
  f.named("models", Need::optional, "sizes of MLA blocks by model name", [&](Fields& g, const std::string& name) {
    MlaModel& m = p.models[name];
    const auto size = [&](const char* key, double& into, const char* help) {
      g.number(key, into, Need::required, Range::positive(), help);
    };
    size("hidden", m.hidden, "width of the layer");
    size("q_lora_rank", m.q_lora_rank, "rank of the query projection");
    size("kv_lora_rank", m.kv_lora_rank, "rank of the latent");
    size("qk_rope_head_dim", m.qk_rope_head_dim, "rotary part of a head");
    size("qk_nope_head_dim", m.qk_nope_head_dim, "other part of a head");
    size("v_head_dim", m.v_head_dim, "of a head's output");
  });
  f.section("score", Need::optional, "sizes that are fitted and scored, by op", [&](Fields& g) {
    for (const OpClass& c : op_classes())
      g.section(c.name, Need::optional, "[low, high] by column", [&](Fields& h) {
        std::vector<std::string> columns = c.sizes;
        if (c.op == Op::gqa) columns.emplace_back("group");
        for (const std::string& column : columns) {
          std::vector<double> ends;
          h.numbers(column, ends, Unit::number, Need::optional, Range::not_negative(), "[low, high]");
          if (ends.size() == 2)
            p.score[c.name][column] = {ends[0], ends[1]};
          else if (!ends.empty())
            h.error(column, "write it like `[1, 512]`");
        }
      });
  });
  f.list("paths", Need::optional, "facts by path; the first entry that fits applies",
         [&](Fields& g, std::size_t) {
           PathProtocol path;
           bind_path(g, path);
           p.paths.push_back(path);
         });
}

Protocol load_protocol(const std::string& file) {
  Diagnostics out;
  Protocol p;
  const Document document = load_document(file, out);
  p.file = file;
  p.hash = document.hash;
  read_map(document.root, "", out, [&](Fields& f) { bind_protocol(f, p); });
  if (out.has_errors()) throw InputError(out);
  return p;
}

namespace {

/// `suite` when every path is suite-1/..., suite-2/...; "" when engines differ.
std::string engine_of(const Measurements& m) {
  std::string engine;
  for (const Series& s : m.series) {
    const std::string its = s.path.substr(0, s.path.find_first_of("-/"));
    if (!engine.empty() && its != engine) return "";
    engine = its;
  }
  return engine;
}

}  // namespace

Protocol find_protocol(const Measurements& m, const std::string& given, const std::string& profile_folder) {
  namespace fs = std::filesystem;
  if (!given.empty()) return load_protocol(fs::path(given).lexically_normal().string());
  std::vector<fs::path> places{fs::path(m.folder) / "protocol.yaml"};
  std::vector<fs::path> folders{fs::path(profile_folder) / ".." / "protocols", "calibration/protocols"};
  if (const char* data = std::getenv("MOE_SIM_DATA"); data != nullptr)
    folders.push_back(fs::path(data) / "calibration/protocols");
  const std::string engine = engine_of(m);
  for (const std::string& name : {engine, std::string("default")})
    if (!name.empty())
      for (const fs::path& folder : folders) places.push_back(folder / (name + ".yaml"));
  for (const fs::path& place : places)
    if (fs::exists(place)) return load_protocol(place.lexically_normal().string());
  throw InputError(
      fmt::format("no measurement protocol for `{}`\n  = help: give --protocol FILE, or write {}", m.folder,
                  (fs::path(m.folder) / "protocol.yaml").string()));
}

std::vector<const PathProtocol*> Protocol::rules_of(const Series& s) const {
  static const PathProtocol plain{};
  const std::string tags = joined(s.tags);
  std::vector<const PathProtocol*> rules;
  for (const PathProtocol& p : paths)
    if (p.op == s.op && fits(p.rows, s.path) && fits(p.dtype, tags)) {
      rules.push_back(&p);
      if (p.only.empty()) return rules;
    }
  rules.push_back(&plain);
  return rules;
}

const PathProtocol& Protocol::of(const Series& s, const Point& p) const {
  const std::vector<const PathProtocol*> rules = rules_of(s);
  for (const PathProtocol* rule : rules)
    if (std::any_of(rule->only.begin(), rule->only.end(), [&](const Where& w) { return w.matches(s.op, p); }))
      return *rule;
  return *rules.back();
}

Format Protocol::format(const std::string& dtype) const {
  const auto found = formats.find(dtype);
  if (found != formats.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, format] : formats) known.push_back(name);
  throw InputError(fmt::format("the protocol `{}` has no format `{}`\n  = help: {}", file, dtype,
                               suggestion(dtype, known)));
}

const MlaModel& Protocol::model(const std::string& name) const {
  const auto found = models.find(name);
  if (found != models.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [key, model] : models) known.push_back(key);
  throw InputError(fmt::format("the protocol `{}` has no model `{}`\n  = help: its sizes go under `models`; {}", file,
                               name, suggestion(name, known)));
}

bool Protocol::scored(const Series& s, const Point& p) const {
  const OpClass& c = op_class(s.op);
  for (const Where& where : of(s, p).exclude)
    if (where.matches(s.op, p)) return false;
  const auto limits = score.find(c.name);
  if (limits == score.end()) return true;
  for (const auto& [column, ends] : limits->second) {
    const auto at =
        static_cast<std::size_t>(std::find(c.sizes.begin(), c.sizes.end(), column) - c.sizes.begin());
    const double value = column == "group" ? p.size[2] / p.size[3] : p.size[at];
    if (value < ends.first || value > ends.second) return false;
  }
  return true;
}

std::string path_name(const PathProtocol& rule, const Series& s) {
  std::string name = rule.name;
  if (name.empty()) return default_name(s);
  replace(name, "{engine}", s.path.substr(0, s.path.find('/')));
  replace(name, "{path}", s.path);
  replace(name, "{dtype}", s.tags.empty() ? "" : s.tags.back());
  return name;
}

}  // namespace moe
