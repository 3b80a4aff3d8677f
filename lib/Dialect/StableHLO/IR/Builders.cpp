//===- Builders.cpp - Graph-level ops from values -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Builders.h. Test: test/Dialect/StableHLO/IR/BuildersTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/Builders.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace llmc::stablehlo {

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

#define LLMC_UNARY(NAME, OP)                                                   \
  Value NAME(OpBuilder &b, Location loc, Value x) {                            \
    return OP::create(b, loc, x);                                              \
  }
#define LLMC_BINARY(NAME, OP)                                                  \
  Value NAME(OpBuilder &b, Location loc, Value x, Value y) {                   \
    return OP::create(b, loc, x, y);                                           \
  }
LLMC_BINARY(add, AddOp)
LLMC_BINARY(sub, SubtractOp)
LLMC_BINARY(mul, MulOp)
LLMC_BINARY(div, DivOp)
LLMC_BINARY(max, MaxOp)
LLMC_BINARY(min, MinOp)
LLMC_BINARY(pow, PowOp)
LLMC_BINARY(logicalAnd, AndOp)
LLMC_UNARY(neg, NegOp)
LLMC_UNARY(abs, AbsOp)
LLMC_UNARY(sign, SignOp)
LLMC_UNARY(exp, ExpOp)
LLMC_UNARY(log, LogOp)
LLMC_UNARY(sqrt, SqrtOp)
LLMC_UNARY(rsqrt, RsqrtOp)
LLMC_UNARY(tanh, TanhOp)
LLMC_UNARY(sine, SineOp)
LLMC_UNARY(cosine, CosineOp)
LLMC_UNARY(logistic, LogisticOp)
LLMC_UNARY(logicalNot, NotOp)
#undef LLMC_UNARY
#undef LLMC_BINARY

Value compare(OpBuilder &b, Location loc, ComparisonDirection direction,
              Value x, Value y) {
  return CompareOp::create(b, loc, x, y, direction);
}

Value select(OpBuilder &b, Location loc, Value pred, Value onTrue,
             Value onFalse) {
  return SelectOp::create(b, loc, pred, onTrue, onFalse);
}

Value convertTo(OpBuilder &b, Location loc, Value x, Type element) {
  if (tensorOf(x).getElementType() == element)
    return x;
  return ConvertOp::create(b, loc, x, element);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

TypedAttr elementOf(Type element, double value) {
  if (auto real = dyn_cast<FloatType>(element)) {
    APFloat number(value);
    bool lost;
    number.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &lost);
    return FloatAttr::get(real, number);
  }
  auto integer = cast<IntegerType>(element);
  if (integer.getWidth() == 1)
    return IntegerAttr::get(integer, APInt(1, value != 0.0));
  APSInt number(integer.getWidth(), integer.isUnsigned());
  bool exact;
  APFloat(value).convertToInteger(number, APFloat::rmTowardZero, &exact);
  return IntegerAttr::get(integer, number);
}

Value constantSplat(OpBuilder &b, Location loc, RankedTensorType type,
                    double value) {
  return ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(withoutEncoding(type),
                             elementOf(type.getElementType(), value)));
}

Value constantLike(OpBuilder &b, Location loc, Value x, double value) {
  return constantSplat(b, loc, tensorOf(x), value);
}

Value scalar(OpBuilder &b, Location loc, Type element, double value) {
  return constantSplat(b, loc, RankedTensorType::get({}, element), value);
}

/// The least (or greatest) element: an infinity where the type has one.
static TypedAttr getExtreme(Type element, bool least) {
  if (auto real = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    return FloatAttr::get(real, APFloat::semanticsHasInf(semantics)
                                    ? APFloat::getInf(semantics, least)
                                    : APFloat::getLargest(semantics, least));
  }
  auto integer = cast<IntegerType>(element);
  unsigned width = integer.getWidth();
  bool isUnsigned = integer.isUnsigned() || width == 1;
  APInt low =
      isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt high =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return IntegerAttr::get(integer, least ? low : high);
}

static Value scalarOf(OpBuilder &b, Location loc, TypedAttr value) {
  return ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(RankedTensorType::get({}, value.getType()),
                             Attribute(value)));
}

Value lowestScalar(OpBuilder &b, Location loc, Type element) {
  return scalarOf(b, loc, getExtreme(element, /*least=*/true));
}

Value highestScalar(OpBuilder &b, Location loc, Type element) {
  return scalarOf(b, loc, getExtreme(element, /*least=*/false));
}

