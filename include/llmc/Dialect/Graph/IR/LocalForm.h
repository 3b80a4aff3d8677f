//===- LocalForm.h - What one device computes of an op ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dimension of `size` elements, stored with padding as `extent` positions,
// is cut into equal parts; a device holds the positions [offset, offset +
// local), where offset = coordinate * local. With factors (size, extent) a
// position is read as digits over the extents: it is an element iff each digit
// is below its size, and read with the sizes the digits are its global index.
//
//   6 : 8, 64 over 4 devices: extent 512, local 128; device 3 holds padding
//
// An op whose meaning depends on global sizes or indices (iota, gather, slice)
// builds its local form through `LocalForm`; for all others it is the op itself
// on local values. Shapes never depend on the device: coordinates are values.
//
// Test: test/Transforms/Partition/localize-ops.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_LOCALFORM_H
#define LLMC_DIALECT_GRAPH_IR_LOCALFORM_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"

namespace llmc::graph {

/// How one dimension of a tensor lies on the devices.
struct LocalDim {
  /// Elements of the whole, positions with padding, positions of a device.
  int64_t size = 1, extent = 1, local = 1;
  /// (size, extent), major to minor; never empty.
  SmallVector<std::pair<int64_t, int64_t>, 2> factors;

  bool isSplit() const { return local != extent; }
  bool isPadded() const { return extent != size; }
  bool isPlain() const { return local == size; }
};

/// One op on its way from global to local values. The op still has its global
/// types; its local operands are defined.
class LocalForm {
public:
  LocalForm(OpBuilder &builder, Operation *op, SmallVectorImpl<Value> &results)
      : builder(builder), loc(op->getLoc()), op(op), results(results) {}
  virtual ~LocalForm() = default;

  OpBuilder &builder;
  Location loc;
  Operation *op;
  /// The local results, to be appended in order.
  SmallVectorImpl<Value> &results;

  /// What this device holds of a value of the whole program.
  virtual Value getLocal(Value global) = 0;
  virtual RankedTensorType getLocalType(Value global) = 0;
  virtual LocalDim getDim(Value global, int64_t dim) = 0;
  /// The first position of this device along the dimension, as a tensor of
  /// rank 0 of the signless integer `element`.
  virtual Value buildOffset(Value global, int64_t dim, Type element) = 0;

  SmallVector<Value> getLocals(ValueRange globals) {
    return llvm::map_to_vector(globals,
                               [&](Value value) { return getLocal(value); });
  }

  /// The op itself on local values; its clone, whose attributes may still be
  /// changed.
  Operation *cloneOp() {
    mlir::IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, getLocal(operand));
    Operation *clone = builder.clone(*op, mapping);
    for (auto [from, to] : llvm::zip(op->getResults(), clone->getResults()))
      to.setType(getLocalType(from));
    llvm::append_range(results, clone->getResults());
    return clone;
  }
};

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_LOCALFORM_H
