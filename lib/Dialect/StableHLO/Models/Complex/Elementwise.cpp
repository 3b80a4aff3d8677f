//===- Elementwise.cpp - Functions of complex elements --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   complex %a, %b          ->   the pair (%a, %b)
//   real (%a, %b)           ->   %a
//   exponential (%a, %b)    ->   exp %a * (cos %b, sin %b)
//
// Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/ComplexMath.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {

/// A function of one number.
template <typename Op, ComplexPair (ComplexMath::*function)(ComplexPair) const>
struct UnaryParts
    : ComplexPartsOpInterface::ExternalModel<UnaryParts<Op, function>, Op> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    ComplexMath math{builder, op->getLoc()};
    results.push_back((math.*function)(operands[0]));
    return success();
  }
};

/// Of two.
template <typename Op,
          ComplexPair (ComplexMath::*function)(ComplexPair, ComplexPair) const>
struct BinaryParts
    : ComplexPartsOpInterface::ExternalModel<BinaryParts<Op, function>, Op> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    ComplexMath math{builder, op->getLoc()};
    results.push_back((math.*function)(operands[0], operands[1]));
    return success();
  }
};

struct AbsParts : ComplexPartsOpInterface::ExternalModel<AbsParts, AbsOp> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    ComplexMath math{builder, op->getLoc()};
    results.push_back({math.abs(operands[0]), Value()});
    return success();
  }
};

struct CompareParts
    : ComplexPartsOpInterface::ExternalModel<CompareParts, CompareOp> {
  LogicalResult splitParts(Operation *of, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    auto op = cast<CompareOp>(of);
    ComplexMath math{builder, op.getLoc()};
    Value isEqual = math.isEqual(operands[0], operands[1]);
    // The verifier knows no other direction.
    bool isNegated = op.getComparisonDirection() == ComparisonDirection::NE;
    results.push_back(
        {isNegated ? logicalNot(builder, op.getLoc(), isEqual) : isEqual,
         Value()});
    return success();
  }
};

