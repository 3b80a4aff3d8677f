//===- KernelOps.cpp - Kernels, launches and contractions -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of kernels and of what program bodies hold once they are formed.
// The code of a kernel is compared with what the kernel says of itself, so that
// every reader may ask the kernel alone. Tested by
// test/Dialect/Dist/invalid-kernels.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Base/Float8Factors.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace llmc::dist;

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

LogicalResult
ArgumentAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     Access access, Type type, int64_t bound) {
  if (access == Access::Scalar) {
    if (!isa<IntegerType>(type) || bound < 1)
      return emitError() << "expected a scalar to be an integer below a bound "
                            "of at least 1, got "
                         << type << " below " << bound;
    return success();
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != 1 || !tensor.hasStaticShape() ||
      tensor.getEncoding() || !tensor.getElementType().isIntOrFloat() || bound)
    return emitError() << "expected memory to be a tensor of one static "
                          "dimension, got "
                       << type << (bound ? " with a bound" : "");
  return success();
}

Type ArgumentAttr::getCodeType() const {
  if (isScalar())
    return IndexType::get(getContext());
  auto tensor = cast<RankedTensorType>(getType());
  return MemRefType::get(tensor.getShape(),
                         llmc::getMemoryType(tensor.getElementType()));
}

LogicalResult
LaunchShapeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                        int64_t rows, int64_t threads, int64_t shared,
                        int64_t align) {
  auto isCount = [](int64_t value, int64_t least) {
    return value >= least && value <= INT32_MAX;
  };
  if (!isCount(rows, 1) || !isCount(threads, 1) || !isCount(shared, 0))
    return emitError() << "expected at least 1 row, 1 thread and 0 shared "
                          "bytes, got "
                       << rows << ", " << threads << " and " << shared;
  if (align < 1 || align > 64 || (align & (align - 1)))
    return emitError() << "expected an alignment of a power of two up to 64, "
                          "got "
                       << align;
  return success();
}

FunctionType KernelOp::getCodeType() {
  SmallVector<Type> types;
  for (ArgumentAttr argument : getArgumentRange())
    types.push_back(argument.getCodeType());
  types.append(2, IndexType::get(getContext()));
  types.push_back(
      MemRefType::get({getScratch()}, IntegerType::get(getContext(), 8)));
  return FunctionType::get(getContext(), types, {});
}

LogicalResult KernelOp::verify() {
  if (getTarget().empty())
    return emitOpError() << "expected the name of a target, got \"\"";
  if (getRows() < 0 || getScratch() < 0)
    return emitOpError() << "expected rows and scratch of at least 0, got "
                         << getRows() << " and " << getScratch();
  return success();
}

LogicalResult KernelOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto code =
      tables.lookupNearestSymbolFrom<func::FuncOp>(*this, getCodeAttr());
  if (!code)
    return emitOpError() << "expected function " << getCodeAttr()
                         << " beside the kernel, got none";
  if (code.getFunctionType() != getCodeType())
    return emitOpError() << "expected " << getCodeAttr() << " to be "
                         << getCodeType() << ", got " << code.getFunctionType();
  return success();
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

/// Reads `[result, operand]`; nothing when it is no such pair.
static std::optional<std::pair<int64_t, int64_t>> readPair(Attribute attr) {
  auto pair = dyn_cast<ArrayAttr>(attr);
  if (!pair || pair.size() != 2)
    return std::nullopt;
  auto result = dyn_cast<IntegerAttr>(pair[0]);
  auto operand = dyn_cast<IntegerAttr>(pair[1]);
  if (!result || !operand)
    return std::nullopt;
  return std::make_pair(result.getValue().getSExtValue(),
                        operand.getValue().getSExtValue());
}

SmallVector<std::pair<int64_t, int64_t>> LaunchOp::getTiedPairs() {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  if (getTied())
    for (Attribute attr : getTiedAttr())
      if (auto pair = readPair(attr))
        pairs.push_back(*pair);
  return pairs;
}

/// Size of a tensor of numbers in bits, as memory holds it, or nothing. An i1
/// has a byte.
static std::optional<int64_t> getBits(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !tensor.getElementType().isIntOrFloat())
    return std::nullopt;
  return tensor.getNumElements() *
         std::max(tensor.getElementTypeBitWidth(), 8u);
}

