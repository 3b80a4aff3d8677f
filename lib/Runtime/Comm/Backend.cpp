//===- Backend.cpp - The backends of this process -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Comm/BackendTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Comm/Backend.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt {

/// Made when the first backend announces itself, whatever the order in which
/// the files of a program are initialised.
static std::vector<const Backend *> &backends() {
  static std::vector<const Backend *> list;
  return list;
}

BackendRegistration::BackendRegistration(std::unique_ptr<Backend> given)
    : backend(std::move(given)) {
  backends().push_back(backend.get());
}

BackendRegistration::~BackendRegistration() {
  std::vector<const Backend *> &list = backends();
  list.erase(std::remove(list.begin(), list.end(), backend.get()), list.end());
}

/// In order of the alphabet, whatever the order in which they were linked.
static std::string listTargets() {
  std::vector<std::string_view> names;
  for (const Backend *backend : backends()) {
    names.push_back(backend->target());
  }
  std::sort(names.begin(), names.end());
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

Result<const Backend *> findBackend(std::string_view target) {
  for (const Backend *backend : backends()) {
    if (backend->target() == target) {
      return backend;
    }
  }
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected a plan for a target of this build "
                               "({}), got '{}'",
                               listTargets(), target));
}

} // namespace llmc::rt
