//===- IndexLimits.cpp - Ops that take integers for places ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gather and a comparison with a count (one_hot) take integers for places.
// The text counts negative ones from the end, or masks some, by a select, which
// leaves those beyond the end as they are:
//
//   select (x < 0), x + 256, x      x where x >= 256
//   select (x == -100), 0, x        x where x >= 256
//   select (x < 256), x, 0          none of x where x >= 256: it asks for them
//
// Test: test/Transforms/Training/bound-inputs.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/IndexLimits.h"
#include "../Splat.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

/// What `x <direction> c` is for all x >= limit; absent where that depends.
static std::optional<bool> decide(ComparisonDirection direction, double c,
                                  double limit) {
  bool isBelow = c < limit;
  switch (direction) {
  case ComparisonDirection::EQ:
    return isBelow ? std::optional(false) : std::nullopt;
  case ComparisonDirection::NE:
    return isBelow ? std::optional(true) : std::nullopt;
  case ComparisonDirection::LT:
    return c <= limit ? std::optional(false) : std::nullopt;
  case ComparisonDirection::LE:
    return isBelow ? std::optional(false) : std::nullopt;
  case ComparisonDirection::GE:
    return c <= limit ? std::optional(true) : std::nullopt;
  case ComparisonDirection::GT:
    return isBelow ? std::optional(true) : std::nullopt;
  }
  return std::nullopt;
}

/// Whether the values move the same integers about.
static bool haveOneRoot(Value a, Value b, int64_t limit) {
  return getIndexRoot(a, limit) == getIndexRoot(b, limit);
}

namespace {
struct GatherIndex : IndexOpInterface::ExternalModel<GatherIndex, GatherOp> {
  /// Of vectors of several entries each counts another dimension.
  int64_t getIndexLimit(Operation *op, unsigned operand) const {
    auto gather = cast<GatherOp>(op);
    ArrayRef<int64_t> map = gather.getDimensionNumbers().getStartIndexMap();
    auto table = cast<RankedTensorType>(gather.getOperand().getType());
    if (operand != 1 || map.size() != 1 || table.isDynamicDim(map[0]))
      return 0;
    // A window of several places begins at one of fewer.
    return table.getDimSize(map[0]) - gather.getSliceSizes()[map[0]] + 1;
  }
  /// Of integers that are looked up in others.
  SmallVector<Value> getIndexSources(Operation *op, int64_t) const {
    return {op->getOperand(0)};
  }
};

/// A part of the operand, wherever it begins.
struct SliceIndex
    : IndexOpInterface::ExternalModel<SliceIndex, DynamicSliceOp> {
  SmallVector<Value> getIndexSources(Operation *op, int64_t) const {
    return {op->getOperand(0)};
  }
};

/// The operand, and what is written into it.
struct WriteIndex
    : IndexOpInterface::ExternalModel<WriteIndex, DynamicUpdateSliceOp> {
  SmallVector<Value> getIndexSources(Operation *op, int64_t) const {
    return {op->getOperand(0), op->getOperand(1)};
  }
};

struct JoinIndex : IndexOpInterface::ExternalModel<JoinIndex, ConcatenateOp> {
  SmallVector<Value> getIndexSources(Operation *op, int64_t) const {
    return llvm::to_vector(op->getOperands());
  }
};

/// Equal to a count: a row of one 1 in `limit` places.
struct CompareIndex : IndexOpInterface::ExternalModel<CompareIndex, CompareOp> {
  int64_t getIndexLimit(Operation *op, unsigned operand) const {
    ComparisonDirection direction =
        cast<CompareOp>(op).getComparisonDirection();
    if (direction != ComparisonDirection::EQ || operand > 1)
      return 0;
    auto count = getIndexRoot(op->getOperand(1 - operand), INT64_MAX)
                     .getDefiningOp<IotaOp>();
    if (!count)
      return 0;
    auto type = cast<RankedTensorType>(count.getType());
    return type.getDimSize(static_cast<unsigned>(count.getIotaDimension()));
  }
};

struct ConvertIndex : IndexOpInterface::ExternalModel<ConvertIndex, ConvertOp> {
  SmallVector<Value> getIndexSources(Operation *op, int64_t) const {
    Value from = op->getOperand(0);
    bool areIntegers = isa<IntegerType>(getElementTypeOrSelf(from)) &&
                       isa<IntegerType>(getElementTypeOrSelf(op->getResult(0)));
    return areIntegers ? SmallVector<Value>{from} : SmallVector<Value>();
  }
};

struct SelectIndex : IndexOpInterface::ExternalModel<SelectIndex, SelectOp> {
  SmallVector<Value> getIndexSources(Operation *op, int64_t limit) const {
    auto compare = op->getOperand(0).getDefiningOp<CompareOp>();
    std::optional<double> c =
        compare ? getSplat(compare->getOperand(1)) : std::nullopt;
    if (!c)
      return {};
    std::optional<bool> isTrue = decide(compare.getComparisonDirection(), *c,
                                        static_cast<double>(limit));
    if (!isTrue)
      return {};
    Value chosen = op->getOperand(*isTrue ? 1 : 2);
    if (!haveOneRoot(compare->getOperand(0), chosen, limit))
      return {};
    return {chosen};
  }
};

struct MaxIndex : IndexOpInterface::ExternalModel<MaxIndex, MaxOp> {
  SmallVector<Value> getIndexSources(Operation *op, int64_t limit) const {
    for (unsigned i : {0u, 1u})
      if (std::optional<double> c = getSplat(op->getOperand(1 - i));
          c && *c <= static_cast<double>(limit))
        return {op->getOperand(i)};
    return {};
  }
};
} // namespace

void stablehlo::registerIndexLimits(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    GatherOp::attachInterface<GatherIndex>(*context);
    DynamicSliceOp::attachInterface<SliceIndex>(*context);
    DynamicUpdateSliceOp::attachInterface<WriteIndex>(*context);
    ConcatenateOp::attachInterface<JoinIndex>(*context);
    CompareOp::attachInterface<CompareIndex>(*context);
    ConvertOp::attachInterface<ConvertIndex>(*context);
    SelectOp::attachInterface<SelectIndex>(*context);
    MaxOp::attachInterface<MaxIndex>(*context);
  });
}
