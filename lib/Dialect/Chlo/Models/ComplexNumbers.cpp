//===- ComplexNumbers.cpp - Functions of complex numbers ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   square (a, b)   ->   (a^2 - b^2, 2 a b)
//   sinh (a, b)     ->   (sinh a * cos b, cosh a * sin b)
//   cosh (a, b)     ->   (cosh a * cos b, sinh a * sin b)
//
// Test: test/EndToEnd/complex.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/Graph/IR/ComplexParts.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;
using graph::ComplexPair;

static ComplexPair squarePair(OpBuilder &b, Location loc, ComplexPair x) {
  Value real = stablehlo::mul(b, loc, x.real, x.real);
  Value imag = stablehlo::mul(b, loc, x.imag, x.imag);
  Value both = stablehlo::mul(b, loc, x.real, x.imag);
  return {stablehlo::sub(b, loc, real, imag),
          stablehlo::add(b, loc, both, both)};
}

/// `First` of the real part times a cosine, `Second` times a sine.
template <typename First, typename Second>
static ComplexPair turnPair(OpBuilder &b, Location loc, ComplexPair x) {
  Value first = First::create(b, loc, x.real);
  Value second = Second::create(b, loc, x.real);
  return {stablehlo::mul(b, loc, first, stablehlo::cosine(b, loc, x.imag)),
          stablehlo::mul(b, loc, second, stablehlo::sine(b, loc, x.imag))};
}

namespace {
template <typename Op,
          ComplexPair (*function)(OpBuilder &, Location, ComplexPair)>
struct FunctionParts
    : graph::ComplexPartsOpInterface::ExternalModel<FunctionParts<Op, function>,
                                                    Op> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           SmallVectorImpl<ComplexPair> &results) const {
    results.push_back(function(builder, op->getLoc(), operands[0]));
    return success();
  }
};
} // namespace

void chlo::registerComplexModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    SquareOp::attachInterface<FunctionParts<SquareOp, squarePair>>(*context);
    SinhOp::attachInterface<FunctionParts<SinhOp, turnPair<SinhOp, CoshOp>>>(
        *context);
    CoshOp::attachInterface<FunctionParts<CoshOp, turnPair<CoshOp, SinhOp>>>(
        *context);
  });
}
