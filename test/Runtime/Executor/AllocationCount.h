//===- AllocationCount.h - Counts calls of malloc ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that links AllocationCount.cpp counts every call of malloc by the
// object that made it: those of oneDNN and OpenMP are the library's, all others
// are ours. (`operator new` of libstdc++ is replaced, so that its caller is
// seen and not itself.) Under a sanitizer, which owns malloc, nothing is
// counted.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_ALLOCATIONCOUNT_H
#define LLMC_TEST_RUNTIME_EXECUTOR_ALLOCATIONCOUNT_H

namespace llmc::rt::test {

/// Calls of ours and of libraries since counting began.
struct Calls {
  int ours = 0, library = 0;
};

/// Whether malloc is ours to count.
bool canCountAllocations();
void startCounting();
/// Prints where our calls came from.
Calls stopCounting();

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_EXECUTOR_ALLOCATIONCOUNT_H
