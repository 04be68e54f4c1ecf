#include <fmt/core.h>

#include <filesystem>

#include "base/check.hpp"
#include "experiment/files.hpp"
#include "experiment/speculation.hpp"
#include "model/load.hpp"

namespace moe {
namespace {

using Method = Speculation::Method;

class DraftLoader {
 public:
  DraftLoader(Case& c, const std::function<Place(const std::string&)>& place, Diagnostics& out)
      : case_(c), place_(place), out_(out) {}

  void load() {
    switch (spec().method) {
      case Method::none:
      case Method::ngram: break;
      case Method::mtp: read_mtp(); break;
      case Method::eagle3:
      case Method::block: read_head(); break;
      case Method::model: read_model(); break;
    }
    read_acceptance();
    if (draft_ != nullptr && !out_.has_errors()) check();
    case_.draft = draft_;
  }

 private:
  Speculation& spec() { return case_.experiment.speculation; }
  void error(const std::string& message, const std::string& key, const std::string& help = {}) {
    out_.error(message, place_("speculation"), "speculation." + key, help);
  }

  std::string find(const char* folder, const std::string& name, const char* key) {
    const std::string found = find_data(folder, name, case_.experiment.file);
    if (found.empty())
      error(fmt::format("no file for {} `{}` in {}", key, name, folder), key, suggestion(name, data_names(folder, case_.experiment.file)));
    return found;
  }

  Document read(const std::string& path) {
    Document doc = load_document(path, out_);
    case_.files.emplace_back(path, doc.hash);
    return doc;
  }

  /// The MTP layer as a model of its own: its blocks, the target's embedding and head, its own number formats.
  void read_mtp() {
    const Model& m = case_.model;
    const Checkpoint& weights = case_.weights();
    if (m.mtp.layers == 0)
      return error(fmt::format("{} ships no MTP layer", m.name), "method", "use `eagle3`, `model` or `ngram`");
    if (!weights.has_mtp) return error(fmt::format("checkpoint `{}` of {} was released without its MTP layer", weights.id, m.name), "method", "choose another checkpoint");
    draft_ = std::make_shared<Draft>();
    draft_->model = m;
    draft_->model.name = m.name + " MTP";
    draft_->model.layers = m.mtp.blocks;
    draft_->model.mtp = {};
    draft_->model.vision_params = 0;
    Checkpoint own = weights;
    own.format = weights.mtp_format;
    const auto head = static_cast<std::size_t>(TensorClass::lm_head);
    if (!m.mtp.own_lm_head) own.format[head] = weights.format[head];
    own.has_vision = own.has_mtp = false;
    draft_->model.checkpoints = {own};
    draft_->copies = m.mtp.layers;
    draft_->fused_states = 2;
    draft_->fused_each_pass = true;
    draft_->own_embedding = m.mtp.own_embed;
    draft_->own_head = m.mtp.own_lm_head;
  }

  void read_head() {
    const std::string path = find(kDrafts, spec().draft, "draft");
    if (path.empty()) return;
    const Document doc = read(path);
    if (out_.has_errors()) return;
    draft_ = std::make_shared<Draft>();
    read_map(doc.root, "", out_, [&](Fields& f) { bind_draft(f, *draft_); });
    draft_->model.name = std::filesystem::path(path).stem().string();
    if (out_.has_errors()) return;
    if (!draft_->target.empty() && draft_->target != case_.model.name)
      out_.warning(fmt::format("draft `{}` was made for {}", spec().draft, draft_->target), place_("speculation"), "speculation.draft");
    if (draft_->model.hidden != case_.model.hidden)
      error(fmt::format("draft `{}` has width {}, {} has {}", spec().draft, draft_->model.hidden, case_.model.name, case_.model.hidden), "draft");
  }

  void read_model() {
    const std::string path = find(kModels, spec().draft, "draft");
    if (path.empty()) return;
    read(path);
    draft_ = std::make_shared<Draft>();
    draft_->model = load_model(path, out_);
    draft_->own_embedding = draft_->own_head = true;
    const auto& all = draft_->model.checkpoints;
    if (spec().checkpoint.empty()) return;
    std::vector<std::string> ids;
    for (const Checkpoint& c : all) ids.push_back(c.id);
    const auto found = std::find(ids.begin(), ids.end(), spec().checkpoint);
    if (found == ids.end()) error(fmt::format("{} has no checkpoint `{}`", draft_->model.name, spec().checkpoint), "checkpoint", suggestion(spec().checkpoint, ids));
    else draft_->checkpoint = static_cast<std::size_t>(found - ids.begin());
  }

  void read_acceptance() {
    Acceptance& a = spec().acceptance;
    if (!a.library.empty()) {
      const std::string path = find(kAcceptance, a.library, "library");
      if (path.empty()) return;
      const std::string name = a.library;
      const Document doc = read(path);
      if (!out_.has_errors()) read_map(doc.root, "", out_, [&](Fields& f) { bind_acceptance_entry(f, a); });
      a.library = name;
    }
    if (a.trace.empty()) return;
    const std::filesystem::path beside = std::filesystem::path(case_.experiment.file).parent_path() / a.trace;
    const std::string problem = read_acceptance_trace(std::filesystem::is_regular_file(beside) ? beside.string() : a.trace, a);
    if (!problem.empty()) error(problem, "acceptance.trace");
  }

  /// What the draft asks of the plan.
  void check() {
    const Plan& plan = case_.experiment.plan;
    const int tp = spec().tp > 0 ? spec().tp : plan.tp;
    if (tp != 1 && tp != plan.tp)
      throw Infeasible("not-simulated-yet", fmt::format("a draft model over {} of {} tensor-parallel ranks is not simulated yet: 1 or all", tp, plan.tp));
    const bool own_layout = spec().method == Method::model;
    for (const Attention& a : draft_->model.attention)
      if (!own_layout && plan.dcp > 1 && a.kind == Attention::Kind::gqa && plan.dcp > std::max(1, plan.tp / a.kv_heads))
        throw Infeasible("not-simulated-yet", fmt::format("a draft with {} KV heads under dcp {} is not simulated yet: its cache cannot be split by token", a.kv_heads, plan.dcp));
    if (own_layout && plan.dcp > 1) throw Infeasible("not-simulated-yet", "a draft model beside a target with dcp above 1 is not simulated yet");
    Plan of_draft = plan;
    of_draft.pp = 1;
    of_draft.stage_layers.clear();
    if (own_layout) of_draft.tp = tp, of_draft.ep = of_draft.moe_ep = of_draft.moe_tp = 1;
    for (const std::string& rule : broken_rules(of_draft, draft_->model, draft_->weights()))
      error("the draft does not fit the plan: " + rule, "draft");
  }

  Case& case_;
  const std::function<Place(const std::string&)>& place_;
  Diagnostics& out_;
  std::shared_ptr<Draft> draft_;
};

}  // namespace

void load_speculation(Case& c, const std::function<Place(const std::string&)>& place, Diagnostics& out) {
  DraftLoader(c, place, out).load();
}

}  // namespace moe
