//===- MathFunctions.cpp - Transcendental functions of kernels ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 exp, log, tanh, erf and erfc become polynomials, the same operations for
// one element and for a vector. The other functions of f32 are computed in f64.
// In f64 each is a call of the C library's, element by element. rsqrt is
// 1/sqrt, cos and sin of narrow floats go through f32. See also
// NarrowFloats.cpp.
//
//   math.exp %x : vector<16xf32>  ->  polynomial on vector<16xf32>
//   math.cbrt %x : f32            ->  extf, call @cbrt, truncf
//
// Test: test/Codegen/KernelFormsTest.cpp
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace llmc::codegen {

Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return VectorType::get(vector.getShape(), element);
  return element;
}

namespace {

struct LibraryFunction {
  StringRef op, symbol;
};

/// Functions that stay calls, in f64.
const LibraryFunction libraryFunctions[] = {
    {"math.acos", "acos"},   {"math.acosh", "acosh"}, {"math.asin", "asin"},
    {"math.asinh", "asinh"}, {"math.atan", "atan"},   {"math.atan2", "atan2"},
    {"math.atanh", "atanh"}, {"math.cbrt", "cbrt"},   {"math.cos", "cos"},
    {"math.cosh", "cosh"},   {"math.erf", "erf"},     {"math.erfc", "erfc"},
    {"math.exp", "exp"},     {"math.exp2", "exp2"},   {"math.expm1", "expm1"},
    {"math.log", "log"},     {"math.log10", "log10"}, {"math.log1p", "log1p"},
    {"math.log2", "log2"},   {"math.powf", "pow"},    {"math.sin", "sin"},
    {"math.sinh", "sinh"},   {"math.tan", "tan"},     {"math.tanh", "tanh"},
    {"arith.remf", "fmod"},
};

StringRef getLibrarySymbol(Operation *op) {
  for (const LibraryFunction &function : libraryFunctions)
    if (op->getName().getStringRef() == function.op)
      return function.symbol;
  return {};
}

/// Functions that have a polynomial in f32.
bool hasPolynomial(StringRef op) {
  return op == "math.exp" || op == "math.log" || op == "math.tanh" ||
         op == "math.erf" || op == "math.erfc";
}

/// A function of a narrower type in `wide`, rounded once.
void computeWider(Operation *op, Type wide, PatternRewriter &rewriter) {
  Type type = op->getResult(0).getType();
  Type wideType = withElement(type, wide);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(
        arith::ExtFOp::create(rewriter, op->getLoc(), wideType, operand));
  Operation *copy = rewriter.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(wideType);
  rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, copy->getResult(0));
}

struct WidenNarrowFloat : RewritePattern {
  explicit WidenNarrowFloat(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<math::MathDialect>(op->getDialect()) &&
        getLibrarySymbol(op).empty())
      return failure();
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    if (!isa<FloatType>(element) || element.isF64())
      return failure();
    bool narrow = element.getIntOrFloatBitWidth() < 32;
    StringRef name = op->getName().getStringRef();
    if (!narrow && (getLibrarySymbol(op).empty() || hasPolynomial(name)))
      return failure();
    computeWider(op, narrow ? rewriter.getF32Type() : rewriter.getF64Type(),
                 rewriter);
    return success();
  }
};

struct CallLibrary : RewritePattern {
  explicit CallLibrary(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    StringRef symbol = getLibrarySymbol(op);
    if (symbol.empty() ||
        !getElementTypeOrSelf(op->getResult(0).getType()).isF64())
      return failure();
    Location loc = op->getLoc();
    declare(op, symbol, rewriter);
    auto call = [&](ValueRange arguments) -> Value {
      return func::CallOp::create(rewriter, loc, symbol,
                                  TypeRange{rewriter.getF64Type()}, arguments)
          .getResult(0);
    };
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type) {
      rewriter.replaceOp(op, call(op->getOperands()));
      return success();
    }
    Value result =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    for (int64_t lane = 0; lane < type.getDimSize(0); ++lane) {
      SmallVector<Value> arguments;
      for (Value operand : op->getOperands())
        arguments.push_back(vector::ExtractOp::create(rewriter, loc, operand,
                                                      ArrayRef<int64_t>{lane}));
      result = vector::InsertOp::create(rewriter, loc, call(arguments), result,
                                        ArrayRef<int64_t>{lane});
    }
    rewriter.replaceOp(op, result);
    return success();
  }

  static void declare(Operation *op, StringRef symbol,
                      PatternRewriter &rewriter) {
    auto module = op->getParentOfType<ModuleOp>();
    if (module.lookupSymbol(symbol))
      return;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    SmallVector<Type> inputs(op->getNumOperands(), rewriter.getF64Type());
    auto function = func::FuncOp::create(
        rewriter, module.getLoc(), symbol,
        rewriter.getFunctionType(inputs, rewriter.getF64Type()));
    function.setPrivate();
  }
};

class MathFunctionsPass
    : public PassWrapper<MathFunctionsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MathFunctionsPass)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, func::FuncDialect,
                    vector::VectorDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<WidenNarrowFloat, CallLibrary>(&getContext());
    populateNarrowFloatPatterns(patterns);
    math::populateExpansionPatterns(patterns, {"rsqrt"});
    populateMathPolynomialApproximationPatterns(patterns, hasPolynomial);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createMathFunctionsPass() {
  return std::make_unique<MathFunctionsPass>();
}

bool isLibrarySymbol(StringRef symbol) {
  if (symbol == "memcpy" || symbol == "memset" || symbol == "memmove")
    return true;
  for (const LibraryFunction &function : libraryFunctions)
    if (symbol == function.symbol)
      return true;
  return false;
}

} // namespace llmc::codegen
