//===- StructuredVerifiers.cpp - Verifiers of contraction and reduction ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result shapes follow from the operands: dot_general gives batch, free of the
// left side, free of the right side; reduce gives the dimensions that remain.
// Test: test/Dialect/StableHLO/invalid-structured.mlir.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "llmc/Support/PublishedDialect.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

/// Batching and contracting dimensions of a side lie in it, each once.
static LogicalResult verifySide(DotGeneralOp op, StringRef name,
                                ArrayRef<int64_t> batch,
                                ArrayRef<int64_t> contract,
                                RankedTensorType type) {
  SmallVector<int64_t> all(batch);
  all.append(contract.begin(), contract.end());
  return verifyDistinctDims(op, name, all, type.getRank());
}

static void appendFree(RankedTensorType type, ArrayRef<int64_t> batch,
                       ArrayRef<int64_t> contract,
                       SmallVectorImpl<int64_t> &shape) {
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(batch, static_cast<int64_t>(dim)) &&
        !llvm::is_contained(contract, static_cast<int64_t>(dim)))
      shape.push_back(size);
}

static LogicalResult verifyPrecisionCount(Operation *op,
                                          std::optional<ArrayAttr> precisions) {
  if (!precisions || precisions->empty())
    return success();
  return verifyCount(op, "precision_config", precisions->size(), 2);
}

static LogicalResult verifyPrecision(DotGeneralOp op) {
  auto precisions = op.getPrecisionConfig();
  if (failed(verifyPrecisionCount(op, precisions)))
    return failure();
  if (!precisions || !op.getAlgorithm())
    return success();
  for (auto precision : precisions->getAsRange<PrecisionAttr>())
    if (precision.getValue() != Precision::DEFAULT)
      return op.emitOpError("expected precision DEFAULT beside an algorithm, "
                            "got ")
             << stringifyPrecision(precision.getValue());
  return success();
}

/// All floats or all integers.
static LogicalResult verifyElements(Operation *op, Type lhs, Type rhs,
                                    Type result) {
  auto kindOf = [](Type type) {
    return isComplexTensor(type) ? 2 : isFloatTensor(type) ? 1 : 0;
  };
  int kind = kindOf(result);
  if (kindOf(lhs) == kind && kindOf(rhs) == kind)
    return success();
  return op->emitOpError("expected operands and result all of floats, all of "
                         "integers or all of complex numbers, got ")
         << lhs << ", " << rhs << " and " << result;
}

LogicalResult DotGeneralOp::verify() {
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatch = dims.getLhsBatchingDimensions();
  ArrayRef<int64_t> rhsBatch = dims.getRhsBatchingDimensions();
  ArrayRef<int64_t> lhsContract = dims.getLhsContractingDimensions();
  ArrayRef<int64_t> rhsContract = dims.getRhsContractingDimensions();
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  if (failed(verifySide(*this, "lhs dimensions", lhsBatch, lhsContract, lhs)) ||
      failed(verifySide(*this, "rhs dimensions", rhsBatch, rhsContract, rhs)) ||
      failed(verifyPairs(*this, lhs, rhs, "batching", lhsBatch, rhsBatch)) ||
      failed(verifyPairs(*this, lhs, rhs, "contracting", lhsContract,
                         rhsContract)) ||
      failed(verifyPrecision(*this)) ||
      failed(verifyElements(*this, lhs, rhs, getType())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : lhsBatch)
    shape.push_back(lhs.getDimSize(dim));
  appendFree(lhs, lhsBatch, lhsContract, shape);
  appendFree(rhs, rhsBatch, rhsContract, shape);
  return verifyShape(*this, "a result", getType(), shape);
}

LogicalResult DotOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  for (RankedTensorType type : {lhs, rhs})
    if (type.getRank() != 1 && type.getRank() != 2)
      return emitOpError("expected operands of rank 1 or 2, got ") << type;
  if (lhs.getShape().back() != rhs.getShape().front())
    return emitOpError("expected a right operand whose first dimension has "
                       "size ")
           << lhs.getShape().back() << ", got " << rhs;
  if (failed(verifyPrecisionCount(*this, getPrecisionConfig())) ||
      failed(verifyElements(*this, lhs, rhs, getType())))
    return failure();
  SmallVector<int64_t> shape(lhs.getShape().drop_back());
  llvm::append_range(shape, rhs.getShape().drop_front());
  return verifyShape(*this, "a result", getType(), shape);
}

//===----------------------------------------------------------------------===//
// Functions of scalars
//===----------------------------------------------------------------------===//

LogicalResult stablehlo::verifyScalarFunction(Operation *op, Region &body,
                                              ArrayRef<Type> elements) {
  size_t count = elements.size();
  Block &block = body.front();
  if (block.getNumArguments() != 2 * count)
    return op->emitOpError("expected a body of ")
           << 2 * count << " arguments, got " << block.getNumArguments();
  auto isScalar = [&](Type type, Type element) {
    return isScalarOrComplexTensor(type) &&
           cast<RankedTensorType>(type).getElementType() == element;
  };
  for (auto [i, type] : llvm::enumerate(block.getArgumentTypes()))
    if (!isScalar(type, elements[i % count]))
      return op->emitOpError("expected body argument #")
             << i << " to be a scalar of " << elements[i % count] << ", got "
             << type;
  auto end = block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
  if (!end)
    return op->emitOpError("expected the body to end in 'stablehlo.return'");
  if (end.getResults().size() != count)
    return op->emitOpError("expected a body that returns ")
           << count << (count == 1 ? " value" : " values") << ", got "
           << end.getResults().size();
  for (auto [i, type] : llvm::enumerate(end.getResults().getTypes()))
    if (!isScalar(type, elements[i]))
      return op->emitOpError("expected the body to return a scalar of ")
             << elements[i] << ", got " << type;
  return success();
}

