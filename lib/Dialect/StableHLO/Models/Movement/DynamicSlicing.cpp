//===- DynamicSlicing.cpp - Answers of boxes at run-time positions --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dynamic_slice reads a box, dynamic_update_slice replaces one; both limit the
// start so that the box fits. With g the result's cotangent:
//
//   dynamic_slice          g put into zeros at the same start
//   dynamic_update_slice   operand: g with zeros put there; update: the box of
//   g
//
// A dimension that the box spans whole passes; the others must be whole, since
// the start counts elements of the whole tensor.
//
// Test: test/Dialect/StableHLO/Models/IndexingTest.cpp
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "Indexing.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
/// `call.indices` inside the box, moved to its start in the whole; operand
/// `first` of the op is the first of the start indices.
SmallVector<Value> emitPlaces(Operation *op, ElementCall &call, unsigned first,
                              RankedTensorType whole, RankedTensorType box) {
  SmallVector<Value> places;
  for (int64_t d = 0; d < whole.getRank(); ++d) {
    int64_t last = whole.getDimSize(d) - box.getDimSize(d);
    if (last == 0) {
      places.push_back(call.indices[d]);
      continue;
    }
    Value start = emitIndex(call, op->getOperand(first + d), first + d, {});
    start = emitClamped(call, start, last);
    places.push_back(
        arith::AddIOp::create(call.builder, call.loc, start, call.indices[d]));
  }
  return places;
}

SmallVector<int64_t> readStarts(ArrayRef<HostTensor> starts,
                                RankedTensorType whole, RankedTensorType box) {
  SmallVector<int64_t> result;
  for (auto [d, start] : llvm::enumerate(starts))
    result.push_back(std::clamp<int64_t>(
        readIndex(start, 0), 0, whole.getDimSize(d) - box.getDimSize(d)));
  return result;
}

//===----------------------------------------------------------------------===//
// dynamic_slice
//===----------------------------------------------------------------------===//

struct DynamicSliceAnswers : AnswerDefaults<DynamicSliceOp> {
  static ShardingRule rule(DynamicSliceOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType from = typeOf(op.getOperand()), to = op.getType();
    for (int64_t d = 0; d < from.getRank(); ++d) {
      bool isWhole = from.getDimSize(d) == to.getDimSize(d);
      FactorKind kind = isWhole ? FactorKind::Pass : FactorKind::Whole;
      int factor = rule.addFactor(from.getDimSize(d), kind);
      rule.operands[0][d] = {factor};
      rule.results[0][d] = {isWhole ? factor
                                    : rule.addFactor(to.getDimSize(d), kind)};
    }
    carryAnyPartial(rule, {0});
    return rule;
  }

  static LogicalResult localize(DynamicSliceOp, LocalForm &form) {
    auto clone = cast<DynamicSliceOp>(form.cloneOp());
    clone.setSliceSizes(clone.getType().getShape());
    return success();
  }

  /// Reads only the box.
  static OpCost cost(DynamicSliceOp op) {
    OpCost cost = getTrafficCost(op);
    cost.bytesRead = cost.bytesWritten;
    return cost;
  }

  static LogicalResult derive(DynamicSliceOp op, DerivativeCall &call) {
    if (!call.needed[0])
      return success();
    Value zeros = constantLike(call.builder, call.loc, op.getOperand(), 0);
    call.gradients[0] =
        DynamicUpdateSliceOp::create(call.builder, call.loc, zeros,
                                     call.cotangents[0], op.getStartIndices());
    return success();
  }

  static Value emitElement(DynamicSliceOp op, ElementCall &call) {
    return call.source(
        0, emitPlaces(op, call, 1, typeOf(op.getOperand()), op.getType()));
  }

  static LogicalResult evaluate(DynamicSliceOp op, EvaluationCall &call) {
    SmallVector<int64_t> starts = readStarts(
        call.operands.drop_front(), typeOf(op.getOperand()), op.getType());
    return evaluateMap(
        call.operands[0], op.getType(),
        [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from) {
          for (size_t d = 0; d < index.size(); ++d)
            from[d] = starts[d] + index[d];
        },
        call.results);
  }
};

//===----------------------------------------------------------------------===//
// dynamic_update_slice
//===----------------------------------------------------------------------===//

struct DynamicUpdateSliceAnswers : AnswerDefaults<DynamicUpdateSliceOp> {
  static ShardingRule rule(DynamicUpdateSliceOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType whole = op.getType(), box = typeOf(op.getUpdate());
    for (int64_t d = 0; d < whole.getRank(); ++d) {
      bool isWhole = whole.getDimSize(d) == box.getDimSize(d);
      FactorKind kind = isWhole ? FactorKind::Pass : FactorKind::Whole;
      int factor = rule.addFactor(whole.getDimSize(d), kind);
      rule.operands[0][d] = rule.results[0][d] = {factor};
      rule.operands[1][d] = {isWhole ? factor
                                     : rule.addFactor(box.getDimSize(d), kind)};
    }
    carryAnyPartial(rule, {0, 1});
    return rule;
  }

  static LogicalResult derive(DynamicUpdateSliceOp op, DerivativeCall &call) {
    Value g = call.cotangents[0];
    if (call.needed[0]) {
      Value zeros = constantLike(call.builder, call.loc, op.getUpdate(), 0);
      call.gradients[0] = DynamicUpdateSliceOp::create(
          call.builder, call.loc, g, zeros, op.getStartIndices());
    }
    if (call.needed[1])
      call.gradients[1] = DynamicSliceOp::create(
          call.builder, call.loc, g, op.getStartIndices(),
          typeOf(op.getUpdate()).getShape());
    return success();
  }

  static KernelForm form(DynamicUpdateSliceOp) { return KernelForm::Update; }
  static SmallVector<int64_t> updateShape(DynamicUpdateSliceOp op) {
    return SmallVector<int64_t>(typeOf(op.getUpdate()).getShape());
  }
  static UpdateTarget emitUpdateTarget(DynamicUpdateSliceOp op,
                                       ElementCall &call) {
    return {emitPlaces(op, call, 2, op.getType(), typeOf(op.getUpdate())),
            Value()};
  }
  static Value emitUpdateElement(DynamicUpdateSliceOp, Value,
                                 ElementCall &call) {
    return call.source(1, call.indices);
  }

  static LogicalResult evaluate(DynamicUpdateSliceOp op, EvaluationCall &call) {
    HostTensor result = call.operands[0];
    const HostTensor &update = call.operands[1];
    SmallVector<int64_t> starts = readStarts(
        call.operands.drop_front(2), op.getType(), typeOf(op.getUpdate()));
    SmallVector<int64_t> index(update.getRank(), 0);
    SmallVector<int64_t> strides = result.getStrides();
    int64_t bytes = result.getElementBytes();
    char *out = result.mutableBytes();
    for (int64_t i = 0; i < update.getNumElements();
         ++i, nextIndex(index, update.getShape())) {
      int64_t to = 0;
      for (int64_t d = 0; d < update.getRank(); ++d)
        to += (starts[d] + index[d]) * strides[d];
      std::memcpy(out + to * bytes, update.bytes() + i * bytes, bytes);
    }
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void stablehlo::registerDynamicSlicingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<DynamicSliceOp, DynamicSliceAnswers>(context);
    attachAnswers<DynamicUpdateSliceOp, DynamicUpdateSliceAnswers>(context);
  });
}
