//===- Diff.h - Where devices differ from one device ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `llmc diff` trains some steps three times, on the same weights and samples:
// by plain loops on whole tensors, by a plan on one device, by a plan on the
// devices of `--mesh`. It compares metrics, gradients and states of each step.
// Where any differs, or is not finite, the step runs again by plain loops, the
// whole program and all devices in lockstep, and the first value in the
// program's order that differs is named, with its place (DiffSearch.h).
//
// Test: test/EndToEnd/diff.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_DIFF_H
#define LLMC_TOOLS_LLMC_DIFF_H

#include "../Options/Options.h"

namespace llmc::driver {

/// Errors: 13 (numeric) where values differ by more than `options.tolerance`
/// or are not finite.
rt::Status runDiff(Options options);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_DIFF_H
