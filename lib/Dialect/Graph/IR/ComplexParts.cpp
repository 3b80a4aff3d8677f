//===- ComplexParts.cpp - What ops do to parts of numbers -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ComplexParts.h. Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/ComplexParts.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace llmc;
using graph::ComplexPair;
using graph::getPartType;

namespace llmc::graph {
#include "llmc/Dialect/Graph/IR/ComplexParts.cpp.inc"
} // namespace llmc::graph

RankedTensorType llmc::graph::getPartType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element =
      tensor ? dyn_cast<ComplexType>(tensor.getElementType()) : ComplexType();
  return element ? tensor.clone(element.getElementType()) : RankedTensorType();
}

//===----------------------------------------------------------------------===//
// Ops of their parts
//===----------------------------------------------------------------------===//

static Type getFirstType(Type type) {
  RankedTensorType part = getPartType(type);
  return part ? Type(part) : type;
}

static bool isComplex(Value value) {
  return getPartType(value.getType()) != nullptr;
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

void graph::splitPartwise(Operation *op, OpBuilder &builder,
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

Operation *graph::splitTogether(Operation *op, OpBuilder &builder,
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
  return together;
}