struct ConvertParts
    : ComplexPartsOpInterface::ExternalModel<ConvertParts, ConvertOp> {
  LogicalResult splitParts(Operation *of, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    auto op = cast<ConvertOp>(of);
    ComplexPair from = operands[0];
    RankedTensorType part = getPartType(op.getType());
    Type element = (part ? part : op.getType()).getElementType();
    Value real = convertTo(builder, op.getLoc(), from.real, element);
    Value imag;
    if (part)
      imag = from.imag ? convertTo(builder, op.getLoc(), from.imag, element)
                       : constantSplat(builder, op.getLoc(), part, 0);
    results.push_back({real, imag});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// What makes pairs, and takes them apart
//===----------------------------------------------------------------------===//

struct ComplexOpParts
    : ComplexPartsOpInterface::ExternalModel<ComplexOpParts, ComplexOp> {
  LogicalResult splitParts(Operation *, OpBuilder &,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    results.push_back({operands[0].real, operands[1].real});
    return success();
  }
};

struct RealParts : ComplexPartsOpInterface::ExternalModel<RealParts, RealOp> {
  LogicalResult splitParts(Operation *, OpBuilder &,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    results.push_back({operands[0].real, Value()});
    return success();
  }
};

struct ImagParts : ComplexPartsOpInterface::ExternalModel<ImagParts, ImagOp> {
  LogicalResult splitParts(Operation *, OpBuilder &,
                           ArrayRef<ComplexPair> operands,
                           Pairs &results) const {
    results.push_back({operands[0].imag, Value()});
    return success();
  }
};

struct ConstantParts
    : ComplexPartsOpInterface::ExternalModel<ConstantParts, ConstantOp> {
  LogicalResult splitParts(Operation *of, OpBuilder &builder,
                           ArrayRef<ComplexPair>, Pairs &results) const {
    auto op = cast<ConstantOp>(of);
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!elements)
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << "expected the elements of complex numbers in the text, got "
             << op.getValue();
    RankedTensorType part = getPartType(op.getType());
    SmallVector<APFloat> real, imag;
    auto append = [&](std::complex<APFloat> number) {
      real.push_back(number.real());
      imag.push_back(number.imag());
    };
    if (elements.isSplat())
      append(elements.getSplatValue<std::complex<APFloat>>());
    else
      llvm::for_each(elements.getValues<std::complex<APFloat>>(), append);
    auto build = [&](ArrayRef<APFloat> values) -> Value {
      return ConstantOp::create(builder, op.getLoc(),
                                DenseElementsAttr::get(part, values));
    };
    results.push_back({build(real), build(imag)});
    return success();
  }
};

struct IotaParts : ComplexPartsOpInterface::ExternalModel<IotaParts, IotaOp> {
  LogicalResult splitParts(Operation *of, OpBuilder &builder,
                           ArrayRef<ComplexPair>, Pairs &results) const {
    auto op = cast<IotaOp>(of);
    RankedTensorType part = getPartType(op.getType());
    results.push_back({iota(builder, op.getLoc(), part, op.getIotaDimension()),
                       constantSplat(builder, op.getLoc(), part, 0)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Of real numbers
//===----------------------------------------------------------------------===//

/// Parts of a real number.
template <typename Op, bool isReal>
struct PartExpansion
    : ExpansionOpInterface::ExternalModel<PartExpansion<Op, isReal>, Op> {
  LogicalResult expand(Operation *op, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    Value operand = op->getOperand(0);
    results.push_back(isReal ? operand
                             : constantLike(builder, op->getLoc(), operand, 0));
    return success();
  }
};

struct ComplexExpansion
    : ExpansionOpInterface::ExternalModel<ComplexExpansion, ComplexOp> {
  LogicalResult expand(Operation *op, OpBuilder &,
                       SmallVectorImpl<Value> &) const {
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected complex numbers in a text that is imported, which "
              "takes "
              "them apart, got one later";
  }
};
} // namespace

#define LLMC_UNARY(OP, FUNCTION)                                               \
  OP::attachInterface<UnaryParts<OP, &ComplexMath::FUNCTION>>(*context)
#define LLMC_BINARY(OP, FUNCTION)                                              \
  OP::attachInterface<BinaryParts<OP, &ComplexMath::FUNCTION>>(*context)

static void attachFunctions(MLIRContext *context) {
  LLMC_BINARY(DivOp, divide);
  LLMC_BINARY(MulOp, multiply);
  LLMC_BINARY(PowOp, power);
  LLMC_UNARY(CbrtOp, cbrt);
  LLMC_UNARY(CosineOp, cosine);
  LLMC_UNARY(ExpOp, exp);
  LLMC_UNARY(Expm1Op, expm1);
  LLMC_UNARY(LogOp, log);
  LLMC_UNARY(Log1pOp, log1p);
  LLMC_UNARY(LogisticOp, logistic);
  LLMC_UNARY(RsqrtOp, rsqrt);
  LLMC_UNARY(SignOp, sign);
  LLMC_UNARY(SineOp, sine);
  LLMC_UNARY(SqrtOp, sqrt);
  LLMC_UNARY(TanOp, tan);
  LLMC_UNARY(TanhOp, tanh);
}

#undef LLMC_UNARY
#undef LLMC_BINARY

void stablehlo::registerComplexElements(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachFunctions(context);
    AbsOp::attachInterface<AbsParts>(*context);
    CompareOp::attachInterface<CompareParts>(*context);
    ConvertOp::attachInterface<ConvertParts>(*context);
    ComplexOp::attachInterface<ComplexOpParts, ComplexExpansion>(*context);
    RealOp::attachInterface<RealParts, PartExpansion<RealOp, true>>(*context);
    ImagOp::attachInterface<ImagParts, PartExpansion<ImagOp, false>>(*context);
    ConstantOp::attachInterface<ConstantParts>(*context);
    IotaOp::attachInterface<IotaParts>(*context);
  });
}