Value iota(OpBuilder &b, Location loc, RankedTensorType type, int64_t dim) {
  return IotaOp::create(b, loc, withoutEncoding(type), dim);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Value broadcastInDim(OpBuilder &b, Location loc, Value x, RankedTensorType type,
                     ArrayRef<int64_t> dims) {
  return BroadcastInDimOp::create(b, loc, withoutEncoding(type), x, dims);
}

Value broadcastAlong(OpBuilder &b, Location loc, Value x, RankedTensorType type,
                     ArrayRef<int64_t> reduced) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(reduced, dim))
      dims.push_back(dim);
  return broadcastInDim(b, loc, x, type, dims);
}

Value reshape(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> shape) {
  if (tensorOf(x).getShape() == shape)
    return x;
  return ReshapeOp::create(b, loc, x, shape);
}

Value transpose(OpBuilder &b, Location loc, Value x,
                ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return x;
  return TransposeOp::create(b, loc, x, permutation);
}

Value reverse(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> dims) {
  return ReverseOp::create(b, loc, x, dims);
}

Value slice(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> starts,
            ArrayRef<int64_t> limits, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> ones(starts.size(), 1);
  return SliceOp::create(b, loc, x, starts, limits,
                         strides.empty() ? ArrayRef<int64_t>(ones) : strides);
}

Value pad(OpBuilder &b, Location loc, Value x, Value value,
          ArrayRef<int64_t> low, ArrayRef<int64_t> high,
          ArrayRef<int64_t> interior) {
  SmallVector<int64_t> zeros(low.size(), 0);
  return PadOp::create(b, loc, x, value, low, high,
                       interior.empty() ? ArrayRef<int64_t>(zeros) : interior);
}

Value concatenate(OpBuilder &b, Location loc, ValueRange xs, int64_t dim) {
  return ConcatenateOp::create(b, loc, xs, dim);
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

DotDimensionNumbersAttr dotDims(MLIRContext *context,
                                ArrayRef<int64_t> lhsBatch,
                                ArrayRef<int64_t> rhsBatch,
                                ArrayRef<int64_t> lhsContract,
                                ArrayRef<int64_t> rhsContract) {
  return DotDimensionNumbersAttr::get(context, lhsBatch, rhsBatch, lhsContract,
                                      rhsContract);
}

Value dotGeneral(OpBuilder &b, Location loc, Value lhs, Value rhs,
                 DotDimensionNumbersAttr dims, Type element) {
  RankedTensorType left = tensorOf(lhs), right = tensorOf(rhs);
  SmallVector<int64_t> shape;
  for (int64_t dim : dims.getLhsBatchingDimensions())
    shape.push_back(left.getDimSize(dim));
  auto appendFree = [&](RankedTensorType type, ArrayRef<int64_t> batch,
                        ArrayRef<int64_t> contract) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
        shape.push_back(type.getDimSize(dim));
  };
  appendFree(left, dims.getLhsBatchingDimensions(),
             dims.getLhsContractingDimensions());
  appendFree(right, dims.getRhsBatchingDimensions(),
             dims.getRhsContractingDimensions());
  auto type =
      RankedTensorType::get(shape, element ? element : left.getElementType());
  return DotGeneralOp::create(b, loc, type, lhs, rhs, dims, ArrayAttr(),
                              DotAlgorithmAttr());
}

//===----------------------------------------------------------------------===//
// Reduction and indexing
//===----------------------------------------------------------------------===//

TypedAttr getNeutralElement(ReductionKind kind, Type element) {
  switch (kind) {
  case ReductionKind::sum:
  case ReductionKind::bitOr:
    return elementOf(element, 0);
  case ReductionKind::product:
    return elementOf(element, 1);
  case ReductionKind::max:
  case ReductionKind::min:
    return getExtreme(element, /*least=*/kind == ReductionKind::max);
  case ReductionKind::bitAnd:
    return IntegerAttr::get(element,
                            APInt::getAllOnes(element.getIntOrFloatBitWidth()));
  }
  llvm_unreachable("all kinds are listed");
}

Value neutralScalar(OpBuilder &b, Location loc, ReductionKind kind,
                    Type element) {
  return scalarOf(b, loc, getNeutralElement(kind, element));
}

Attribute getSplatElement(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    value = broadcast.getOperand();
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return elements.getSplatValue<Attribute>();
}

bool isNeutral(Value value, ReductionKind kind) {
  Attribute splat = getSplatElement(value);
  Type element = getElementTypeOrSelf(value.getType());
  if (!splat || (isBitwise(kind) && isa<FloatType>(element)))
    return false;
  TypedAttr neutral = getNeutralElement(kind, element);
  if (auto real = dyn_cast<FloatAttr>(splat); real && real.getValue().isZero())
    return cast<FloatAttr>(neutral).getValue().isZero();
  return splat == neutral;
}

