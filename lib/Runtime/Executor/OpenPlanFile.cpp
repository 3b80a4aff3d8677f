//===- OpenPlanFile.cpp - A session of a plan file ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a session offers beside its interface. Tested by test/Runtime/Executor.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Config/Sources.h"
#include "llmc/Runtime/Executor/Session.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"

namespace llmc::rt {

Status Session::useData(const std::string &name, const std::string &given,
                        std::optional<DType> dtype) {
  return useFiles({name, splitPatterns(given), dtype});
}

std::optional<double> Session::metric(std::string_view name) const {
  for (const NamedValue &value : metrics()) {
    if (value.name == name) {
      return value.value;
    }
  }
  return std::nullopt;
}

Result<std::unique_ptr<Session>> openPlanFile(const std::string &planOrFolder,
                                              SessionOptions options) {
  std::string path = plan::planFileOf(planOrFolder);
  Result<plan::Plan> plan = plan::readPlan(path);
  if (!plan) {
    return plan.status().at(path);
  }
  size_t slash = path.rfind('/');
  options.folder = slash == std::string::npos ? "." : path.substr(0, slash);
  return Session::open(*std::move(plan), options);
}

} // namespace llmc::rt
