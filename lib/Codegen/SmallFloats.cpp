//===- SmallFloats.cpp - Floats of eight bits -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processor has no floats of eight bits: they are bits, and what is between
// them and f32 is integer code, equal for all formats of rt::SmallFloat.
//
//   arith.extf %x : f8E5M2 to f32    numbers below the first exponent are a
//                                    multiple of the least one; the others move
//                                    exponent and mantissa to their place
//   arith.truncf %x : f32 to f8E5M2  the same way back; adding half a unit less
//                                    one, and one more where the last bit is
//                                    set, rounds ties to even
//
// Test: test/Codegen/KernelTypesTest.cpp, test/EndToEnd/semantics.test
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

using namespace mlir;

namespace llmc::codegen {

/// Null for all but floats of eight bits.
static const rt::SmallFloat *getFormat(Type type) {
  std::optional<rt::DType> stored = getRuntimeDType(getElementTypeOrSelf(type));
  return stored ? rt::findSmallFloat(*stored) : nullptr;
}

namespace {
/// Scalar code, or the same on vectors.
class BitMath {
public:
  BitMath(OpBuilder &b, Location loc, Type like) : b(b), loc(loc), like(like) {}

  Type as(Type element) const {
    auto vector = dyn_cast<mlir::VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value number(int64_t value) const {
    return constant(b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value real(double value) const {
    return constant(b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value bits(Value x) const { return bitcast(b.getI32Type(), x); }
  Value floats(Value x) const { return bitcast(b.getF32Type(), x); }
  Value bitcast(Type element, Value x) const {
    return arith::BitcastOp::create(b, loc, as(element), x);
  }
  Value add(Value x, Value y) const {
    return arith::AddIOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) const {
    return arith::SubIOp::create(b, loc, x, y);
  }
  Value both(Value x, Value y) const {
    return arith::AndIOp::create(b, loc, x, y);
  }
  Value either(Value x, Value y) const {
    return arith::OrIOp::create(b, loc, x, y);
  }
  Value left(Value x, int64_t by) const {
    return arith::ShLIOp::create(b, loc, x, number(by));
  }
  Value right(Value x, int64_t by) const {
    return arith::ShRUIOp::create(b, loc, x, number(by));
  }
  Value above(Value x, int64_t y) const {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, x,
                                 number(y));
  }
  Value choose(Value condition, Value x, Value y) const {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }

  OpBuilder &b;
  Location loc;

private:
  Value constant(TypedAttr value) const {
    TypedAttr whole = value;
    if (auto vector = dyn_cast<mlir::VectorType>(like))
      whole = DenseElementsAttr::get(
          cast<ShapedType>(vector.clone(value.getType())), value);
    return arith::ConstantOp::create(b, loc, whole);
  }

  Type like;
};
} // namespace

static constexpr int64_t kInfinity = 0x7f800000, kNotANumber = 0x7fc00000;

/// `x` (of eight bits) as f32.
static Value widen(const BitMath &m, const rt::SmallFloat &format, Value x) {
  using Kind = rt::SmallFloat::Kind;
  int unit = 1 << format.mantissaBits;
  Value raw = arith::ExtUIOp::create(m.b, m.loc, m.as(m.b.getI32Type()),
                                     m.bitcast(m.b.getI8Type(), x));
  Value code = m.both(raw, m.number(0x7f));
  Value sign = m.left(m.both(raw, m.number(0x80)), 24);
  Value small = m.bits(arith::MulFOp::create(
      m.b, m.loc,
      arith::UIToFPOp::create(m.b, m.loc, m.as(m.b.getF32Type()), code),
      m.real(std::ldexp(1.0, 1 - format.bias - format.mantissaBits))));
  int toMantissa = 23 - format.mantissaBits;
  Value large = m.add(m.left(code, toMantissa),
                      m.number(int64_t(127 - format.bias) << 23));
  Value value = m.choose(m.above(code, unit - 1), large, small);
  if (format.kind == Kind::finiteUnsignedZero) {
    Value isLost = arith::CmpIOp::create(m.b, m.loc, arith::CmpIPredicate::eq,
                                         raw, m.number(0x80));
    return m.floats(
        m.choose(isLost, m.number(kNotANumber), m.either(value, sign)));
  }
  Value beyond = m.number(kNotANumber);
  if (format.kind == Kind::ieee)
    beyond = m.choose(m.above(code, format.beyond()), m.number(kNotANumber),
                      m.number(kInfinity));
  value = m.choose(m.above(code, format.largest()), beyond, value);
  return m.floats(m.either(value, sign));
}

/// The bits without sign of `magnitude`, bits of an f32 of at least 0; larger
/// than the largest where it does not fit.
static Value round(const BitMath &m, const rt::SmallFloat &format,
                   Value magnitude) {
  int fromMantissa = 23 - format.mantissaBits;
  Value odd = m.both(m.right(magnitude, fromMantissa), m.number(1));
  Value rounded = m.add(
      m.add(magnitude, m.number((int64_t(1) << (fromMantissa - 1)) - 1)), odd);
  Value large =
      m.sub(m.right(rounded, fromMantissa),
            m.number(int64_t(127 - format.bias) << format.mantissaBits));
  // The sum's last bit is the least number, so the addition rounds.
  Value magic = m.real(std::ldexp(1.0, 24 - format.bias - format.mantissaBits));
  Value sum = arith::AddFOp::create(m.b, m.loc, m.floats(magnitude), magic);
  Value small = m.sub(m.bits(sum), m.bits(magic));
  return m.choose(m.above(magnitude, (int64_t(128 - format.bias) << 23) - 1),
                  large, small);
}

/// `x` (f32) as `to`, of eight bits.
static Value narrow(const BitMath &m, const rt::SmallFloat &format, Value x,
                    Type to) {
  Value raw = m.bits(x);
  Value magnitude = m.both(raw, m.number(0x7fffffff));
  Value sign = m.both(m.right(raw, 24), m.number(0x80));
  Value code = round(m, format, magnitude);
  code = m.choose(m.above(code, format.largest()), m.number(format.beyond()),
                  code);
  code = m.choose(m.above(magnitude, kInfinity), m.number(format.notANumber()),
                  code);
  if (format.kind == rt::SmallFloat::Kind::finiteUnsignedZero)
    sign = m.choose(m.above(code, 0), sign, m.number(0));
  Value bits = arith::TruncIOp::create(m.b, m.loc, m.as(m.b.getI8Type()),
                                       m.either(code, sign));
  return m.bitcast(getElementTypeOrSelf(to), bits);
}

namespace {
struct WidenSmall : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    const rt::SmallFloat *format = getFormat(op.getIn().getType());
    if (!format)
      return failure();
    BitMath m(rewriter, op.getLoc(), op.getType());
    Value single = widen(m, *format, op.getIn());
    Type to = getElementTypeOrSelf(op.getType());
    if (to.isF64())
      single =
          arith::ExtFOp::create(rewriter, op.getLoc(), op.getType(), single);
    else if (!to.isF32())
      single =
          arith::TruncFOp::create(rewriter, op.getLoc(), op.getType(), single);
    rewriter.replaceOp(op, single);
    return success();
  }
};

struct NarrowToSmall : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    const rt::SmallFloat *format = getFormat(op.getType());
    Type from = getElementTypeOrSelf(op.getIn().getType());
    if (!format || from.isF64())
      return failure();
    BitMath m(rewriter, op.getLoc(), op.getType());
    Value single = op.getIn();
    if (!from.isF32())
      single = arith::ExtFOp::create(rewriter, op.getLoc(),
                                     m.as(rewriter.getF32Type()), single);
    rewriter.replaceOp(op, narrow(m, *format, single, op.getType()));
    return success();
  }
};

class SmallFloatsPass
    : public PassWrapper<SmallFloatsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SmallFloatsPass)

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<WidenSmall, NarrowToSmall>(&getContext());
    if (failed(computeInSingle()) ||
        failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

private:
  LogicalResult computeInSingle();
};
} // namespace

/// What is computed in eight bits is computed in f32 and rounded.
LogicalResult SmallFloatsPass::computeInSingle() {
  MLIRContext *context = &getContext();
  SmallVector<Type> small = {
      Float8E4M3FNType::get(context), Float8E5M2Type::get(context),
      Float8E4M3FNUZType::get(context), Float8E5M2FNUZType::get(context),
      Float8E4M3B11FNUZType::get(context)};
  TypeConverter types;
  arith::populateEmulateUnsupportedFloatsConversions(types, small,
                                                     Float32Type::get(context));
  RewritePatternSet patterns(context);
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, types);
  ConversionTarget target(*context);
  arith::populateEmulateUnsupportedFloatsLegality(target, types);
  return applyPartialConversion(getOperation(), target, std::move(patterns));
}

std::unique_ptr<mlir::Pass> createSmallFloatsPass() {
  return std::make_unique<SmallFloatsPass>();
}

} // namespace llmc::codegen