static Value combine(OpBuilder &b, Location loc, ReductionKind kind, Value x,
                     Value y) {
  switch (kind) {
  case ReductionKind::sum:
    return AddOp::create(b, loc, x, y);
  case ReductionKind::product:
    return MulOp::create(b, loc, x, y);
  case ReductionKind::max:
    return MaxOp::create(b, loc, x, y);
  case ReductionKind::min:
    return MinOp::create(b, loc, x, y);
  case ReductionKind::bitAnd:
    return AndOp::create(b, loc, x, y);
  case ReductionKind::bitOr:
    return OrOp::create(b, loc, x, y);
  }
  llvm_unreachable("all kinds are listed");
}

/// Fills `body` with: return combine(first, second).
static void fillBody(OpBuilder &b, Location loc, ReductionKind kind,
                     Type element, Region &body) {
  OpBuilder::InsertionGuard guard(b);
  Type type = RankedTensorType::get({}, element);
  Block *block = b.createBlock(&body, body.end(), {type, type}, {loc, loc});
  Value result =
      combine(b, loc, kind, block->getArgument(0), block->getArgument(1));
  ReturnOp::create(b, loc, ValueRange{result});
}

Value reduce(OpBuilder &b, Location loc, ReductionKind kind, Value x,
             ArrayRef<int64_t> dims) {
  if (dims.empty())
    return x;
  RankedTensorType type = tensorOf(x);
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(type.getDimSize(dim));
  Type element = type.getElementType();
  Value init = neutralScalar(b, loc, kind, element);
  auto op =
      ReduceOp::create(b, loc, TypeRange{RankedTensorType::get(shape, element)},
                       ValueRange{x}, ValueRange{init}, dims);
  fillBody(b, loc, kind, element, op.getBody());
  return op.getResult().front();
}

Value reduceAdd(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> dims) {
  return reduce(b, loc, ReductionKind::sum, x, dims);
}

Value reduceMax(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> dims) {
  return reduce(b, loc, ReductionKind::max, x, dims);
}

std::optional<ReductionKind> combinationKindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<ReductionKind>>(op)
      .Case<AddOp>([](auto) { return ReductionKind::sum; })
      .Case<MulOp>([](auto) { return ReductionKind::product; })
      .Case<MaxOp>([](auto) { return ReductionKind::max; })
      .Case<MinOp>([](auto) { return ReductionKind::min; })
      .Case<AndOp>([](auto) { return ReductionKind::bitAnd; })
      .Case<OrOp>([](auto) { return ReductionKind::bitOr; })
      .Default(std::optional<ReductionKind>());
}

std::optional<ReductionKind> reduceKindOf(Region &body) {
  if (!body.hasOneBlock() || body.front().getNumArguments() != 2 ||
      body.front().getOperations().size() != 2)
    return std::nullopt;
  Block &block = body.front();
  Operation &op = block.front();
  auto end = dyn_cast<ReturnOp>(block.back());
  if (!end || end.getResults().size() != 1 || op.getNumResults() != 1 ||
      op.getNumOperands() != 2 || end.getResults()[0] != op.getResult(0))
    return std::nullopt;
  Value x = block.getArgument(0), y = block.getArgument(1);
  bool both = (op.getOperand(0) == x && op.getOperand(1) == y) ||
              (op.getOperand(0) == y && op.getOperand(1) == x);
  if (!both)
    return std::nullopt;
  return combinationKindOf(&op);
}

Value gather(OpBuilder &b, Location loc, RankedTensorType type, Value operand,
             Value indices, GatherDimensionNumbersAttr dims,
             ArrayRef<int64_t> sliceSizes, bool sorted) {
  return GatherOp::create(b, loc, withoutEncoding(type), operand, indices, dims,
                          b.getDenseI64ArrayAttr(sliceSizes),
                          b.getBoolAttr(sorted));
}

Value scatter(OpBuilder &b, Location loc, ReductionKind kind, Value input,
              Value indices, Value updates, ScatterDimensionNumbersAttr dims,
              bool sorted, bool unique) {
  RankedTensorType type = withoutEncoding(input.getType());
  auto op = ScatterOp::create(b, loc, TypeRange{type}, ValueRange{input},
                              indices, ValueRange{updates}, dims,
                              b.getBoolAttr(sorted), b.getBoolAttr(unique));
  fillBody(b, loc, kind, type.getElementType(), op.getUpdateComputation());
  return op.getResult().front();
}

} // namespace llmc::stablehlo
