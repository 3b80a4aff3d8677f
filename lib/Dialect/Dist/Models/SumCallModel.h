//===- SumCallModel.h - Calls for sums of products --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the models of contractions and convolutions share: two sides, to whose
// products an accumulator, or else a bias, is added.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_DIST_MODELS_SUMCALLMODEL_H
#define LLMC_LIB_DIALECT_DIST_MODELS_SUMCALLMODEL_H

#include "LibraryTypes.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "mlir/IR/TypeUtilities.h"

namespace llmc::dist {

template <typename Model, typename Op>
struct SumCallModel : graph::LibraryCallOpInterface::ExternalModel<Model, Op> {
  /// `shape` (of Base/Library.h) without what is the op's own: indices,
  /// windows.
  template <typename Shape> static LogicalResult describe(Op op, Shape &shape) {
    FailureOr<SumTypes> types =
        getSumTypes(op, op.getLhs().getType(), op.getResult().getType());
    if (failed(types))
      return failure();
    shape.a = types->side;
    shape.b = *getRuntimeDType(op.getRhs().getType().getElementType());
    shape.c = types->result;
    shape.accumulate = types->accumulate;
    shape.beta = op.getAccumulator() ? 1 : 0;
    if (op.getBias()) {
      shape.hasBias = true;
      shape.bias = types->result;
    }
    return success();
  }
  SmallVector<Value> getBuffers(Operation *of) const {
    auto op = cast<Op>(of);
    SmallVector<Value> buffers = {op.getLhs(), op.getRhs()};
    if (Value bias = op.getBias())
      buffers.push_back(bias);
    buffers.push_back(op.getResult());
    return buffers;
  }
  SmallVector<std::pair<int64_t, int64_t>> getTiedPairs(Operation *of) const {
    if (cast<Op>(of).getAccumulator())
      return {{0, 2}};
    return {};
  }
  bool addTo(Operation *of, Value accumulator) const {
    auto op = cast<Op>(of);
    if (op.getAccumulator() || op.getBias() ||
        accumulator.getType() != op.getResult().getType())
      return false;
    op.getAccumulatorMutable().assign(accumulator);
    return true;
  }
  /// Whether nothing is added yet, and `bias` would leave the bits as they are.
  static bool takesBias(Op op, Value bias) {
    return !op.getAccumulator() && !op.getBias() &&
           canAddBias(op.getLhs().getType().getElementType(),
                      op.getResult().getType().getElementType(),
                      mlir::getElementTypeOrSelf(bias.getType()));
  }
};

} // namespace llmc::dist

#endif // LLMC_LIB_DIALECT_DIST_MODELS_SUMCALLMODEL_H
