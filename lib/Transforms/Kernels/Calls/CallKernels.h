//===- CallKernels.h - Launches in place of a library's call ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_CALLKERNELS_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_CALLKERNELS_H

#include "../KernelTable.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"

namespace llmc::kernels {

/// The types of the buffers of a call.
SmallVector<RankedTensorType>
getBufferTypes(graph::LibraryCallOpInterface call);

/// The target with the libraries that the program of `op` asks for, as
/// rt::hasLibrary names it.
std::string getLibraries(const KernelTarget &target, Operation *op);

/// The kernels that compute `call` where no library of the target does; none
/// where one does. A call that neither computes is refused at `model`, the op
/// that it is made of. On failure an error has been emitted.
FailureOr<std::optional<CallPlan>>
planKernels(const KernelTarget &target, graph::LibraryCallOpInterface call,
            Operation *model);

/// The launches of `plan` at the insertion point, and what takes the place of
/// the results of `call`.
SmallVector<Value> launchCall(OpBuilder &builder, KernelTable &table,
                              graph::LibraryCallOpInterface call,
                              const CallPlan &plan);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_CALLKERNELS_H
