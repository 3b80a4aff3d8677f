//===- ShapeVerifiers.cpp - Verifiers of element-wise and shape ops -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text comes from outside: every index is checked before it is used, and every
// size is computed with overflow checks. Encodings are never compared.
// Tests: test/Dialect/StableHLO/invalid-*.mlir
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

LogicalResult stablehlo::verifyDistinctDims(Operation *op, StringRef name,
                                            ArrayRef<int64_t> dims,
                                            int64_t rank) {
  SmallVector<bool> seen;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError("expected '")
             << name << "' in [0, " << rank << "), got " << dim;
    seen.resize(rank, false);
    if (seen[dim])
      return op->emitOpError("expected distinct '")
             << name << "', got " << dim << " twice";
    seen[dim] = true;
  }
  return success();
}

LogicalResult stablehlo::verifyCount(Operation *op, StringRef name,
                                     size_t count, size_t expected) {
  if (count == expected)
    return success();
  return op->emitOpError("expected ")
         << expected << (expected == 1 ? " entry" : " entries") << " in '"
         << name << "', got " << count;
}

LogicalResult stablehlo::verifyShape(Operation *op, StringRef what, Type type,
                                     ArrayRef<int64_t> expected) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  if (shape == expected)
    return success();
  InFlightDiagnostic diag = op->emitOpError("expected ")
                            << what << " of shape [";
  llvm::interleaveComma(expected, diag);
  diag << "], got [";
  llvm::interleaveComma(shape, diag);
  return diag << "]";
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

ComparisonType CompareOp::getOrderType() {
  if (std::optional<ComparisonType> type = getCompareType())
    if (*type != ComparisonType::NOTYPE)
      return *type;
  Type element = getLhs().getType().getElementType();
  if (isa<FloatType, ComplexType>(element))
    return ComparisonType::FLOAT;
  return element.isInteger(1) || element.isUnsignedInteger()
             ? ComparisonType::UNSIGNED
             : ComparisonType::SIGNED;
}

LogicalResult CompareOp::verify() {
  Type element = getLhs().getType().getElementType();
  if (!haveSameElement(getLhs().getType(), getRhs().getType()))
    return emitOpError("expected operands of one element type, got ")
           << element << " and " << getRhs().getType().getElementType();
  ComparisonType type = getOrderType();
  ComparisonDirection direction = getComparisonDirection();
  bool isComplex = isa<ComplexType>(element);
  if (isComplex && direction != ComparisonDirection::EQ &&
      direction != ComparisonDirection::NE)
    return emitOpError("expected EQ or NE of complex numbers, got ")
           << stringifyComparisonDirection(direction);
  bool isFloat =
      type == ComparisonType::FLOAT || type == ComparisonType::TOTALORDER;
  bool isUnsigned = element.isInteger(1) || element.isUnsignedInteger();
  if (isFloat != isa<FloatType, ComplexType>(element) ||
      (isComplex && type != ComparisonType::FLOAT) ||
      (!isFloat && isUnsigned != (type == ComparisonType::UNSIGNED)))
    return emitOpError("expected a comparison type that suits ")
           << element << ", got " << stringifyComparisonType(type);
  return success();
}

LogicalResult SelectOp::verify() {
  Type result = getType();
  for (Type type : {getOnTrue().getType(), getOnFalse().getType()})
    if (!haveSameShape(type, result) || !haveSameElement(type, result))
      return emitOpError("expected both choices of the result's shape and "
                         "element type, ")
             << result << ", got " << type;
  if (getPred().getType().getRank() != 0 &&
      !haveSameShape(getPred().getType(), result))
    return emitOpError("expected a predicate of rank 0 or the result's shape, ")
           << result << ", got " << getPred().getType();
  return success();
}

LogicalResult ClampOp::verify() {
  if (!haveSameShape(getOperand().getType(), getType()))
    return emitOpError("expected an operand of the result's shape, ")
           << getType() << ", got " << getOperand().getType();
  for (RankedTensorType bound : {getMin().getType(), getMax().getType()})
    if (bound.getRank() != 0 && !haveSameShape(bound, getType()))
      return emitOpError("expected a bound of rank 0 or the result's shape, ")
             << getType() << ", got " << bound;
  return success();
}

