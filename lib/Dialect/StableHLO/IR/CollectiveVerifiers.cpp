//===- CollectiveVerifiers.cpp - Verifiers of what devices exchange -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups and pairs are tables of device numbers; -1 fills the rows of shorter
// groups. Which devices the numbers mean is found out where the mesh is known.
// Test: test/Dialect/StableHLO/invalid-collectives.mlir.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

/// A table of rows, with no number twice in `numbers`.
static LogicalResult verifyTable(Operation *op, StringRef name,
                                 DenseIntElementsAttr table) {
  if (table.getType().getRank() != 2)
    return op->emitOpError("expected '")
           << name << "' to have 2 dims, got " << table.getType();
  return success();
}

/// Each number once, all at least `least`; less is padding.
static LogicalResult verifyNumbers(Operation *op, StringRef name,
                                   ArrayRef<int64_t> numbers, int64_t least) {
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t number : numbers) {
    if (number < least)
      return op->emitOpError("expected numbers of at least ")
             << least << " in '" << name << "', got " << number;
    if (number >= 0 && !seen.insert(number).second)
      return op->emitOpError("expected each number once in '")
             << name << "', got " << number << " twice";
  }
  return success();
}

static LogicalResult verifyGroups(Operation *op, DenseIntElementsAttr groups) {
  constexpr StringLiteral name = "replica_groups";
  if (failed(verifyTable(op, name, groups)))
    return failure();
  return verifyNumbers(op, name, llvm::to_vector(groups.getValues<int64_t>()),
                       -1);
}

static LogicalResult verifyDim(Operation *op, StringRef name, int64_t dim,
                               Type type) {
  int64_t rank = cast<RankedTensorType>(type).getRank();
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("expected '")
         << name << "' in [0, " << rank << "), got " << dim;
}

static LogicalResult verifySameType(Operation *op, Type operand, Type result) {
  if (haveSameShape(operand, result) && haveSameElement(operand, result))
    return success();
  return op->emitOpError("expected a result of the operand's type, ")
         << operand << ", got " << result;
}

static LogicalResult verifyOneResultEach(Operation *op) {
  if (op->getNumOperands() == 0)
    return op->emitOpError("expected at least 1 operand, got 0");
  if (op->getNumResults() != op->getNumOperands())
    return op->emitOpError("expected ")
           << op->getNumOperands() << " results, got " << op->getNumResults();
  return success();
}

/// The result is as the operand, with `dim` of another size.
static LogicalResult verifyButFor(Operation *op, int64_t dim, Type operand,
                                  Type result) {
  auto from = cast<RankedTensorType>(operand),
       to = cast<RankedTensorType>(result);
  SmallVector<int64_t> shape(from.getShape());
  if (to.getRank() == from.getRank())
    shape[dim] = to.getDimSize(dim);
  if (!haveSameElement(from, to))
    return op->emitOpError("expected a result of ")
           << from.getElementType() << ", got " << to;
  return verifyShape(op, "a result", to, shape);
}

/// `large` is a multiple of `small`, the sizes of a dim.
static LogicalResult verifyMultiple(Operation *op, int64_t dim, int64_t small,
                                    int64_t large) {
  if (small == 0 ? large == 0 : large % small == 0)
    return success();
  return op->emitOpError("expected sizes of dim ")
         << dim << " of which one is a multiple of the other, got " << small
         << " and " << large;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult AllReduceOp::verify() {
  if (failed(verifyOneResultEach(*this)) ||
      failed(verifyGroups(*this, getReplicaGroups())))
    return failure();
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes()))
    if (failed(verifySameType(*this, operand, result)))
      return failure();
  for (Type type : getOperandTypes())
    if (!haveSameElement(type, getOperandTypes().front()))
      return emitOpError("expected operands of one element type, got ")
             << getOperandTypes().front() << " and " << type;
  return verifyScalarFunction(
      *this, getComputation(),
      cast<RankedTensorType>(getOperandTypes().front()).getElementType());
}

LogicalResult ReduceScatterOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  int64_t dim = getScatterDimension();
  if (failed(verifyGroups(*this, getReplicaGroups())) ||
      failed(verifyDim(*this, "scatter_dimension", dim, from)) ||
      failed(verifyButFor(*this, dim, from, to)) ||
      failed(
          verifyMultiple(*this, dim, to.getDimSize(dim), from.getDimSize(dim))))
    return failure();
  return verifyScalarFunction(*this, getComputation(), from.getElementType());
}