LogicalResult LaunchOp::verify() {
  if (getScratch() < 0)
    return emitOpError() << "expected scratch of at least 0 bytes, got "
                         << getScratch();
  if (!getTied())
    return success();
  llvm::DenseSet<int64_t> results, operands;
  for (Attribute attr : getTiedAttr()) {
    auto pair = readPair(attr);
    if (!pair)
      return emitOpError() << "expected [result, operand] in `tied`, got "
                           << attr;
    auto [result, operand] = *pair;
    if (result < 0 || result >= getNumResults() || operand < 0 ||
        operand >= getNumOperands())
      return emitOpError() << "expected tied pairs of " << getNumResults()
                           << " results and " << getNumOperands()
                           << " operands, got " << attr;
    if (!results.insert(result).second || !operands.insert(operand).second)
      return emitOpError() << "expected results and operands tied once, got "
                           << attr << " again";
    std::optional<int64_t> bits = getBits(getResult(result).getType());
    if (!bits || bits != getBits(getOperand(operand).getType()))
      return emitOpError() << "expected tied types of equal size, got "
                           << getResult(result).getType() << " and "
                           << getOperand(operand).getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

/// Verifies that the dims of one side are in range and none twice, and appends
/// the sizes of those that are left to `rest`.
static LogicalResult collectRest(ContractOp op, StringRef side,
                                 RankedTensorType type, ArrayRef<int64_t> batch,
                                 ArrayRef<int64_t> contracting,
                                 SmallVectorImpl<int64_t> &rest) {
  SmallVector<bool> used(type.getRank(), false);
  for (ArrayRef<int64_t> dims : {batch, contracting})
    for (int64_t dim : dims) {
      if (dim < 0 || dim >= type.getRank() || used[dim])
        return op.emitOpError() << "expected distinct dims of the " << side
                                << " side of " << type << ", got " << dim;
      used[dim] = true;
    }
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!used[dim])
      rest.push_back(type.getDimSize(dim));
  return success();
}

static LogicalResult verifyPairs(ContractOp op, StringRef kind,
                                 ArrayRef<int64_t> left,
                                 ArrayRef<int64_t> right) {
  auto lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  if (left.size() != right.size())
    return op.emitOpError()
           << "expected as many " << kind << " dims on both sides, got "
           << left.size() << " and " << right.size();
  for (auto [l, r] : llvm::zip_equal(left, right))
    if (lhs.getDimSize(l) != rhs.getDimSize(r))
      return op.emitOpError()
             << "expected " << kind << " dims of equal size, got "
             << lhs.getDimSize(l) << " and " << rhs.getDimSize(r);
  return success();
}

int64_t ContractOp::getNumRightDims() {
  return getRhs().getType().getRank() - getRhsBatch().size() -
         getRhsContracting().size();
}

/// Element type and sizes, but for those that are 1, of the dims left of the
/// right side.
static LogicalResult verifyBias(ContractOp op) {
  if (!op.getBias())
    return success();
  if (op.getAccumulator())
    return op.emitOpError("expected an accumulator or a bias, got both");
  auto type = op.getBias().getType(), result = op.getResult().getType();
  auto isLong = [](int64_t size) { return size != 1; };
  ArrayRef<int64_t> right = result.getShape().take_back(op.getNumRightDims());
  if (type.getElementType() == result.getElementType() &&
      llvm::equal(llvm::make_filter_range(type.getShape(), isLong),
                  llvm::make_filter_range(right, isLong)))
    return success();
  return op.emitOpError() << "expected a bias of "
                          << RankedTensorType::get(right,
                                                   result.getElementType())
                          << ", got " << type;
}

LogicalResult ContractOp::verify() {
  auto lhs = getLhs().getType(), rhs = getRhs().getType();
  std::optional<rt::DType> a = getRuntimeDType(lhs.getElementType()),
                           b = getRuntimeDType(rhs.getElementType());
  if (lhs.getElementType() != rhs.getElementType() &&
      !(a && b && rt::multiplyTogether(*a, *b)))
    return emitOpError() << "expected sides of equal element type or of floats "
                            "of 8 bits, got "
                         << lhs.getElementType() << " and "
                         << rhs.getElementType();
  SmallVector<int64_t> left, right;
  if (failed(collectRest(*this, "left", lhs, getLhsBatch(), getLhsContracting(),
                         left)) ||
      failed(collectRest(*this, "right", rhs, getRhsBatch(),
                         getRhsContracting(), right)) ||
      failed(verifyPairs(*this, "batch", getLhsBatch(), getRhsBatch())) ||
      failed(verifyPairs(*this, "contracting", getLhsContracting(),
                         getRhsContracting())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : getLhsBatch())
    shape.push_back(lhs.getDimSize(dim));
  llvm::append_range(shape, left);
  llvm::append_range(shape, right);
  if (getResult().getType().getShape() != ArrayRef(shape))
    return emitOpError() << "expected a result of shape [" << ArrayRef(shape)
                         << "], got " << getResult().getType();
  if (getAccumulator() && getAccumulator().getType() != getResult().getType())
    return emitOpError() << "expected an accumulator of "
                         << getResult().getType() << ", got "
                         << getAccumulator().getType();
  return verifyBias(*this);
}