LogicalResult ReducePrecisionOp::verify() {
  if (static_cast<int32_t>(getExponentBits()) < 1)
    return emitOpError("expected at least 1 bit of exponent, got ")
           << static_cast<int32_t>(getExponentBits());
  if (static_cast<int32_t>(getMantissaBits()) < 0)
    return emitOpError("expected no negative bits of mantissa, got ")
           << static_cast<int32_t>(getMantissaBits());
  return success();
}

LogicalResult BitcastConvertOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  unsigned fromWidth = from.getElementType().getIntOrFloatBitWidth();
  unsigned toWidth = to.getElementType().getIntOrFloatBitWidth();
  unsigned wide = std::max(fromWidth, toWidth);
  unsigned narrow = std::min(fromWidth, toWidth);
  if (wide % narrow != 0)
    return emitOpError("expected widths of which one divides the other, got ")
           << from.getElementType() << " and " << to.getElementType();
  SmallVector<int64_t> shape(from.getShape());
  if (fromWidth > toWidth)
    shape.push_back(wide / narrow);
  if (fromWidth < toWidth) {
    if (shape.empty() || shape.back() != int64_t(wide / narrow))
      return emitOpError("expected an operand whose last dimension has ")
             << wide / narrow
             << " elements, the parts of one of the result, got " << from;
    shape.pop_back();
  }
  return verifyShape(*this, "a result", to, shape);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  ShapedType value = getValue().getShapedType();
  if (!haveSameShape(value, getType()) || !haveSameElement(value, getType()))
    return emitOpError("expected a value of the result's shape and element "
                       "type, ")
           << getType() << ", got " << value;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(getValue()))
    if (!resource.getRawHandle().getBlob())
      return emitOpError("expected the elements of resource \"")
             << resource.getRawHandle().getKey()
             << "\", got none (the text was printed with elided constants)";
  return success();
}

LogicalResult IotaOp::verify() {
  int64_t dim = getIotaDimension();
  return verifyDistinctDims(*this, "iota_dimension", dim, getType().getRank());
}

//===----------------------------------------------------------------------===//
// Movement with static positions
//===----------------------------------------------------------------------===//

LogicalResult BroadcastInDimOp::verify() {
  ArrayRef<int64_t> dims = getBroadcastDimensions();
  ArrayRef<int64_t> from = getOperand().getType().getShape();
  ArrayRef<int64_t> to = getType().getShape();
  if (failed(verifyCount(*this, "broadcast_dimensions", dims.size(),
                         from.size())) ||
      failed(
          verifyDistinctDims(*this, "broadcast_dimensions", dims, to.size())))
    return failure();
  for (auto [i, dim] : llvm::enumerate(dims))
    if (from[i] != 1 && from[i] != to[dim])
      return emitOpError("expected dim ")
             << i << " of the operand to be 1 or " << to[dim]
             << ", the size of dim " << dim << " of the result, got "
             << from[i];
  return success();
}

LogicalResult BroadcastOp::verify() {
  SmallVector<int64_t> shape(getBroadcastSizes());
  llvm::append_range(shape, getOperand().getType().getShape());
  if (!haveSameElement(getOperand().getType(), getType()))
    return emitOpError("expected a result of the operand's element type, got ")
           << getType() << " of " << getOperand().getType();
  return verifyShape(*this, "a result", getType(), shape);
}

LogicalResult ReshapeOp::verify() {
  int64_t from = getOperand().getType().getNumElements();
  int64_t to = getType().getNumElements();
  if (from != to)
    return emitOpError("expected a result of ")
           << from << " elements, as the operand has, got " << to;
  return success();
}

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> permutation = getPermutation();
  ArrayRef<int64_t> from = getOperand().getType().getShape();
  if (failed(
          verifyCount(*this, "permutation", permutation.size(), from.size())) ||
      failed(
          verifyDistinctDims(*this, "permutation", permutation, from.size())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(from[dim]);
  return verifyShape(*this, "a result", getType(), shape);
}

LogicalResult ReverseOp::verify() {
  return verifyDistinctDims(*this, "dimensions", getDimensions(),
                            getType().getRank());
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> from = getOperand().getType().getShape();
  ArrayRef<int64_t> starts = getStartIndices(), limits = getLimitIndices(),
                    strides = getStrides();
  if (failed(verifyCount(*this, "start_indices", starts.size(), from.size())) ||
      failed(verifyCount(*this, "limit_indices", limits.size(), from.size())) ||
      failed(verifyCount(*this, "strides", strides.size(), from.size())))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(from)) {
    if (starts[i] < 0 || starts[i] > limits[i] || limits[i] > size)
      return emitOpError("expected 0 <= start <= limit <= ")
             << size << " in dim " << i << ", got " << starts[i] << ":"
             << limits[i];
    if (strides[i] < 1)
      return emitOpError("expected a stride of at least 1 in dim ")
             << i << ", got " << strides[i];
    shape.push_back(sliceSize(starts[i], limits[i], strides[i]));
  }
  return verifyShape(*this, "a result", getType(), shape);
}

