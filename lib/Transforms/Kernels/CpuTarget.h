//===- CpuTarget.h - Kernels for processors ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CPUTARGET_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CPUTARGET_H

#include "KernelTarget.h"

namespace llmc::kernels {

/// Loops of vector code (LoopWidening.h), for any processor: the code
/// generator cuts vectors to the registers that there are.
const KernelTarget &getCpuTarget();

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CPUTARGET_H