LogicalResult stablehlo::verifyScalarPredicate(Operation *op, StringRef what,
                                               Region &body,
                                               ArrayRef<Type> elements) {
  Block &block = body.front();
  if (block.getNumArguments() != 2 * elements.size())
    return op->emitOpError("expected a ")
           << what << " of " << 2 * elements.size() << " arguments, got "
           << block.getNumArguments();
  for (auto [i, type] : llvm::enumerate(block.getArgumentTypes()))
    if (!isScalarOrComplexTensor(type) ||
        cast<RankedTensorType>(type).getElementType() != elements[i / 2])
      return op->emitOpError("expected ")
             << what << " argument #" << i << " to be a scalar of "
             << elements[i / 2] << ", got " << type;
  auto end = block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
  auto boolean =
      RankedTensorType::get({}, IntegerType::get(op->getContext(), 1));
  if (!end || end.getResults().size() != 1 ||
      end.getResults().front().getType() != boolean)
    return op->emitOpError("expected a ")
           << what << " that returns one " << boolean;
  return success();
}

LogicalResult MapOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least 1 input, got 0");
  int64_t rank = getType().getRank();
  if (!llvm::equal(getDimensions(), llvm::seq<int64_t>(0, rank)))
    return emitOpError("expected 'dimensions' from 0 to ")
           << rank - 1 << " in order, got " << getDimensions().size()
           << " others";
  Block &block = getComputation().front();
  auto end = block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
  if (!end || block.getNumArguments() != getInputs().size() ||
      end.getResults().size() != 1)
    return emitOpError("expected a computation of ")
           << getInputs().size() << " arguments that returns one value";
  auto isElement = [](Type scalar, Type tensor) {
    return isScalarOrComplexTensor(scalar) && haveSameElement(scalar, tensor);
  };
  for (auto [argument, input] :
       llvm::zip_equal(block.getArguments(), getInputs()))
    if (failed(verifyShape(*this, "an input", input.getType(),
                           getType().getShape())))
      return failure();
    else if (!isElement(argument.getType(), input.getType()))
      return emitOpError("expected a scalar for the elements of ")
             << input.getType() << ", got " << argument.getType();
  Type returned = end.getResults().front().getType();
  if (!isElement(returned, getType()))
    return emitOpError("expected the computation to return an element of ")
           << getType() << ", got " << returned;
  return success();
}

LogicalResult ReduceOp::verify() {
  size_t count = getInputs().size();
  if (count == 0)
    return emitOpError("expected at least 1 input, got 0");
  if (getNumResults() != count)
    return emitOpError("expected ")
           << count << (count == 1 ? " result" : " results") << ", got "
           << getNumResults();
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  if (failed(verifyDistinctDims(*this, "dimensions", getDimensions(),
                                first.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(first.getShape()))
    if (!llvm::is_contained(getDimensions(), static_cast<int64_t>(dim)))
      shape.push_back(size);
  SmallVector<Type> elements;
  for (auto [input, init, result] :
       llvm::zip(getInputs().getTypes(), getInitValues().getTypes(),
                 getResultTypes())) {
    if (failed(verifyShape(*this, "an input", input, first.getShape())) ||
        failed(verifyShape(*this, "a result", result, shape)))
      return failure();
    if (!haveSameElement(input, init) || !haveSameElement(input, result))
      return emitOpError("expected input, init and result of one element type, "
                         "got ")
             << input << ", " << init << " and " << result;
    elements.push_back(cast<RankedTensorType>(input).getElementType());
  }
  return verifyScalarFunction(*this, getBody(), elements);
}

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

int64_t SortOp::getSortedDim() {
  auto type = cast<RankedTensorType>(getInputs().front().getType());
  int64_t dim = getDimension();
  return dim < 0 ? dim + type.getRank() : dim;
}

LogicalResult SortOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least 1 input, got 0");
  if (getNumResults() != getInputs().size())
    return emitOpError("expected ")
           << getInputs().size() << " results, got " << getNumResults();
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  int64_t dim = getDimension();
  if (dim < -first.getRank() || dim >= first.getRank())
    return emitOpError("expected 'dimension' in [")
           << -first.getRank() << ", " << first.getRank() << "), got " << dim;
  SmallVector<Type> elements;
  for (auto [input, result] :
       llvm::zip(getInputs().getTypes(), getResultTypes())) {
    if (failed(verifyShape(*this, "an input", input, first.getShape())) ||
        failed(verifyShape(*this, "a result", result, first.getShape())))
      return failure();
    if (!haveSameElement(input, result))
      return emitOpError("expected inputs and results of the same element "
                         "types, got ")
             << input << " and " << result;
    elements.push_back(cast<RankedTensorType>(input).getElementType());
  }
  return verifyScalarPredicate(*this, "comparator", getComparator(), elements);
}
