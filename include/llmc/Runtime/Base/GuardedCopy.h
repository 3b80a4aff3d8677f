//===- GuardedCopy.h - Bytes of a mapping that may vanish -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a mapped file becomes shorter, or its disk fails, the processor answers
// a read of its pages with SIGBUS, which ends the process. A guarded copy takes
// the signal, and says that it failed; any other SIGBUS goes where it went.
//
// Test: test/Runtime/Base/FileTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_GUARDEDCOPY_H
#define LLMC_RUNTIME_BASE_GUARDEDCOPY_H

#include <cstddef>

namespace llmc::rt {

/// Copies `bytes` from a mapping; false where they cannot be read. Takes the
/// handler of SIGBUS when it is called first. Allocates nothing.
bool copyGuarded(void *to, const void *from, size_t bytes);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_GUARDEDCOPY_H
