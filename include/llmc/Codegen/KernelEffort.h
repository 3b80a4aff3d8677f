//===- KernelEffort.h - How much LLVM does for kernels ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiling a model takes mostly LLVM's time. Who tries a model for a few steps
// wants that short, who trains it for days wants fast kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_CODEGEN_KERNELEFFORT_H
#define LLMC_CODEGEN_KERNELEFFORT_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Support/LLVM.h"

namespace llmc::codegen {

/// Both give the same bits. Of a GPU's kernels, PTX is always optimized whole.
enum class KernelEffort {
  full,
  /// Compiled in a fraction of the time, and slower: registers are given as
  /// code is read, and only what is plainly equal is computed once.
  quick,
};

/// Error `usage` unless `text` is "full" or "quick".
rt::Result<KernelEffort> parseKernelEffort(StringRef text);

} // namespace llmc::codegen

#endif // LLMC_CODEGEN_KERNELEFFORT_H
