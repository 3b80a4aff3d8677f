//===- BufferLife.h - Whose buffer a program may overwrite ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value's buffer may take a result when nothing reads the value afterwards,
// under any alias, and the buffer is the program's own: made by a launch or a
// contraction, an argument in the very slot in which the result is returned, or
// one of a microbatch that no other program reads, as the logits in the
// backward. A result that is returned in a slot of a microbatch takes no buffer
// in which something else was read before: it would have to be copied from
// there.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_BUFFERLIFE_H
#define LLMC_LIB_TRANSFORMS_KERNELS_BUFFERLIFE_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::kernels {

/// True when `argument` is in the slot (state or step) in which `result` is
/// returned.
bool isSameSlot(mlir::func::FuncOp function, Value argument, Value result);

/// True when `argument` is kept from another program for this one alone: after
/// its last read here nobody wants what its slot holds.
bool isReadHereAlone(mlir::func::FuncOp function, Value argument);

/// True when the terminator returns `value` or an alias of it.
bool isReturned(Value value);

/// True when it is returned in a slot that each microbatch writes once.
bool isReturnedOnce(mlir::func::FuncOp function, Value value);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_BUFFERLIFE_H
