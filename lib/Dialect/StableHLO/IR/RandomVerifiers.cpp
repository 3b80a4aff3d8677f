//===- RandomVerifiers.cpp - Verifiers and names of random bits -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many elements a state has depends on the algorithm; of DEFAULT the
// specification leaves it open, so that nothing is checked here.
// Test: test/Dialect/StableHLO/invalid-random.mlir.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

void RngBitGeneratorOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getOutputState(), "output_state");
  setName(getOutput(), "output");
}

/// The state has as many elements as the algorithm asks for.
static LogicalResult verifyStateSize(RngBitGeneratorOp op) {
  int64_t size = op.getInitialState().getType().getDimSize(0);
  RngAlgorithm algorithm = op.getRngAlgorithm();
  bool hasSize = algorithm == RngAlgorithm::THREE_FRY ? size == 2
                 : algorithm == RngAlgorithm::PHILOX  ? size == 2 || size == 3
                                                      : true;
  if (hasSize)
    return success();
  return op.emitOpError("expected a state of ")
         << (algorithm == RngAlgorithm::PHILOX ? "2 or 3" : "2")
         << " elements for " << stringifyRngAlgorithm(algorithm) << ", got "
         << size;
}

LogicalResult RngBitGeneratorOp::verify() {
  RankedTensorType state = getInitialState().getType();
  if (state.getRank() != 1 || !state.getElementType().isUnsignedInteger(64))
    return emitOpError("expected 'initial_state' to be a vector of ui64, got ")
           << state;
  RankedTensorType next = getOutputState().getType();
  if (!haveSameShape(state, next) || !haveSameElement(state, next))
    return emitOpError("expected 'output_state' of the type of "
                       "'initial_state', ")
           << state << ", got " << next;
  return verifyStateSize(*this);
}

LogicalResult RngOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType();
  if (!haveSameElement(a, b) || !haveSameElement(a, getType()))
    return emitOpError("expected 'a', 'b' and the result of one element type, "
                       "got ")
           << a << ", " << b << " and " << getType();
  if (getRngDistribution() == RngDistribution::NORMAL && !isFloatTensor(a))
    return emitOpError("expected floats for NORMAL, got ")
           << a.getElementType();
  RankedTensorType shape = getShape().getType();
  if (!shape.getElementType().isSignlessInteger(64))
    return emitOpError("expected 'shape' to be a vector of i64, got ") << shape;
  return verifyShape(*this, "'shape'", shape, {getType().getRank()});
}
