//===- Memory.h - Plans that do not fit -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `machine.memory` says what a device has. A plan that needs more is refused
// before it is written: by kind on the fullest stage, the largest values that
// are in memory at the peak, and what would need less, each way compiled to
// know its memory and its time.
//
// Test: test/EndToEnd/Families/memory.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_MEMORY_H
#define LLMC_TOOLS_LLMC_MEMORY_H

#include "../Options/Options.h"
#include "PlanFacts.h"

namespace llmc::driver {

/// 4 (infeasible) where the module, after phase `plan`, needs more on a device
/// than `machine.memory`; the report goes to stderr. At most a minute after
/// which no more ways are tried.
rt::Status checkMemory(ModuleOp module, const Options &options,
                       const rt::Config &config);

/// The largest values at the peak of a stage, at most `most` lines; equal ones
/// of several blocks are one.
std::string describePeak(const rt::plan::Plan &plan, int64_t stage,
                         const std::string &model, size_t most);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_MEMORY_H
