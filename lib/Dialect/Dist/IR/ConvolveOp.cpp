//===- ConvolveOp.cpp - Verifiers of convolutions by a library ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/Dist/ops.mlir, invalid-convolve.mlir
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Base/Float8Factors.h"
#include "llmc/Support/StoredElements.h"

using namespace mlir;
using namespace llmc::dist;

LogicalResult
WindowAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   int64_t stride, int64_t low, int64_t lhsDilation,
                   int64_t rhsDilation, bool reversed) {
  if (stride >= 1 && lhsDilation >= 1 && rhsDilation >= 1)
    return success();
  return emitError() << "expected a stride and dilations of at least 1, got "
                     << stride << ", " << lhsDilation << " and " << rhsDilation;
}

/// The list names each dim of the tensor once.
static LogicalResult verifyList(ConvolveOp op, StringRef name,
                                RankedTensorType type, ArrayRef<int64_t> dims) {
  SmallVector<bool> used(type.getRank(), false);
  bool isSound =
      static_cast<int64_t>(dims.size()) == type.getRank() && dims.size() >= 2;
  for (int64_t dim : dims) {
    isSound = isSound && dim >= 0 && dim < type.getRank() && !used[dim];
    if (isSound)
      used[dim] = true;
  }
  if (isSound)
    return success();
  return op.emitOpError() << "expected each dim of the " << name << " " << type
                          << " once, 2 at least, got [" << dims << "]";
}

static LogicalResult verifyLists(ConvolveOp op) {
  if (failed(verifyList(op, "left side", op.getLhs().getType(),
                        op.getLhsDims())) ||
      failed(verifyList(op, "right side", op.getRhs().getType(),
                        op.getRhsDims())) ||
      failed(verifyList(op, "result", op.getResult().getType(),
                        op.getResultDims())))
    return failure();
  size_t count = op.getWindows().size() + 2;
  if (op.getLhsDims().size() == count && op.getRhsDims().size() == count &&
      op.getResultDims().size() == count)
    return success();
  return op.emitOpError() << "expected tensors of rank " << count << " for "
                          << op.getWindows().size() << " windows, got "
                          << op.getLhsDims().size() << ", "
                          << op.getRhsDims().size() << " and "
                          << op.getResultDims().size();
}

/// Groups, batches and features. Lists have been verified.
static LogicalResult verifySizes(ConvolveOp op) {
  int64_t features = op.getFeatureGroups(), batches = op.getBatchGroups();
  if (features < 1 || batches < 1 || (features > 1 && batches > 1))
    return op.emitOpError()
           << "expected group counts of at least 1, one of "
              "them 1, got "
           << features << " of features and " << batches << " of the batch";
  auto sizeOf = [](RankedTensorType type, ArrayRef<int64_t> dims, size_t at) {
    return type.getDimSize(dims[at]);
  };
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType(),
                   result = op.getResult().getType();
  struct Pair {
    StringRef what;
    int64_t wanted, found;
  };
  for (const Pair &pair :
       {Pair{"input features", sizeOf(rhs, op.getRhsDims(), 0) * features,
             sizeOf(lhs, op.getLhsDims(), 1)},
        Pair{"samples", sizeOf(result, op.getResultDims(), 0) * batches,
             sizeOf(lhs, op.getLhsDims(), 0)},
        Pair{"output features", sizeOf(result, op.getResultDims(), 1),
             sizeOf(rhs, op.getRhsDims(), 1)}})
    if (pair.wanted != pair.found)
      return op.emitOpError() << "expected " << pair.wanted << " " << pair.what
                              << ", got " << pair.found;
  int64_t outputs = sizeOf(rhs, op.getRhsDims(), 1);
  if (outputs % op.getGroups() == 0)
    return success();
  return op.emitOpError() << "expected output features that " << op.getGroups()
                          << " groups divide, got " << outputs;
}

static LogicalResult verifyAddends(ConvolveOp op) {
  RankedTensorType result = op.getResult().getType();
  if (op.getAccumulator() && op.getBias())
    return op.emitOpError("expected an accumulator or a bias, got both");
  if (op.getAccumulator() && op.getAccumulator().getType() != result)
    return op.emitOpError() << "expected an accumulator of " << result
                            << ", got " << op.getAccumulator().getType();
  if (!op.getBias())
    return success();
  RankedTensorType bias = op.getBias().getType();
  int64_t features = result.getDimSize(op.getResultDims()[1]);
  if (bias.getElementType() == result.getElementType() &&
      bias.getNumElements() == features)
    return success();
  return op.emitOpError() << "expected a bias of "
                          << RankedTensorType::get({features},
                                                   result.getElementType())
                          << ", got " << bias;
}

LogicalResult ConvolveOp::verify() {
  Type left = getLhs().getType().getElementType(),
       right = getRhs().getType().getElementType();
  std::optional<rt::DType> a = getRuntimeDType(left),
                           b = getRuntimeDType(right);
  if (left != right && !(a && b && rt::multiplyTogether(*a, *b)))
    return emitOpError() << "expected sides of equal element type or of floats "
                            "of 8 bits, got "
                         << left << " and " << right;
  if (failed(verifyLists(*this)) || failed(verifySizes(*this)))
    return failure();
  return verifyAddends(*this);
}
