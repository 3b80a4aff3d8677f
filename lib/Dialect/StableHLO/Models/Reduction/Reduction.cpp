//===- Reduction.cpp - Answers of reduce ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// result[kept] = init combined with all x[kept, reduced]. With g the result's
// cotangent, broadcast back along the reduced dimensions:
//
//   add        g; the initial value gets the sum of g
//   max, min   g / t where x is the result, t the number of such x
//   multiply   g * product of the others, right also where some x are 0: the
//              product of all that are not 0, divided by x if it is one of
//              them, and 0 if another one is 0
//   and, or    inactive
//
// A body that is not one of these operations on one input has no derivative,
// and its reduced dimensions must be whole. The same holds for splitting when
// the initial value is not neutral, as every device would combine it.
//
// Evaluation walks the input in row-major order; sums, products and extrema of
// floats are accumulated in double and rounded once.
//
// Test: test/Dialect/StableHLO/Models/ReductionTest.cpp
//===----------------------------------------------------------------------===//

#include "../Combining.h"
#include "../Movement.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Solvers/Reduction/ReductionCut.h"
#include "llmc/Support/HostElements.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
/// The kind of a reduction of one input.
std::optional<ReductionKind> kindOf(ReduceOp op) {
  return op.getInputs().size() == 1 ? reduceKindOf(op.getBody()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

struct ReduceDerivative {
  ReduceOp op;
  DerivativeCall &call;
  OpBuilder &b;
  Location loc;
  Value x, g;
  RankedTensorType type;

  ReduceDerivative(ReduceOp op, DerivativeCall &call)
      : op(op), call(call), b(call.builder), loc(call.loc),
        x(op.getInputs().front()), g(call.cotangents[0]), type(typeOf(x)) {}

  Value spread(Value value) {
    return broadcastAlong(b, loc, value,
                          type.clone(typeOf(value).getElementType()),
                          op.getDimensions());
  }

  void buildAdd() {
    if (call.needed[0])
      call.gradients[0] = spread(g);
    if (call.needed[1])
      call.gradients[1] = reduceAdd(
          b, loc, g,
          llvm::to_vector(llvm::seq<int64_t>(0, typeOf(g).getRank())));
  }

  /// Counts of up to all elements need more digits than f16 and bf16 have.
  void buildExtremum() {
    Type element = type.getElementType();
    Type wide = element.isF64() ? element : b.getF32Type();
    Value isChosen = compare(b, loc, ComparisonDirection::EQ, x,
                             spread(op.getResult().front()));
    Value count = reduceAdd(b, loc, convertTo(b, loc, isChosen, wide),
                            op.getDimensions());
    Value share = convertTo(
        b, loc, div(b, loc, convertTo(b, loc, g, wide), count), element);
    call.gradients[0] =
        select(b, loc, isChosen, spread(share), constantLike(b, loc, x, 0));
  }

  void buildProduct() {
    Value zero = constantLike(b, loc, x, 0), one = constantLike(b, loc, x, 1);
    Value isZero = compare(b, loc, ComparisonDirection::EQ, x, zero);
    Value factor = select(b, loc, isZero, one, x);
    Value product =
        reduce(b, loc, ReductionKind::product, factor, op.getDimensions());
    Value init = op.getInitValues().front();
    if (!isNeutral(init, ReductionKind::product))
      product = mul(b, loc, product,
                    broadcastInDim(b, loc, init, typeOf(product), {}));
    Type integer = b.getI32Type();
    Value zeros = convertTo(b, loc, isZero, integer);
    Value otherZeros = sub(
        b, loc, spread(reduceAdd(b, loc, zeros, op.getDimensions())), zeros);
    Value isAlone = compare(b, loc, ComparisonDirection::EQ, otherZeros,
                            constantLike(b, loc, otherZeros, 0));
    Value others = div(b, loc, spread(product), factor);
    call.gradients[0] =
        mul(b, loc, spread(g), select(b, loc, isAlone, others, zero));
  }
};

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// For each input dimension the stride of the result; 0 where it is reduced.
SmallVector<int64_t> getResultSteps(ReduceOp op, RankedTensorType input) {
  SmallVector<int64_t> steps(input.getRank(), 0);
  int64_t step = 1;
  for (int64_t d = input.getRank(); d-- > 0;)
    if (!llvm::is_contained(op.getDimensions(), d)) {
      steps[d] = step;
      step *= input.getDimSize(d);
    }
  return steps;
}

/// Calls `step(first, count, at, atStep)` for runs of input elements along the
/// last dimension: element first + i goes into result element at + i * atStep.
template <typename Step>
void forEachRow(ReduceOp op, RankedTensorType input, Step step) {
  SmallVector<int64_t> steps = getResultSteps(op, input);
  if (input.getNumElements() == 0)
    return;
  if (input.getRank() == 0)
    return step(0, 1, 0, 0);
  ArrayRef<int64_t> outer = input.getShape().drop_back();
  SmallVector<int64_t> index(outer.size(), 0);
  int64_t first = 0, width = input.getShape().back();
  do {
    int64_t at = 0;
    for (auto [i, s] : llvm::zip(index, steps))
      at += i * s;
    step(first, width, at, steps.back());
    first += width;
  } while (nextIndex(index, outer));
}

template <typename T> struct Elements;
template <> struct Elements<double> {
  static constexpr auto load = loadFloats;
  static constexpr auto store = storeFloats;
};
template <> struct Elements<int64_t> {
  static constexpr auto load = loadInts;
  static constexpr auto store = storeInts;
};

template <typename T>
void evaluateKind(ReduceOp op, ReductionKind kind,
                  ArrayRef<HostTensor> operands, HostTensor &result) {
  const HostTensor &x = operands[0];
  std::vector<T> init(1);
  Elements<T>::load(operands[1], 0, init);
  std::vector<T> sums(result.getNumElements(), init.front());
  std::vector<T> row;
  withCombination<T>(kind, x.getElementType(), [&](auto combine) {
    forEachRow(op, x.getType(),
               [&](int64_t first, int64_t count, int64_t at, int64_t step) {
                 row.resize(count);
                 Elements<T>::load(x, first, row);
                 for (int64_t i = 0; i < count; ++i) {
                   T &sum = sums[at + i * step];
                   sum = combine(sum, row[i]);
                 }
               });
  });
  Elements<T>::store(result, 0, sums);
}

void copyElement(const HostTensor &from, int64_t i, HostTensor &to, int64_t j) {
  int64_t bytes = from.getElementBytes();
  std::memcpy(to.mutableBytes() + j * bytes, from.bytes() + i * bytes, bytes);
}

/// Any body, run by the scope on scalars.
LogicalResult evaluateBody(ReduceOp op, EvaluationCall &call) {
  size_t n = op.getInputs().size();
  SmallVector<HostTensor> results;
  for (size_t k = 0; k < n; ++k) {
    results.emplace_back(typeOf(op.getResult()[k]));
    for (int64_t i = 0; i < results[k].getNumElements(); ++i)
      copyElement(call.operands[n + k], 0, results[k], i);
  }
  bool failedOnce = false;
  auto combine = [&](int64_t from, int64_t to) {
    SmallVector<HostTensor> arguments, combined;
    for (unsigned half : {0, 1})
      for (size_t k = 0; k < n; ++k) {
        const HostTensor &source = half ? call.operands[k] : results[k];
        HostTensor scalar(source.getElementType(), {});
        copyElement(source, half ? from : to, scalar, 0);
        arguments.push_back(std::move(scalar));
      }
    if (failed(call.scope.evaluateRegion(op.getBody(), arguments, combined)))
      return failure();
    for (size_t k = 0; k < n; ++k)
      copyElement(combined[k], 0, results[k], to);
    return success();
  };
  forEachRow(op, call.operands[0].getType(),
             [&](int64_t first, int64_t count, int64_t at, int64_t step) {
               for (int64_t i = 0; i < count && !failedOnce; ++i)
                 failedOnce = failed(combine(first + i, at + i * step));
             });
  if (failedOnce)
    return failure();
  llvm::move(results, std::back_inserter(call.results));
  return success();
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

/// Element-wise ops, one reading the other, that are computed in another shape.
constexpr int mostMoved = 32;

/// A value in another shape. What element-wise ops make for it alone they make
/// in that shape, so that they stay beside what reads them.
Value reshapeElements(OpBuilder &b, Value x, ArrayRef<int64_t> shape,
                      int most = mostMoved) {
  Operation *maker = x.getDefiningOp();
  if (most == 0 || !maker || !maker->hasTrait<ElementwiseShape>() ||
      !llvm::all_equal(x.getUsers()))
    return reshape(b, x.getLoc(), x, shape);
  IRMapping mapping;
  for (Value operand :
       llvm::SetVector<Value>(maker->operand_begin(), maker->operand_end()))
    mapping.map(operand, reshapeElements(b, operand, shape, most - 1));
  Operation *made = b.clone(*maker, mapping);
  made->getResult(0).setType(
      RankedTensorType::get(shape, typeOf(x).getElementType()));
  return made->getResult(0);
}

struct ReduceAnswers : AnswerDefaults<ReduceOp> {
  static bool uniform(ReduceOp) { return true; }
  static ShardingRule rule(ReduceOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    size_t n = op.getInputs().size();
    RankedTensorType type = typeOf(op.getInputs().front());
    std::optional<ReductionKind> kind = kindOf(op);
    if (kind && !isNeutral(op.getInitValues().front(), *kind))
      kind = std::nullopt;
    ReductionKind reduction =
        kind ? canonicalKind(*kind, type.getElementType()) : ReductionKind::sum;
    int64_t at = 0;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      bool isReduced = llvm::is_contained(op.getDimensions(), d);
      int factor = rule.addFactor(type.getDimSize(d),
                                  !isReduced ? FactorKind::Pass
                                  : kind     ? FactorKind::Reduced
                                             : FactorKind::Whole,
                                  reduction);
      for (size_t k = 0; k < n; ++k) {
        rule.operands[k][d] = {factor};
        if (!isReduced)
          rule.results[k][at] = {factor};
      }
      at += !isReduced;
    }
    if (kind)
      rule.addLinear(reduction, {{0}});
    return rule;
  }

  /// The body's ops for each input element.
  static OpCost cost(ReduceOp op) {
    OpCost cost = getTrafficCost(op);
    int64_t ops = llvm::range_size(op.getBody().front().without_terminator());
    cost.flops = ops * typeOf(op.getInputs().front()).getNumElements();
    return cost;
  }

  static bool inactive(ReduceOp op) {
    std::optional<ReductionKind> kind = kindOf(op);
    return kind == ReductionKind::bitAnd || kind == ReductionKind::bitOr;
  }

  static LogicalResult derive(ReduceOp op, DerivativeCall &call) {
    std::optional<ReductionKind> kind = kindOf(op);
    bool isArithmetic =
        kind && *kind != ReductionKind::bitAnd && *kind != ReductionKind::bitOr;
    if (!isArithmetic)
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << ("expected one add, multiply, maximum or minimum of "
                 "one input to derive, got another body");
    ReduceDerivative derivative(op, call);
    if (*kind == ReductionKind::sum) {
      derivative.buildAdd();
      return success();
    }
    if (call.needed[1])
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << ("expected a constant initial value to derive a "
                 "reduction other than add, got one that depends "
                 "on parameters");
    if (*kind == ReductionKind::product)
      derivative.buildProduct();
    else
      derivative.buildExtremum();
    return success();
  }

  static KernelForm form(ReduceOp) { return KernelForm::Reduction; }
  static ReductionShape reduction(ReduceOp op) {
    return {static_cast<unsigned>(op.getInputs().size()),
            SmallVector<int64_t>(op.getDimensions()),
            /*isOrdered=*/!kindOf(op)};
  }
  static SmallVector<Value> emitCombine(ReduceOp op, OpBuilder &b, Location loc,
                                        ValueRange accumulators,
                                        ValueRange elements) {
    SmallVector<Value> arguments(accumulators);
    llvm::append_range(arguments, elements);
    return emitScalarBody(op.getBody(), b, loc, arguments);
  }

  /// A few long rows are two reductions (ReductionCut.h).
  static LogicalResult decompose(ReduceOp op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    std::optional<ReductionKind> kind = kindOf(op);
    if (!kind || !isNeutral(op.getInitValues().front(), *kind))
      return failure();
    Value x = op.getInputs().front();
    ArrayRef<int64_t> shape = typeOf(x).getShape(), dims = op.getDimensions();
    int64_t kept = shape.size() - dims.size(), rank = shape.size();
    auto isTrailing = [&](int64_t dim) { return dim >= kept; };
    if (!llvm::all_of(dims, isTrailing))
      return failure();
    RowCut cut = cutRows(ShapedType::getNumElements(shape.take_front(kept)),
                         shape.drop_front(kept).vec());
    if (cut.part == 0)
      return failure();
    if (cut.numDims == 0) {
      SmallVector<int64_t> parts(shape.take_front(kept));
      int64_t length = ShapedType::getNumElements(shape.drop_front(kept));
      parts.append({length / cut.part, cut.part});
      x = reshapeElements(b, x, parts);
      cut.numDims = 1;
      rank = kept + 2;
    }
    int64_t first = rank - static_cast<int64_t>(cut.numDims);
    Value values = reduce(b, op.getLoc(), *kind, x,
                          llvm::to_vector(llvm::seq(first, rank)));
    results.push_back(reduce(b, op.getLoc(), *kind, values,
                             llvm::to_vector(llvm::seq(kept, first))));
    return success();
  }

  static LogicalResult evaluate(ReduceOp op, EvaluationCall &call) {
    std::optional<ReductionKind> kind = kindOf(op);
    if (!kind)
      return evaluateBody(op, call);
    HostTensor result(typeOf(op.getResult().front()));
    if (result.isFloat())
      evaluateKind<double>(op, *kind, call.operands, result);
    else
      evaluateKind<int64_t>(op, *kind, call.operands, result);
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void stablehlo::registerReductionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<ReduceOp, ReduceAnswers>(context);
  });
}
