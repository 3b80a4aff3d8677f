//===- WalkthroughPlan.h - The walkthrough's plan, by hand ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHPLAN_H
#define LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHPLAN_H

#include "llmc/Runtime/Plan/Format/Plan.h"

#include <string>

namespace llmc::rt::test {

/// The plan of docs/walkthrough.md: 8 devices, pipe=2, data=2, tensor=2, 1F1B
/// over `microbatches`, block 1 recomputed, a ZeRO-1 row for W1, AdamW with
/// clipping. `object` is the file of WalkthroughKernels.cpp.
plan::Plan makeWalkthroughPlan(int microbatches, const std::string &object,
                               int threads = 1);

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHPLAN_H
