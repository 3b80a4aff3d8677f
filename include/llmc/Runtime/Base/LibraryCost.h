//===- LibraryCost.h - What calls of a library cost -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_LIBRARYCOST_H
#define LLMC_RUNTIME_BASE_LIBRARYCOST_H

#include "llmc/Runtime/Base/Library.h"

namespace llmc::rt {

/// Floating-point operations of a call, as published counts have them: two of
/// each term of a sum. Of a convolution all terms of its windows, of an
/// attention those of its products over all scores; an argsort has none.
double operationsOf(const LibraryDescriptor &descriptor);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_LIBRARYCOST_H