LogicalResult AllGatherOp::verify() {
  int64_t dim = getAllGatherDim();
  if (failed(verifyOneResultEach(*this)) ||
      failed(verifyGroups(*this, getReplicaGroups())))
    return failure();
  for (auto [operand, result] :
       llvm::zip(getOperandTypes(), getResultTypes())) {
    auto from = cast<RankedTensorType>(operand);
    if (failed(verifyDim(*this, "all_gather_dim", dim, from)) ||
        failed(verifyButFor(*this, dim, from, result)) ||
        failed(verifyMultiple(*this, dim, from.getDimSize(dim),
                              cast<RankedTensorType>(result).getDimSize(dim))))
      return failure();
  }
  return success();
}

LogicalResult AllToAllOp::verify() {
  int64_t split = getSplitDimension(), concat = getConcatDimension();
  int64_t count = getSplitCount();
  if (failed(verifyOneResultEach(*this)) ||
      failed(verifyGroups(*this, getReplicaGroups())))
    return failure();
  if (count < 1)
    return emitOpError("expected 'split_count' of at least 1, got ") << count;
  for (auto [operand, result] :
       llvm::zip(getOperandTypes(), getResultTypes())) {
    auto from = cast<RankedTensorType>(operand);
    if (failed(verifyDim(*this, "split_dimension", split, from)) ||
        failed(verifyDim(*this, "concat_dimension", concat, from)))
      return failure();
    if (from.getDimSize(split) % count != 0)
      return emitOpError("expected a multiple of ")
             << count << " along dim " << split << ", got " << from;
    SmallVector<int64_t> shape(from.getShape());
    shape[split] /= count;
    shape[concat] *= count;
    if (!haveSameElement(from, result))
      return emitOpError("expected a result of ")
             << from.getElementType() << ", got " << result;
    if (failed(verifyShape(*this, "a result", result, shape)))
      return failure();
  }
  return success();
}

LogicalResult RaggedAllToAllOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getOutput().getType();
  RankedTensorType slices = getInputOffsets().getType();
  if (failed(verifyGroups(*this, getReplicaGroups())) ||
      failed(verifyDim(*this, "the dim of rows", 0, from)) ||
      failed(verifyButFor(*this, 0, from, to)) ||
      failed(verifySameType(*this, to, getType())))
    return failure();
  for (Value list :
       {getInputOffsets(), getSendSizes(), getOutputOffsets(), getRecvSizes()})
    if (auto type = cast<RankedTensorType>(list.getType());
        type.getRank() != 1 || !isa<IntegerType>(type.getElementType()) ||
        type.getShape() != slices.getShape())
      return emitOpError("expected offsets and sizes as lists of integers of "
                         "one length, got ")
             << slices << " and " << type;
  int64_t size = getReplicaGroups().getType().getDimSize(1);
  if (size > 0 && slices.getDimSize(0) % size == 0)
    return success();
  return emitOpError("expected as many slices for each of the ")
         << size << " devices of a group, got " << slices;
}

LogicalResult CollectiveBroadcastOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups())))
    return failure();
  return verifySameType(*this, getOperand().getType(), getType());
}

LogicalResult CollectivePermuteOp::verify() {
  constexpr StringLiteral name = "source_target_pairs";
  DenseIntElementsAttr pairs = getSourceTargetPairs();
  if (failed(verifyTable(*this, name, pairs)))
    return failure();
  if (pairs.getType().getDimSize(1) != 2)
    return emitOpError("expected pairs in '")
           << name << "', got " << pairs.getType();
  SmallVector<int64_t> columns[2];
  for (auto [i, number] : llvm::enumerate(pairs.getValues<int64_t>()))
    columns[i % 2].push_back(number);
  for (ArrayRef<int64_t> column : columns)
    if (failed(verifyNumbers(*this, name, column, 0)))
      return failure();
  return verifySameType(*this, getOperand().getType(), getType());
}

static LogicalResult verifyDeviceNumber(Operation *op) {
  Type type = op->getResult(0).getType();
  if (isScalarTensor(type) &&
      cast<RankedTensorType>(type).getElementType().isUnsignedInteger(32))
    return success();
  return op->emitOpError("expected a result of tensor<ui32>, got ") << type;
}

LogicalResult PartitionIdOp::verify() { return verifyDeviceNumber(*this); }
LogicalResult ReplicaIdOp::verify() { return verifyDeviceNumber(*this); }
