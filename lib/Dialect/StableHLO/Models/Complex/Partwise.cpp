//===- Partwise.cpp - Ops that do the same to both parts ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One answer of all moves and of what is linear with real factors:
//
//   transpose (%a, %b)   ->   (transpose %a, transpose %b)
//
// Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#include "Partwise.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

static Type getFirstType(Type type) {
  RankedTensorType part = getPartType(type);
  return part ? Type(part) : type;
}

static bool isComplex(Value value) {
  return getPartType(value.getType()) != nullptr;
}

bool stablehlo::isPartwise(Operation &op) {
  auto answer = dyn_cast<ComplexPartsOpInterface>(&op);
  return (answer && answer.isPartwise()) ||
         (llvm::none_of(op.getOperands(), isComplex) &&
          llvm::none_of(op.getResults(), isComplex));
}

bool stablehlo::isPartwise(Region &region) {
  return llvm::all_of(region.front().without_terminator(),
                      [](Operation &op) { return isPartwise(op); });
}

/// Makes all values in `op`, and its results, those of a part.
static void retype(Operation *op) {
  op->walk([](Operation *inner) {
    for (Value result : inner->getResults())
      result.setType(getFirstType(result.getType()));
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(getFirstType(argument.getType()));
  });
}

void stablehlo::splitPartwise(Operation *op, OpBuilder &builder,
                              ArrayRef<ComplexPair> operands,
                              SmallVectorImpl<ComplexPair> &results) {
  auto build = [&](bool isImag) {
    Operation *part = builder.clone(*op);
    for (auto [i, pair] : llvm::enumerate(operands))
      part->setOperand(i, isImag && pair.imag ? pair.imag : pair.real);
    retype(part);
    return part;
  };
  bool hasTwo = llvm::any_of(op->getResults(), isComplex);
  Operation *real = build(/*isImag=*/false);
  Operation *imag = hasTwo ? build(/*isImag=*/true) : nullptr;
  for (OpResult result : op->getResults()) {
    unsigned i = result.getResultNumber();
    results.push_back(
        {real->getResult(i), isComplex(result) ? imag->getResult(i) : Value()});
  }
}

void stablehlo::splitTogether(Operation *op, OpBuilder &builder,
                              ArrayRef<ComplexPair> operands,
                              SmallVectorImpl<ComplexPair> &results) {
  SmallVector<Value> values;
  for (ComplexPair pair : operands) {
    values.push_back(pair.real);
    if (pair.imag)
      values.push_back(pair.imag);
  }
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.append(isComplex(result) ? 2 : 1, getFirstType(result.getType()));
  Operation *together = Operation::create(
      op->getLoc(), op->getName(), types, values,
      NamedAttrList(op->getDiscardableAttrDictionary()),
      op->getPropertiesStorage(), BlockRange(), op->getNumRegions());
  builder.insert(together);
  for (auto [from, to] : llvm::zip(op->getRegions(), together->getRegions()))
    to.takeBody(from);
  unsigned next = 0;
  for (Value result : op->getResults()) {
    Value real = together->getResult(next++);
    results.push_back(
        {real, isComplex(result) ? together->getResult(next++) : Value()});
  }
}

namespace {
template <typename Op>
struct PartwiseModel
    : ComplexPartsOpInterface::ExternalModel<PartwiseModel<Op>, Op> {
  bool isPartwise(Operation *) const { return true; }
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           SmallVectorImpl<ComplexPair> &results) const {
    splitPartwise(op, builder, operands, results);
    return success();
  }
};
} // namespace

template <typename... Ops> static void attachPartwise(MLIRContext *context) {
  (Ops::template attachInterface<PartwiseModel<Ops>>(*context), ...);
}

void stablehlo::registerComplexMovement(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachPartwise<AddOp, SubtractOp, NegOp, SelectOp>(context);
    attachPartwise<BroadcastInDimOp, BroadcastOp, ReshapeOp, TransposeOp,
                   ReverseOp, SliceOp, PadOp, ConcatenateOp, DynamicSliceOp,
                   DynamicUpdateSliceOp, GatherOp, OptimizationBarrierOp>(
        context);
    attachPartwise<DynamicReshapeOp, DynamicBroadcastInDimOp, DynamicIotaOp,
                   DynamicPadOp, RealDynamicSliceOp, DynamicGatherOp,
                   GetDimensionSizeOp, SetDimensionSizeOp>(context);
  });
}
