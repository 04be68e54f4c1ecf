// Which files were read already? A sweep asks for thousands of cases that name the same few files; every file is read
// and checked once, then copied from memory.
//
//   CaseCache cache;                                              // may be shared between threads
//   load_case("a.yaml", {{"plan.tp", "4"}}, warnings, &cache);    // reads a.yaml and all that it names
//   load_case("a.yaml", {{"plan.tp", "8"}}, warnings, &cache);    // reads nothing
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "config/document.hpp"
#include "cost/profile.hpp"
#include "machine/machine.hpp"
#include "model/model.hpp"
#include "stack/stack.hpp"

namespace moe {

/// Values by key, made once. A value that was made with errors is not kept, so every asker hears them.
template <class Value>
class Memo {
 public:
  /// `make(diagnostics)` reads the value; its warnings reach the first asker only.
  template <class Make>
  std::shared_ptr<const Value> get(const std::string& key, Diagnostics& out, Make make) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = values_.find(key);
      if (found != values_.end()) return found->second;
    }
    Diagnostics own;
    auto value = std::make_shared<const Value>(make(own));
    const bool good = !own.has_errors();
    out.merge(own);
    const std::lock_guard lock(mutex_);
    return good ? values_.emplace(key, value).first->second : value;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Value>> values_;
};

struct MachineAndRoutes {
  std::shared_ptr<const Machine> machine;
  std::shared_ptr<const Routes> routes;  ///< null when the machine has errors
};

struct CaseCache {
  Memo<Document> documents;       ///< by path
  Memo<std::string> paths;        ///< by folder and name: where the file is
  Memo<Model> models;             ///< by path
  Memo<MachineAndRoutes> machines;
  Memo<Profile> profiles;
  Memo<Stack> stacks;             ///< by path and the changes made to it
};

}  // namespace moe
