//===- Summary.h - What a plan does, before it runs -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_SUMMARY_H
#define LLMC_TOOLS_LLMC_SUMMARY_H

#include "llmc/Runtime/Plan/Format/Plan.h"

#include <string>

namespace llmc::driver {

/// Mesh, schedule and states of a plan as lines of text, for a run of `entry`:
///
///   mesh: pipe=2 x data=2 x tensor=2, 8 devices
///   schedule: 1f1b, 2 chunks, 4 microbatches; in flight on each stage: 2, 1
///   loss: mean of microbatches
///   parameters: 148 in 3 tensors; 1 whole on each device (640 B)
///   padded: wte 50257 -> 50260
std::string describePlan(const rt::plan::Plan &plan, const std::string &entry,
                         const std::string &schedule, const std::string &loss);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_SUMMARY_H
