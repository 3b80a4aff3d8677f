//===- WalkthroughKernels.h - Sizes and constants of the walkthrough ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of docs/walkthrough.md on the mesh pipe=2, data=2, tensor=2: batch
// 8, vocabulary 10, width 4.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHKERNELS_H
#define LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHKERNELS_H

namespace llmc::rt::test {

constexpr int batch = 8, vocabulary = 10, width = 4;
constexpr int localBatch = batch / 2, localVocabulary = vocabulary / 2;

// AdamW with clipping by the global norm.
constexpr double clip = 0.5, beta1 = 0.9, beta2 = 0.95;
constexpr double epsilon = 1e-8, decay = 0.1, learningRate = 0.05;

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_EXECUTOR_WALKTHROUGHKERNELS_H
