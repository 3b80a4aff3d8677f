//===- GpuTarget.h - Kernels for GPUs ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_GPUTARGET_H
#define LLMC_LIB_TRANSFORMS_KERNELS_GPUTARGET_H

#include "KernelTarget.h"

namespace llmc::kernels {

/// The target "cuda": code of one thread of a launch (KernelAbi.h), in ops of
/// the gpu dialect. What it becomes is the code generator's (lib/Codegen).
const KernelTarget &getGpuTarget();

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_GPUTARGET_H