int64_t stablehlo::sliceSize(int64_t start, int64_t limit, int64_t stride) {
  return start == limit ? 0 : (limit - start - 1) / stride + 1;
}

std::optional<int64_t> stablehlo::paddedSize(int64_t size, int64_t low,
                                             int64_t high, int64_t interior) {
  int64_t gaps = std::max<int64_t>(size - 1, 0);
  int64_t total;
  if (llvm::MulOverflow(gaps, interior, total) ||
      llvm::AddOverflow(total, size, total) ||
      llvm::AddOverflow(total, low, total) ||
      llvm::AddOverflow(total, high, total) || total < 0)
    return std::nullopt;
  return total;
}

LogicalResult PadOp::verify() {
  ArrayRef<int64_t> from = getOperand().getType().getShape();
  ArrayRef<int64_t> low = getEdgePaddingLow(), high = getEdgePaddingHigh(),
                    interior = getInteriorPadding();
  if (failed(verifyCount(*this, "edge_padding_low", low.size(), from.size())) ||
      failed(
          verifyCount(*this, "edge_padding_high", high.size(), from.size())) ||
      failed(
          verifyCount(*this, "interior_padding", interior.size(), from.size())))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(from)) {
    if (interior[i] < 0)
      return emitOpError("expected an interior padding of at least 0 in dim ")
             << i << ", got " << interior[i];
    std::optional<int64_t> padded =
        paddedSize(size, low[i], high[i], interior[i]);
    if (!padded)
      return emitOpError("expected a padded size in [0, 2^63) in dim ")
             << i << ", got " << low[i] << " + " << high[i] << " + " << size
             << " and " << interior[i] << " between elements";
    shape.push_back(*padded);
  }
  return verifyShape(*this, "a result", getType(), shape);
}

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least 1 operand, got 0");
  int64_t dim = getDimension();
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (failed(verifyDistinctDims(*this, "dimension", dim, first.getRank())))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : getInputs().drop_front()) {
    ArrayRef<int64_t> part = cast<RankedTensorType>(input.getType()).getShape();
    int64_t sum = 0;
    if (part.size() != shape.size() ||
        llvm::AddOverflow(shape[dim], part[dim], sum))
      return emitOpError("expected operands that fit together, got ")
             << first << " and " << input.getType();
    shape[dim] = part[dim];
    if (failed(verifyShape(*this, "an operand", input.getType(), shape)))
      return failure();
    shape[dim] = sum;
  }
  return verifyShape(*this, "a result", getType(), shape);
}

LogicalResult OptimizationBarrierOp::verify() {
  if (getNumOperands() != getNumResults())
    return emitOpError("expected as many results as operands, ")
           << getNumOperands() << ", got " << getNumResults();
  for (auto [i, operand, result] :
       llvm::enumerate(getOperandTypes(), getResultTypes()))
    if (!haveSameShape(operand, result) || !haveSameElement(operand, result))
      return emitOpError("expected result #")
             << i << " of the shape and element type of its operand, "
             << operand << ", got " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes as values
//===----------------------------------------------------------------------===//

LogicalResult GetDimensionSizeOp::verify() {
  if (!getType().getElementType().isSignlessInteger(32))
    return emitOpError("expected a result of i32, got ") << getType();
  return verifyDistinctDims(*this, "dimension",
                            static_cast<int64_t>(getDimension()),
                            getOperand().getType().getRank());
}

LogicalResult SetDimensionSizeOp::verify() {
  RankedTensorType operand = getOperand().getType();
  if (!haveSameShape(operand, getType()) ||
      !haveSameElement(operand, getType()))
    return emitOpError("expected a result of ")
           << operand << ", got " << getType();
  return verifyDistinctDims(*this, "dimension",
                            static_cast<int64_t>(getDimension()),
                            operand.getRank());
}
