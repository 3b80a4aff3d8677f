//===- StateBuffers.h - What devices hold of states -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From localize on each state that programs read has one `dist.buffer`, which
// names it:
//
//   dist.buffer @w.local of @w : tensor<2x4xf32> holds [...]
//
// Tests: test/Dialect/Dist/invalid-step.mlir, test/Transforms/Partition
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_STATEBUFFERS_H
#define LLMC_DIALECT_DIST_IR_STATEBUFFERS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::dist {

/// The buffers of a module, by state.
class StateBuffers {
public:
  /// Of the ops in `module`, which may be null.
  explicit StateBuffers(Operation *module);

  /// The buffer of the state; null where it has none (before localize, or for a
  /// part that shares the buffer of its whole).
  BufferOp lookup(mlir::StringAttr state) const {
    return buffers.lookup(state);
  }

private:
  llvm::DenseMap<mlir::StringAttr, BufferOp> buffers;
};

/// The buffer of `state`, at the builder's place.
BufferOp createBuffer(OpBuilder &builder, mlir::Location loc, StateOp state,
                      RankedTensorType type, ArrayRef<Attribute> boxes);

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_STATEBUFFERS_H
