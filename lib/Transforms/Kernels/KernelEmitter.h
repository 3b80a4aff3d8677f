//===- KernelEmitter.h - A group of graph ops as loops ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes one kernel: a function on flat memrefs
//
//   func.func private @k(%inputs…, %outputs…, %begin: index, %end: index,
//                        %scratch: memref<nxi8>)
//
// (with what a stage takes and makes after the inputs and the outputs),
// that computes the rows [begin, end) of its row space. An input that is the
// device's coordinate is no memref but an index. The bits of an op do
// not depend on the kernel it stands in, nor on how its rows are sliced:
// element-wise code is the op's own, and the order of a reduction is a function
// of its shape and type (llmc/Solvers/Reduction/ReductionCut.h).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_KERNELEMITTER_H
#define LLMC_LIB_TRANSFORMS_KERNELS_KERNELEMITTER_H

#include "KernelStages.h"
#include "KernelTarget.h"
#include "llmc/Analysis/KernelFormation/KernelFormation.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace llmc::kernels {

/// The coordinates that a kernel takes as a scalar, or null.
dist::CoordinateOp getScalarInput(Value input);
/// How many values the coordinates have.
int64_t getNumCoordinates(dist::CoordinateOp op);

struct EmittedKernel {
  mlir::func::FuncOp function;
  /// Extent of the row space; 1 when the kernel cannot be sliced.
  int64_t rows = 1;
  CallShape shape;
  /// (output, input) pairs that may share a buffer: the input is read at the
  /// output's element only, and not after it is written.
  SmallVector<std::pair<unsigned, unsigned>> tieable;
  /// The one pair of an Update: the output is the input, changed in place.
  bool inPlaceOnly = false;
};

/// Writes the kernel of `stage` for `target` at `builder`'s insertion point,
/// and its constants into the module of `symbols`. On failure an error has been
/// emitted.
FailureOr<EmittedKernel> emitKernel(OpBuilder &builder,
                                    const KernelTarget &target,
                                    mlir::SymbolTable &symbols,
                                    const KernelStage &stage, StringRef name);

/// Lets each `output` be computed in its `input`'s buffer: its argument goes
/// away and the input is read and written. Returns the arguments that are left,
/// as `dist.kernel` states them.
SmallVector<Attribute>
tieArguments(EmittedKernel &kernel, const KernelStage &stage,
             ArrayRef<std::pair<unsigned, unsigned>> ties);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_KERNELEMITTER_H
