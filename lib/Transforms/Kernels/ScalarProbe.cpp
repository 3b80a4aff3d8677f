//===- ScalarProbe.cpp - What an op's scalar code shows -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ScalarProbe.h.
//
// Test: test/Transforms/Kernels/form-library-calls.mlir
//
//===----------------------------------------------------------------------===//

#include "ScalarProbe.h"
#include "ElementEvaluator.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

/// The code of one element of an op's first result, in a block of its own.
struct Probe {
  explicit Probe(Operation *op);

  Block block;
  SmallVector<Value> indices;
  /// Each read: operand, its indices, and the value that stands for it.
  struct Read {
    unsigned operand;
    SmallVector<Value> indices;
    Value element;
  };
  SmallVector<Read> reads;
  Value element;

  const Read *findRead(Value value) const {
    for (const Read &read : reads)
      if (read.element == value)
        return &read;
    return nullptr;
  }
};

Probe::Probe(Operation *op) {
  auto kernel = dyn_cast_or_null<graph::KernelOpInterface>(op);
  if (!kernel || op->getNumResults() != 1 ||
      kernel.getKernelForm() != graph::KernelForm::Element)
    return;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&block);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    indices.push_back(block.addArgument(builder.getIndexType(), op->getLoc()));
  auto source = [&](unsigned operand, ValueRange at) -> Value {
    Type scalar = getScalarType(op->getOperand(operand).getType());
    Value stand = block.addArgument(scalar, op->getLoc());
    reads.push_back({operand, SmallVector<Value>(at), stand});
    return stand;
  };
  element = kernel.emitElement(builder, op->getLoc(), 0, indices, source);
}

} // namespace

bool isAddition(Operation *op) {
  if (!op || op->getNumOperands() != 2)
    return false;
  Probe probe(op);
  Operation *add = probe.element ? probe.element.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return false;
  const Probe::Read *left = probe.findRead(add->getOperand(0));
  const Probe::Read *right = probe.findRead(add->getOperand(1));
  return left && right && left->operand != right->operand &&
         left->indices == probe.indices && right->indices == probe.indices;
}

std::optional<SmallVector<int64_t>> getPermutation(Operation *op) {
  if (!op || op->getNumOperands() != 1)
    return std::nullopt;
  Probe probe(op);
  const Probe::Read *read =
      probe.element ? probe.findRead(probe.element) : nullptr;
  if (!read || read->indices.size() != probe.indices.size())
    return std::nullopt;
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> permutation(probe.indices.size(), -1);
  for (auto [dim, index] : llvm::enumerate(read->indices)) {
    auto *at = llvm::find(probe.indices, index);
    if (at == probe.indices.end())
      return std::nullopt;
    int64_t position = at - probe.indices.begin();
    if (permutation[position] >= 0 ||
        to.getDimSize(position) != from.getDimSize(dim))
      return std::nullopt;
    permutation[position] = dim;
  }
  return permutation;
}

/// The dim of the result for each dim of the one operand, -1 where that has
/// size 1; nothing where the op does more than repeat it.
static std::optional<SmallVector<int64_t>> getRepeatedDims(Operation *op) {
  if (!op || op->getNumOperands() != 1)
    return std::nullopt;
  Probe probe(op);
  const Probe::Read *read =
      probe.element ? probe.findRead(probe.element) : nullptr;
  if (!read)
    return std::nullopt;
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> dims;
  for (auto [size, index] : llvm::zip_equal(from.getShape(), read->indices)) {
    int64_t dim = llvm::find(probe.indices, index) - probe.indices.begin();
    if (size != 1 && (dim == to.getRank() || to.getDimSize(dim) != size))
      return std::nullopt;
    dims.push_back(size == 1 ? -1 : dim);
  }
  return dims;
}

Repetition getRepetition(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  // For each dim of `value` that of the last result; -1 where it has size 1.
  SmallVector<int64_t> dims(type.getRank());
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    dims[dim] = size == 1 ? -1 : dim;
  while (auto step = getRepeatedDims(value.getDefiningOp())) {
    for (int64_t &dim : *step)
      dim = dim < 0 ? -1 : dims[dim];
    dims = std::move(*step);
    value = value.getDefiningOp()->getOperand(0);
  }
  llvm::erase(dims, -1);
  return {value, std::move(dims)};
}

bool isZero(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    Probe probe(op);
    if (!probe.element)
      return false;
    if (matchPattern(probe.element, m_AnyZeroFloat()) ||
        matchPattern(probe.element, m_Zero()))
      return true;
    const Probe::Read *read = probe.findRead(probe.element);
    if (!read)
      return false;
    value = op->getOperand(read->operand);
  }
  return false;
}

} // namespace llmc::kernels
