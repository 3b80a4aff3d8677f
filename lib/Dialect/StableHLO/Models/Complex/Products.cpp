//===- Products.cpp - Products of complex tensors -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is linear in each of its two operands is four products of parts:
//
//   dot_general (%a, %b), (%c, %d)
//     ->   (dot %a, %c - dot %b, %d, dot %a, %d + dot %b, %c)
//
// Those with a part that is the constant 0 are left out.
//
// Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/ComplexMath.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
/// The op on one part of each side; null where one of them is 0.
struct PartProduct {
  Operation *op;
  OpBuilder &b;
  ArrayRef<ComplexPair> operands;

  Value build(Value lhs, Value rhs) {
    for (Value side : {lhs, rhs})
      if (isNeutral(side, ReductionKind::sum))
        return {};
    Operation *product = b.clone(*op);
    product->setOperand(0, lhs);
    product->setOperand(1, rhs);
    product->getResult(0).setType(getPartType(op->getResult(0).getType()));
    return product->getResult(0);
  }

  Value sum(Value x, Value y, bool isDifference) {
    Location loc = op->getLoc();
    if (x && y)
      return isDifference ? sub(b, loc, x, y) : add(b, loc, x, y);
    if (!x && !y)
      return constantSplat(b, loc, getPartType(op->getResult(0).getType()), 0);
    return x ? x : isDifference ? neg(b, loc, y) : y;
  }
};

template <typename Op>
struct ProductParts
    : ComplexPartsOpInterface::ExternalModel<ProductParts<Op>, Op> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           SmallVectorImpl<ComplexPair> &results) const {
    PartProduct product{op, builder, operands};
    ComplexPair x = operands[0], y = operands[1];
    Value first = product.build(x.real, y.real);
    Value second = product.build(x.imag, y.imag);
    Value third = product.build(x.real, y.imag);
    Value fourth = product.build(x.imag, y.real);
    results.push_back({product.sum(first, second, /*isDifference=*/true),
                       product.sum(third, fourth, /*isDifference=*/false)});
    return success();
  }
};
} // namespace

void stablehlo::registerComplexProducts(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    DotGeneralOp::attachInterface<ProductParts<DotGeneralOp>>(*context);
    DotOp::attachInterface<ProductParts<DotOp>>(*context);
    ConvolutionOp::attachInterface<ProductParts<ConvolutionOp>>(*context);
  });
}
