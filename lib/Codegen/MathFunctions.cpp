//===- MathFunctions.cpp - Transcendental functions of kernels ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 exp, log, tanh, erf and erfc become polynomials, the same operations for
// one element and for a vector. The other functions of f32 are computed in f64.
// In f64 each is a function of the module (Functions.h), called element by
// element. rsqrt is 1/sqrt, cos and sin of narrow floats go through f32. See
// also NarrowFloats.cpp.
//
//   math.exp %x : vector<16xf32>  ->  polynomial on vector<16xf32>
//   math.cbrt %x : f32            ->  extf, call @llmc_cbrt, truncf
//
// Test: test/Codegen/KernelFormsTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Functions.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
        getFunctionName(op->getName().getStringRef()).empty())
      return failure();
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    if (!isa<FloatType>(element) || element.isF64())
      return failure();
    bool narrow = element.getIntOrFloatBitWidth() < 32;
    StringRef name = op->getName().getStringRef();
    if (!narrow && (getFunctionName(name).empty() || hasPolynomial(name)))
      return failure();
    computeWider(op, narrow ? rewriter.getF32Type() : rewriter.getF64Type(),
                 rewriter);
    return success();
  }
};

/// A call of the function that the module gets, lane by lane.
struct CallFunction : RewritePattern {
  explicit CallFunction(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    StringRef name = getFunctionName(op->getName().getStringRef());
    if (name.empty() ||
        !getElementTypeOrSelf(op->getResult(0).getType()).isF64())
      return failure();
    Location loc = op->getLoc();
    func::FuncOp function = define(op, name, rewriter);
    auto call = [&](ValueRange arguments) -> Value {
      return func::CallOp::create(rewriter, loc, function, arguments)
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

  /// The module's function `name`.
  static func::FuncOp define(Operation *op, StringRef name,
                             PatternRewriter &rewriter) {
    auto module = op->getParentOfType<ModuleOp>();
    std::string symbol = ("llmc_" + name).str();
    if (auto known = module.lookupSymbol<func::FuncOp>(symbol))
      return known;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    SmallVector<Type> inputs(op->getNumOperands(), rewriter.getF64Type());
    auto function = func::FuncOp::create(
        rewriter, module.getLoc(), symbol,
        rewriter.getFunctionType(inputs, rewriter.getF64Type()));
    function.setPrivate();
    Block *entry = function.addEntryBlock();
    rewriter.setInsertionPointToStart(entry);
    Value result =
        makeFunction(rewriter, module.getLoc(), name, entry->getArguments());
    func::ReturnOp::create(rewriter, module.getLoc(), result);
    return function;
  }
};

class MathFunctionsPass
    : public PassWrapper<MathFunctionsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MathFunctionsPass)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, func::FuncDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<WidenNarrowFloat, CallFunction>(&getContext());
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
  return symbol == "memcpy" || symbol == "memset" || symbol == "memmove";
}

} // namespace llmc::codegen
