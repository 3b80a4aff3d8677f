//===- GpuCalls.h - Calls that kernels of a GPU compute ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_GPUCALLS_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_GPUCALLS_H

#include "CallForm.h"

namespace llmc::kernels {

/// The one list of the forms of calls that a GPU has; see
/// `KernelTarget::planCall`. What a form cannot do, such as operands without
/// elements, has no plan.
std::optional<CallPlan> planGpuCall(const rt::LibraryDescriptor &descriptor,
                                    ArrayRef<RankedTensorType> types);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_GPUCALLS_H
