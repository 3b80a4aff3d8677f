//===- ConstantFolding.cpp - Integers that are known at import ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op's own evaluation computes the value, and its dialect makes the
// constant.
//
// Test: test/Import/StableHLO/expand-ops.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/Graph/IR/Expansion.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;

/// An evaluation of ops without regions asks nothing of its surroundings; one
/// that does is not folded.
namespace {
struct NoScope : EvaluationScope {
  LogicalResult evaluateRegion(Region &, ArrayRef<HostTensor>,
                               SmallVectorImpl<HostTensor> &) override {
    return failure();
  }
  int64_t getCoordinate(StringRef) override { return 0; }
};
} // namespace

static bool isFolded(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding() &&
         isa<IntegerType>(tensor.getElementType()) &&
         getElementBytes(tensor.getElementType()) != 0;
}

static int64_t countElements(TypeRange types) {
  int64_t count = 0;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && tensor.hasStaticShape())
      count += tensor.getNumElements();
  return count;
}

/// Neither large, nor a repetition: were that folded where it is small, a plan
/// would depend on the batch.
static bool isSmall(Operation *op) {
  int64_t read = countElements(op->getOperandTypes());
  int64_t written = countElements(op->getResultTypes());
  return written <= read && read <= kMostFoldedElements;
}

std::optional<HostTensor> graph::getConstant(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  FailureOr<HostTensor> tensor = HostTensor::fromAttribute(attribute);
  if (failed(tensor))
    return std::nullopt;
  return std::move(*tensor);
}

/// The operands' values; nothing where one is not a constant.
static bool readConstants(Operation *op, SmallVectorImpl<HostTensor> &values) {
  for (Value operand : op->getOperands()) {
    std::optional<HostTensor> value = getConstant(operand);
    if (!value)
      return false;
    values.push_back(std::move(*value));
  }
  return true;
}

bool graph::computePure(Operation *op, ArrayRef<HostTensor> operands,
                        SmallVectorImpl<HostTensor> &results) {
  auto evaluation = dyn_cast<EvaluationOpInterface>(op);
  NoScope scope;
  return evaluation && op->getNumRegions() == 0 && isPure(op) &&
         succeeded(evaluation.evaluate(operands, scope, results));
}

bool graph::foldIntegers(Operation *op) {
  if (op->getNumOperands() == 0 ||
      !llvm::all_of(op->getResultTypes(), isFolded) || !isSmall(op))
    return false;
  SmallVector<HostTensor> operands, results;
  if (!readConstants(op, operands) || !computePure(op, operands, results))
    return false;
  OpBuilder builder(op);
  for (auto [old, value] : llvm::zip_equal(op->getResults(), results)) {
    Operation *constant = op->getDialect()->materializeConstant(
        builder, value.toAttribute(), old.getType(), op->getLoc());
    if (!constant)
      return false;
    old.replaceAllUsesWith(constant->getResult(0));
  }
  eraseWithOperands(op);
  return true;
}

static std::string describeArgument(BlockArgument argument) {
  std::string text = "argument " + std::to_string(argument.getArgNumber());
  if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
    text += " ('" + name.getName().str() + "')";
  return text;
}

std::string graph::describeUnknown(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto isUnknown = [](Value operand) {
      return !matchPattern(operand, m_Constant());
    };
    auto unknown = llvm::find_if(op->getOperands(), isUnknown);
    if (unknown == op->operand_end())
      return "'" + op->getName().getStringRef().str() +
             "', which import does not compute";
    value = *unknown;
  }
  return describeArgument(cast<BlockArgument>(value));
}
