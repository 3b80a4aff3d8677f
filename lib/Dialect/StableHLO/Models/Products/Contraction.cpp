//===- Contraction.cpp - Answers of dot_general ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// b m k, b k n -> b m n, where b, m, n and k stand for any number of
// dimensions at any place of the operands; k is reduced by sum. With g the
// cotangent of the result:
//
//   left operand   g . rhs over n, as b m k, then transposed to the operand
//   right operand  lhs . g over m, as b k n, then transposed to the operand
//
// Element types may differ: cotangents are computed in the widest and rounded
// once. Kernels multiply elements of one type, so that sides of two types are
// converted first, to one that has the values of both. An empty product is
// zero.
//
// Evaluation packs the operands as [b][m][k] and [b][k][n] in double (integers
// in 64 bits), sums in the order of k and rounds each sum once.
//
// Test: test/Dialect/StableHLO/Models/ContractionTest.cpp
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "../Movement.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Runtime/Base/Float8Factors.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Support/StoredElements.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

Type stablehlo::getCommonType(Type a, Type b) {
  if (a == b)
    return a;
  if (!isa<FloatType>(a))
    return IntegerType::get(a.getContext(), 64);
  return a.isF64() || b.isF64() ? Type(Float64Type::get(a.getContext()))
                                : Type(Float32Type::get(a.getContext()));
}

Value stablehlo::multiplyAsWide(OpBuilder &b, Location loc, Value lhs,
                                Value rhs, DotDimensionNumbersAttr dims) {
  Value product = dotGeneral(b, loc, lhs, rhs, dims);
  Type element = typeOf(product).getElementType();
  Type sum = getCommonType(element, b.getF32Type());
  product.getDefiningOp<DotGeneralOp>().setAlgorithmAttr(
      DotAlgorithmAttr::get(b.getContext(), element, element, sum, 1, 1, 1,
                            /*allow_imprecise_accumulation=*/false));
  return product;
}

namespace {
/// One operand's dimensions by their part in the contraction.
struct Side {
  RankedTensorType type;
  SmallVector<int64_t> batch, free, contract;

  Side(Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract)
      : type(typeOf(value)), batch(batch), contract(contract) {
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (!llvm::is_contained(batch, d) && !llvm::is_contained(contract, d))
        free.push_back(d);
  }

  int64_t count(ArrayRef<int64_t> dims) const {
    int64_t product = 1;
    for (int64_t d : dims)
      product *= type.getDimSize(d);
    return product;
  }
};

Side getLeft(DotGeneralOp op) {
  DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  return Side(op.getLhs(), dims.getLhsBatchingDimensions(),
              dims.getLhsContractingDimensions());
}

Side getRight(DotGeneralOp op) {
  DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  return Side(op.getRhs(), dims.getRhsBatchingDimensions(),
              dims.getRhsContractingDimensions());
}

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

/// The dimensions `listed`, in the order that sorts their partners.
SmallVector<int64_t> orderByPartner(ArrayRef<int64_t> listed,
                                    ArrayRef<int64_t> partners) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, listed.size()));
  llvm::sort(order,
             [&](int64_t a, int64_t b) { return partners[a] < partners[b]; });
  return llvm::map_to_vector(order, [&](int64_t i) { return listed[i]; });
}

struct DotDerivative {
  DotGeneralOp op;
  DerivativeCall &call;
  Side left, right;
  Value g;

  DotDerivative(DotGeneralOp op, DerivativeCall &call)
      : op(op), call(call), left(getLeft(op)), right(getRight(op)),
        g(call.cotangents[0]) {}

  /// The result's dimensions [begin, begin + count).
  static SmallVector<int64_t> span(int64_t begin, size_t count) {
    return llvm::to_vector(
        llvm::seq<int64_t>(begin, begin + static_cast<int64_t>(count)));
  }

  /// A contraction with the op's precision in a type that has the values of
  /// the result and of both operands.
  Value contract(Value lhs, Value rhs, DotDimensionNumbersAttr dims) {
    Type element = getCommonType(
        typeOf(g).getElementType(),
        getCommonType(left.type.getElementType(), right.type.getElementType()));
    Value product = dotGeneral(
        call.builder, call.loc, convertTo(call.builder, call.loc, lhs, element),
        convertTo(call.builder, call.loc, rhs, element), dims);
    auto dot = product.getDefiningOp<DotGeneralOp>();
    dot.setPrecisionConfigAttr(op.getPrecisionConfigAttr());
    bool keepsTypes = element == left.type.getElementType() &&
                      element == right.type.getElementType();
    if (keepsTypes)
      dot.setAlgorithmAttr(op.getAlgorithmAttr());
    return product;
  }

