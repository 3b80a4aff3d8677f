//===- ActionNames.cpp - What reports call instructions -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include <fmt/format.h>

namespace llmc::rt::plan {

std::string nameOfAction(const Plan &plan, const Action &action) {
  if (auto *launch = std::get_if<KernelLaunch>(&action)) {
    return plan.kernels[launch->kernel].name;
  }
  if (auto *collective = std::get_if<Collective>(&action)) {
    std::string axes;
    for (int32_t axis : collective->axes) {
      axes += fmt::format("{}\"{}\"", axes.empty() ? "" : ", ",
                          plan.mesh.axes[axis].name);
    }
    return fmt::format("{} {} over {}", nameOf(collective->kind),
                       plan.symbols[collective->symbol], axes);
  }
  if (auto *library = std::get_if<Library>(&action)) {
    return std::string(nameOf(library->descriptor));
  }
  auto message = [&](std::string_view verb, const Message &one) {
    return fmt::format("{} {}", verb, plan.transfers[one.transfer]);
  };
  if (auto *send = std::get_if<Send>(&action)) {
    return message("send", send->message);
  }
  if (auto *receive = std::get_if<Receive>(&action)) {
    return message("receive", receive->message);
  }
  return std::string(nameOf(action));
}

} // namespace llmc::rt::plan
