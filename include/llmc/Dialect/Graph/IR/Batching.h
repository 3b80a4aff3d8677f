//===- Batching.h - What all devices compute of an op -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A manual region says what one device computes. All devices together compute
// the same ops on values with leading dims, one for each axis of the mesh along
// which the value varies; what is the same on all devices has none:
//
//   %y = dot %x, %w            %x varies along "data" (2), %w along "tensor"
//   (4)
//     : (4x16, 16x8) -> 4x8      of one device
//     : (2x4x16, 4x16x8) -> 2x4x4x8      of all
//
// An op builds this by its `BatchingOpInterface`, as it builds its local form
// (LocalForm.h), which goes the other way. Axes are numbers of the mesh, and
// leading dims stand in their order.
//
// Test: test/EndToEnd/manual.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_BATCHING_H
#define LLMC_DIALECT_GRAPH_IR_BATCHING_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/OpDefinition.h"

namespace llmc::graph {

/// Axes of the mesh, ascending.
using DeviceAxes = SmallVector<unsigned, 2>;

DeviceAxes uniteAxes(ArrayRef<unsigned> a, ArrayRef<unsigned> b);
/// The axes of `a` that `b` lacks.
DeviceAxes subtractAxes(ArrayRef<unsigned> a, ArrayRef<unsigned> b);
/// The places of `axes` in `among`, which has them all.
SmallVector<int64_t> getPlaces(ArrayRef<unsigned> axes,
                               ArrayRef<unsigned> among);

/// Numbers of dims behind `count` new leading ones.
SmallVector<int64_t> behindLeading(ArrayRef<int64_t> dims, int64_t count);
/// The leading dims themselves, and `dims` behind them.
SmallVector<int64_t> withLeading(ArrayRef<int64_t> dims, int64_t count);

/// A value of all devices: dim i is axis axes[i].
struct DeviceValue {
  Value value;
  DeviceAxes axes;

  bool varies() const { return !axes.empty(); }
};

/// One op of a device's program. Its operands are values of that program, of
/// which the form knows what they are on all devices.
class BatchForm {
public:
  BatchForm(OpBuilder &builder, Operation *op, ArrayRef<int64_t> mesh,
            SmallVectorImpl<DeviceValue> &results)
      : builder(builder), loc(op->getLoc()), op(op), mesh(mesh),
        results(results) {}
  virtual ~BatchForm() = default;

  OpBuilder &builder;
  Location loc;
  Operation *op;
  /// Sizes of the axes, major to minor; a device's number is that of its place.
  ArrayRef<int64_t> mesh;
  /// To be appended in order.
  SmallVectorImpl<DeviceValue> &results;

  /// What a value of the device's program is on all devices.
  virtual DeviceValue getValue(Value value) = 0;
  /// `value` repeated, so that it has a leading dim for each of `axes`, which
  /// contain its own.
  virtual Value repeat(const DeviceValue &value, ArrayRef<unsigned> axes) = 0;
  /// A scalar of each device at each place of `shape`.
  virtual Value spread(const DeviceValue &scalar, ArrayRef<unsigned> axes,
                       ArrayRef<int64_t> shape) = 0;
  /// The same value, with leading dims that lie on their axes; the dims `whole`
  /// of what one device has are not split.
  virtual DeviceValue place(const DeviceValue &value,
                            ArrayRef<int64_t> whole) = 0;
  /// The value of the devices that are first along `axes`, on all devices.
  virtual DeviceValue takeFirst(const DeviceValue &value,
                                ArrayRef<unsigned> axes) = 0;
  /// States that the op's result, a scalar of integers, is these numbers on the
  /// devices, by number.
  virtual void setKnown(ArrayRef<int64_t> elements) = 0;

  /// Of an op that takes what a loop carries into its trips: the axes along
  /// which that varies in some trip. None of other ops.
  virtual ArrayRef<unsigned> getCarriedAxes() = 0;

  Value getAlong(Value value, ArrayRef<unsigned> axes) {
    return repeat(getValue(value), axes);
  }
  /// The axes along which some operand varies.
  DeviceAxes getAxes();
  SmallVector<int64_t> getSizes(ArrayRef<unsigned> axes) const;
  /// What a tensor of one device is on all, along `axes`.
  RankedTensorType getType(Type ofDevice, ArrayRef<unsigned> axes) const;

  /// The op itself on `operands`, its results along `axes`; the clone, whose
  /// attributes may still be changed.
  Operation *cloneOp(ValueRange operands, ArrayRef<unsigned> axes);
  /// The same, with all operands along `axes`.
  Operation *cloneAlong(ArrayRef<unsigned> axes);
};

} // namespace llmc::graph

#include "llmc/Dialect/Graph/IR/Batching.h.inc"

#endif // LLMC_DIALECT_GRAPH_IR_BATCHING_H