  /// Result dimension p of `value` is dimension order[p] of the operand.
  Value arrange(Value value, ArrayRef<int64_t> order, Type element) {
    SmallVector<int64_t> permutation(order.size());
    for (auto [p, d] : llvm::enumerate(order))
      permutation[d] = p;
    value = transpose(call.builder, call.loc, value, permutation);
    return convertTo(call.builder, call.loc, value, element);
  }

  /// g . rhs over n: b, m, then k in the order of the right operand's dims.
  Value buildLeft() {
    size_t b = left.batch.size(), m = left.free.size(), n = right.free.size();
    Value product = contract(g, op.getRhs(),
                             dotDims(op.getContext(), span(0, b), right.batch,
                                     span(b + m, n), right.free));
    SmallVector<int64_t> order(left.batch);
    order.append(left.free);
    order.append(orderByPartner(left.contract, right.contract));
    return arrange(product, order, left.type.getElementType());
  }

  /// lhs . g over m: b, k in the order of the left operand's dims, then n.
  Value buildRight() {
    size_t b = left.batch.size(), m = left.free.size();
    Value product = contract(op.getLhs(), g,
                             dotDims(op.getContext(), left.batch, span(0, b),
                                     left.free, span(b, m)));
    SmallVector<int64_t> order(right.batch);
    order.append(orderByPartner(right.contract, left.contract));
    order.append(right.free);
    return arrange(product, order, right.type.getElementType());
  }
};

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Columns whose sums are kept at once: what the right operand's columns of
/// one block take for usual k lies in the second-level cache.
constexpr int64_t kColumns = 256;

template <typename T>
void multiply(DotGeneralOp op, ArrayRef<HostTensor> operands,
              HostTensor &result) {
  Side left = getLeft(op), right = getRight(op);
  auto concat = [](ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                   ArrayRef<int64_t> c) {
    SmallVector<int64_t> all(a);
    all.append(b.begin(), b.end());
    all.append(c.begin(), c.end());
    return all;
  };
  std::vector<T> x =
      pack<T>(operands[0], concat(left.batch, left.free, left.contract));
  std::vector<T> y =
      pack<T>(operands[1], concat(right.batch, right.contract, right.free));
  const int64_t batches = left.count(left.batch), rows = left.count(left.free),
                depth = left.count(left.contract),
                columns = right.count(right.free);
  std::array<T, kColumns> sums;
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t first = 0; first < columns; first += kColumns) {
      const int64_t width = std::min(kColumns, columns - first);
      for (int64_t m = 0; m < rows; ++m) {
        std::fill_n(sums.begin(), width, T(0));
        const T *row = x.data() + (b * rows + m) * depth;
        for (int64_t k = 0; k < depth; ++k) {
          const T factor = row[k];
          const T *from = y.data() + (b * depth + k) * columns + first;
          for (int64_t n = 0; n < width; ++n)
            sums[n] += factor * from[n];
        }
        store(result, (b * rows + m) * columns + first,
              ArrayRef<T>(sums.data(), width));
      }
    }
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

struct DotAnswers : AnswerDefaults<DotGeneralOp> {
  static bool uniform(DotGeneralOp) { return true; }
  static bool needsNeutralPadding(DotGeneralOp, unsigned operand) {
    return !isSeeded(Fault::contractionHidesPadding) || operand == 0;
  }
  static ShardingRule rule(DotGeneralOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    Side left = getLeft(op), right = getRight(op);
    TensorFactors &result = rule.results[0];
    int64_t at = 0;
    for (auto [l, r] : llvm::zip(left.batch, right.batch)) {
      int factor = rule.addFactor(left.type.getDimSize(l));
      rule.operands[0][l] = rule.operands[1][r] = result[at++] = {factor};
    }
    for (auto [operand, side] : {std::pair(0, &left), {1, &right}})
      for (int64_t d : side->free) {
        int factor = rule.addFactor(side->type.getDimSize(d));
        rule.operands[operand][d] = result[at++] = {factor};
      }
    // i1 multiplies by "and" and adds by "or".
    bool isBool = left.type.getElementType().isInteger(1);
    ReductionKind kind = isBool ? ReductionKind::bitOr : ReductionKind::sum;
    for (auto [l, r] : llvm::zip(left.contract, right.contract)) {
      int factor =
          rule.addFactor(left.type.getDimSize(l), FactorKind::Reduced, kind);
      rule.operands[0][l] = rule.operands[1][r] = {factor};
    }
    rule.addLinear(kind, {{0}, {1}});
    return rule;
  }

