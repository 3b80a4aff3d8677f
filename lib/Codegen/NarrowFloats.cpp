//===- NarrowFloats.cpp - Between f64, bf16 and f16 -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processor rounds f64 to f32, and f32 to narrower types, but not f64 to
// these. Rounding twice would round a value just beside a tie to the wrong
// side, so the f32 in between is rounded to odd: cut off, and its last bit set
// where something was cut off. f32 has more than two bits more than either
// type, so the second rounding then sees on which side of a tie the value lies.
//
//   arith.truncf %x : f64 to bf16  ->  %y = odd(%x) : f32, truncf %y to bf16
//
// Test: test/Codegen/KernelTypesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace llmc::codegen {

static Value getOnes(OpBuilder &builder, Location loc, Type type) {
  TypedAttr one = builder.getI32IntegerAttr(1);
  if (auto vector = dyn_cast<VectorType>(type))
    one = DenseElementsAttr::get(vector, one);
  return arith::ConstantOp::create(builder, loc, one);
}

/// `x` (f64) as f32, rounded to odd; not a number stays one.
static Value roundToOdd(OpBuilder &builder, Location loc, Value x) {
  Type type = x.getType();
  Type narrow = withElement(type, builder.getF32Type());
  Type bits = withElement(type, builder.getI32Type());
  Value near = arith::TruncFOp::create(builder, loc, narrow, x);
  Value back = arith::ExtFOp::create(builder, loc, type, near);
  Value isInexact =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ONE, back, x);
  Value isAway = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT,
                                       math::AbsFOp::create(builder, loc, back),
                                       math::AbsFOp::create(builder, loc, x));
  // One step towards zero, whatever the sign.
  Value ones = getOnes(builder, loc, bits);
  Value old = arith::BitcastOp::create(builder, loc, bits, near);
  Value cut = arith::SelectOp::create(
      builder, loc, isAway, arith::SubIOp::create(builder, loc, old, ones),
      old);
  Value odd = arith::SelectOp::create(
      builder, loc, isInexact, arith::OrIOp::create(builder, loc, cut, ones),
      cut);
  return arith::BitcastOp::create(builder, loc, narrow, odd);
}

namespace {
struct RoundOnce : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType());
    Type to = getElementTypeOrSelf(op.getType());
    if (!from.isF64() || to.getIntOrFloatBitWidth() >= 32)
      return failure();
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(
        op, op.getType(), roundToOdd(rewriter, op.getLoc(), op.getIn()));
    return success();
  }
};
/// bf16 to f64 by way of f32, which is exact. The step to f32 is integer code;
/// of the other LLVM would make functions of bf16 (ceil of it, for one), which
/// need calls.
struct ExtendTwice : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isBF16() ||
        !getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    Value single = arith::ExtFOp::create(
        rewriter, op.getLoc(), withElement(op.getType(), rewriter.getF32Type()),
        op.getIn());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), single);
    return success();
  }
};
} // namespace

void populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<RoundOnce, ExtendTwice>(patterns.getContext());
}

} // namespace llmc::codegen
