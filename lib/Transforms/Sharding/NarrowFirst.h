//===- NarrowFirst.h - Fewer bytes are moved --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %W1 = reshard %W                    f32    %n0 = convert %W    f32 -> bf16
//   %n  = convert %W1    f32 -> bf16    ->     %n  = reshard %n0   bf16
//
// Where all that reads a value in its new layout are element-wise ops of
// smaller elements, they compute where the value lies, and what they make is
// moved: of weights that are gathered, half the bytes. Equal ops of forward and
// backward share one move, as they shared that of the value. What makes a
// scalar of the value beside them, as its greatest element, is computed of what
// each device has, and of that of all devices:
//
//   %W1 = reshard %W                    %m0 = reduce max abs %W     max{"data"}
//   %m  = reduce max abs %W1      ->    %m  = reshard %m0
//   %q  = quantize %W1, s(%m)           %q0 = quantize %W, s(%m)
//                                       %q  = reshard %q0     a byte an element
//
// What all trips of loops make narrow of a value that is moved in front of them
// is made there (NarrowStacks.h), and so before it is moved.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_NARROWFIRST_H
#define LLMC_LIB_TRANSFORMS_SHARDING_NARROWFIRST_H

#include "mlir/IR/Block.h"

namespace llmc {

/// Whether the op writes each element of its first operand in fewer bits, with
/// nothing but scalars beside it.
bool isNarrowing(mlir::Operation *op);

/// Moves ops of smaller elements in front of changes of layout.
void narrowBeforeMoves(mlir::Block &block);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_NARROWFIRST_H
