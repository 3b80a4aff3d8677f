//===- LocalBuilder.h - Ops on what a device holds --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What localize builds besides the ops themselves: offsets from coordinates,
// masks of padding, the moves that communicate nothing. All ops built get the
// marks of the op that they serve. Offsets and masks are shared within equal
// marks, so that none of them crosses from one segment to another.
//
// Tests: test/Transforms/Partition/localize-moves.mlir, localize-padding.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_PARTITION_LOCALBUILDER_H
#define LLMC_LIB_TRANSFORMS_PARTITION_LOCALBUILDER_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/LocalForm.h"
#include <map>

namespace llmc {

class LocalBuilder : public OpBuilder::Listener {
public:
  LocalBuilder(dist::MeshOp mesh, Block *block);

  OpBuilder builder;
  dist::MeshAxesAttr axes;

  /// Ops built from now on stand at `loc` with these marks (null: without).
  void setMarks(Location loc, Attribute block, Attribute phase, Attribute at);

  RankedTensorType getLocalType(Type global) const;
  graph::LocalDim getDim(Type global, int64_t dim) const;

  /// coordinate * local, as a tensor of rank 0.
  Value buildOffset(Type global, int64_t dim, Type element);
  /// The device's number along `parts`, times `local`.
  Value buildPartOffset(ArrayRef<dist::AxisAttr> parts, int64_t local,
                        Type element);
  /// `value`, with `element` where a position of any of these dims is padding.
  Value buildMasked(Value value, Type global, ArrayRef<int64_t> dims,
                    mlir::TypedAttr element);
  Value buildSplat(RankedTensorType type, mlir::TypedAttr element);

  /// The keep of `input`, which is a `from` of the whole program.
  Value buildKeep(dist::KeepOp keep, Type from, Value input);
  /// A change of layout that moves nothing; null, with an error at `op`, when
  /// this one does.
  Value buildLocalMove(Operation *op, Type from, Type to, Value input,
                       StringRef pipeline);

  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override;

private:
  Value buildIsElement(Type global, int64_t dim);
  SmallVector<Value> buildStarts(int64_t rank, int64_t dim, Value start);
  Value buildDim(Operation *op, Type from, Type to, Value input, int64_t dim);

  Block *block;
  Location loc;
  /// Of block, phase and stages.
  Attribute marks[3];
  using Key = std::vector<uintptr_t>;
  /// Adds the marks to the key; the value of an equal key, or null.
  Value &share(Key key);
  std::map<Key, Value> shared;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_LOCALBUILDER_H