  static OpCost cost(DotGeneralOp op) {
    OpCost cost = getTrafficCost(op);
    Side left = getLeft(op);
    cost.flops = 2 * op.getType().getNumElements() * left.count(left.contract);
    cost.modelFlops = cost.flops;
    return cost;
  }

  static LogicalResult derive(DotGeneralOp op, DerivativeCall &call) {
    DotDerivative derivative(op, call);
    if (call.needed[0])
      call.gradients[0] = derivative.buildLeft();
    if (call.needed[1])
      call.gradients[1] = derivative.buildRight();
    return success();
  }

  /// Truths and integers of less than a byte wrap otherwise than those of
  /// memory.
  static bool fillsBytes(Type type) {
    return !type.isInteger() || type.getIntOrFloatBitWidth() >= 8;
  }
  /// Libraries multiply factors of one type, and any two floats of eight bits.
  static bool hasLibrarySides(DotGeneralOp op) {
    Type left = op.getLhs().getType().getElementType();
    Type right = op.getRhs().getType().getElementType();
    std::optional<rt::DType> a = getRuntimeDType(left),
                             b = getRuntimeDType(right);
    return fillsBytes(left) && fillsBytes(op.getType().getElementType()) &&
           (left == right || (a && b && rt::multiplyTogether(*a, *b)));
  }
  /// Sums of nothing are zero.
  static bool isEmpty(DotGeneralOp op) {
    return op.getLhs().getType().getNumElements() == 0 ||
           op.getRhs().getType().getNumElements() == 0;
  }
  static KernelForm form(DotGeneralOp op) {
    return hasLibrarySides(op) && !isEmpty(op) ? KernelForm::Library
                                               : KernelForm::Decompose;
  }
  static LogicalResult decompose(DotGeneralOp op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    if (isEmpty(op)) {
      results.push_back(constantSplat(b, op.getLoc(), op.getType(), 0));
      return success();
    }
    Type element = getCommonType(op.getLhs().getType().getElementType(),
                                 op.getRhs().getType().getElementType());
    if (!fillsBytes(element))
      element = b.getI32Type();
    Value lhs = convertTo(b, op.getLoc(), op.getLhs(), element);
    Value rhs = convertTo(b, op.getLoc(), op.getRhs(), element);
    auto clone = cast<DotGeneralOp>(b.clone(*op));
    clone->setOperands({lhs, rhs});
    clone.removeAlgorithmAttr();
    Type made = op.getType().getElementType();
    if (!fillsBytes(made))
      clone.getResult().setType(op.getType().clone(element));
    results.push_back(convertTo(b, op.getLoc(), clone.getResult(), made));
    return success();
  }
  static Operation *buildLibraryCall(DotGeneralOp op, OpBuilder &b) {
    Side left = getLeft(op), right = getRight(op);
    return dist::ContractOp::create(b, op.getLoc(), op.getType(), op.getLhs(),
                                    op.getRhs(), Value(), Value(), left.batch,
                                    right.batch, left.contract, right.contract);
  }

  static LogicalResult evaluate(DotGeneralOp op, EvaluationCall &call) {
    HostTensor result(op.getType());
    if (result.isFloat())
      multiply<double>(op, call.operands, result);
    else
      multiply<int64_t>(op, call.operands, result);
    call.results.push_back(std::move(result));
    return success();
  }
};

/// An algorithm is what the text says of its own factors.
struct DotPrecision
    : PrecisionOpInterface::ExternalModel<DotPrecision, DotGeneralOp> {
  SmallVector<unsigned> getFactors(Operation *op) const {
    if (cast<DotGeneralOp>(op).getAlgorithm())
      return {};
    return {0, 1};
  }
  bool mixesTypes(Operation *) const { return true; }
};
} // namespace

void stablehlo::registerContractionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<DotGeneralOp, DotAnswers>(context);
    DotGeneralOp::attachInterface<DotPrecision>(*context);
  });
}
