//===- Scatter.cpp - Answers of scatter -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// result = operand; result[start(p) + w] = body(result[..], updates[p, w]) for
// all (p, w) in row-major order of the updates, so that with equal addresses
// the last one wins; elements that lie outside are dropped.
//
// Derivative with g the result's cotangent and G(v) the elements of v at the
// addresses of the updates, zero where they lie outside:
//
//   body adds      operand: g; updates: G(g)
//   body assigns   operand: g with zeros where something was written; updates:
//                  G(g), zero for updates that a later one has overwritten
//                  (each update scatters its number and reads it back)
//   body is the    operand: g / n where it equals the result; updates: G(g / n)
//   greater or     where they equal the result; n is how many of an element's
//   less           operand and updates do
//   body           operand: g times the updates, at their addresses; updates:
//   multiplies     G(g times the operand) where each has an address of its own,
//                  else refused
//   other bodies   refused
//
// G is a gather from v. Where windows have one element in each indexed
// dimension they lie inside as a whole or not at all: what was read for a start
// outside is replaced by the constant, so that v is read as it lies, split or
// not. Otherwise v gets a margin of one window, filled with the constant, on
// both sides of each indexed dimension: a start outside is limited to the
// margin.
//
// Test: test/Dialect/StableHLO/Models/IndexingTest.cpp
//===----------------------------------------------------------------------===//

#include "../Combining.h"
#include "../Movement.h"
#include "LocalAddress.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
/// The kind of a scatter of one input.
std::optional<ReductionKind> kindOf(ScatterOp op) {
  return op.getInputs().size() == 1 ? reduceKindOf(op.getUpdateComputation())
                                    : std::nullopt;
}

/// True when the body returns the updates.
bool isAssignment(ScatterOp op) {
  Block &body = op.getUpdateComputation().front();
  size_t n = op.getInputs().size();
  return llvm::equal(body.getTerminator()->getOperands(),
                     body.getArguments().drop_front(n));
}

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

struct ScatterDerivative {
  ScatterOp op;
  DerivativeCall &call;
  OpBuilder &b;
  Location loc;
  Addressing a;

  ScatterDerivative(ScatterOp op, DerivativeCall &call)
      : op(op), call(call), b(call.builder), loc(call.loc),
        a(Addressing::of(op)) {}

  bool isVector() const { return a.vectorDim < a.indices.getRank(); }

  /// The first start after all those that lie inside, of each indexed dim.
  SmallVector<int64_t> getEnds() const {
    return llvm::map_to_vector(
        a.map, [&](int64_t d) { return a.operand.getDimSize(d); });
  }

  /// Starts in i64. What that cannot hold lies outside as well.
  Value widenStarts() {
    SmallVector<int64_t> ends = getEnds();
    Value starts = op.getScatterIndices();
    if (a.indices.getElementType().isUnsignedInteger(64) && !ends.empty())
      starts =
          MinOp::create(b, loc, starts,
                        constantLike(b, loc, starts, *llvm::max_element(ends)));
    return convertTo(b, loc, starts, b.getI64Type());
  }

  /// A number for each indexed dim, in the shape of the starts.
  Value spread(ArrayRef<int64_t> values) {
    Type wide = b.getI64Type();
    SmallVector<int64_t> shape, dims;
    if (isVector()) {
      shape.push_back(values.size());
      dims.push_back(a.vectorDim);
    }
    Value vector = ConstantOp::create(
        b, loc,
        DenseIntElementsAttr::get(RankedTensorType::get(shape, wide), values));
    return broadcastInDim(b, loc, vector, a.indices.clone(wide), dims);
  }

  /// Starts limited to the margin and moved past it.
  Value buildStarts() {
    SmallVector<int64_t> lows = llvm::map_to_vector(
        a.map, [&](int64_t d) { return -a.getWindowSize(d); });
    Value low = spread(lows);
    Value starts =
        ClampOp::create(b, loc, low, widenStarts(), spread(getEnds()));
    return sub(b, loc, starts, low);
  }

  Value gatherAt(Value value, Value starts) {
    RankedTensorType type = typeOf(value);
    SmallVector<int64_t> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(a.getWindowSize(d));
    auto dims = GatherDimensionNumbersAttr::get(
        op.getContext(), a.window, a.dropped, a.operandBatch, a.indicesBatch,
        a.map, a.vectorDim);
    return gather(b, loc, a.other.clone(type.getElementType()), value, starts,
                  dims, sizes);
  }

  /// For each element of the updates whether it lies inside, of windows that do
  /// so as a whole.
  Value buildIsInside(Value starts) {
    SmallVector<int64_t> ends = getEnds(), dims;
    Value isInside = logicalAnd(
        b, loc,
        compare(b, loc, ComparisonDirection::GE, starts,
                constantLike(b, loc, starts, 0)),
        compare(b, loc, ComparisonDirection::LT, starts, spread(ends)));
    if (isVector())
      isInside = reduce(b, loc, ReductionKind::bitAnd, isInside, {a.vectorDim});
    dims.resize(typeOf(isInside).getRank());
    for (auto [p, i] : llvm::zip(a.positions, a.positionsOfIndices))
      dims[isVector() && i > a.vectorDim ? i - 1 : i] = p;
    return broadcastInDim(b, loc, isInside, a.other.clone(b.getI1Type()), dims);
  }

  /// G(value); `fill` where an update lies outside.
  Value takeUpdates(Value value, double fill) {
    RankedTensorType type = typeOf(value);
    if (llvm::all_of(a.map,
                     [&](int64_t d) { return a.getWindowSize(d) == 1; })) {
      Value starts = widenStarts(), taken = gatherAt(value, starts);
      return select(b, loc, buildIsInside(starts), taken,
                    constantLike(b, loc, taken, fill));
    }
    SmallVector<int64_t> margin(type.getRank(), 0);
    for (int64_t d : a.map)
      margin[d] = a.getWindowSize(d);
    value = pad(b, loc, value, scalar(b, loc, type.getElementType(), fill),
                margin, margin);
    return gatherAt(value, buildStarts());
  }

  /// `updates` in `into` at the op's addresses; without a kind assigned.
  Value scatter(Value into, Value updates, std::optional<ReductionKind> kind) {
    auto made = ScatterOp::create(
        b, loc, TypeRange{into.getType()}, ValueRange{into},
        op.getScatterIndices(), ValueRange{updates},
        op.getScatterDimensionNumbersAttr(), op.getIndicesAreSortedAttr(),
        op.getUniqueIndicesAttr());
    Type scalarType = RankedTensorType::get({}, typeOf(into).getElementType());
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&made.getUpdateComputation(), {},
                                {scalarType, scalarType}, {loc, loc});
    Value old = body->getArgument(0), result = body->getArgument(1);
    if (kind == ReductionKind::sum)
      result = add(b, loc, old, result);
    else if (kind == ReductionKind::product)
      result = mul(b, loc, old, result);
    ReturnOp::create(b, loc, ValueRange{result});
    return made.getResult().front();
  }

  Value assign(Value into, Value updates) {
    return scatter(into, updates, std::nullopt);
  }

  /// Where an update is the last one at its address.
  Value buildIsWinner() {
    RankedTensorType numbered = a.other.clone(b.getI64Type());
    RankedTensorType line =
        RankedTensorType::get({numbered.getNumElements()}, b.getI64Type());
    Value numbers = reshape(b, loc, iota(b, loc, line, 0), numbered.getShape());
    Value nobody = constantSplat(b, loc, a.operand.clone(b.getI64Type()), -1);
    Value winners = takeUpdates(assign(nobody, numbers), -1);
    return compare(b, loc, ComparisonDirection::EQ, winners, numbers);
  }

  void buildAdd(Value g) {
    call.gradients[0] = g;
    if (call.needed[2])
      call.gradients[2] = takeUpdates(g, 0);
  }

  void buildAssignment(Value g) {
    if (call.needed[0])
      call.gradients[0] = assign(
          g,
          constantSplat(b, loc, a.other.clone(typeOf(g).getElementType()), 0));
    if (!call.needed[2])
      return;
    Value taken = takeUpdates(g, 0);
    if (!op.getUniqueIndices())
      taken = select(b, loc, buildIsWinner(), taken,
                     constantLike(b, loc, taken, 0));
    call.gradients[2] = taken;
  }

  LogicalResult buildProduct(Value g) {
    if (call.needed[2] && !op.getUniqueIndices())
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << "expected a scatter with unique_indices to derive updates that "
                "multiply, got one whose updates may meet";
    if (call.needed[0])
      call.gradients[0] =
          scatter(g, op.getUpdates().front(), ReductionKind::product);
    if (call.needed[2])
      call.gradients[2] =
          takeUpdates(mul(b, loc, g, op.getInputs().front()), 0);
    return success();
  }

  /// What equals the result shares its cotangent, as in a reduction. Counts
  /// need more digits than f16 and bf16 have.
  void buildExtremum(Value g) {
    Value x = op.getInputs().front(), updates = op.getUpdates().front();
    Value result = op.getResult().front();
    Type element = a.operand.getElementType();
    Type wide = element.isF64() ? element : b.getF32Type();
    Value isKept = compare(b, loc, ComparisonDirection::EQ, x, result);
    Value isTaken = compare(b, loc, ComparisonDirection::EQ, updates,
                            takeUpdates(result, 0));
    Value count = scatter(convertTo(b, loc, isKept, wide),
                          convertTo(b, loc, isTaken, wide), ReductionKind::sum);
    Value share = convertTo(
        b, loc, div(b, loc, convertTo(b, loc, g, wide), count), element);
    if (call.needed[0])
      call.gradients[0] =
          select(b, loc, isKept, share, constantLike(b, loc, x, 0));
    if (call.needed[2])
      call.gradients[2] = select(b, loc, isTaken, takeUpdates(share, 0),
                                 constantLike(b, loc, updates, 0));
  }
};

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

struct ScatterAnswers : AnswerDefaults<ScatterOp> {
  /// A tensor of the picture: operands and results that have its shape.
  static void set(ShardingRule &rule, size_t n, bool isOperand, int64_t d,
                  int factor) {
    for (size_t k = 0; k < n; ++k) {
      if (!isOperand) {
        rule.operands[n + 1 + k][d] = {factor};
        continue;
      }
      rule.operands[k][d] = {factor};
      rule.results[k][d] = {factor};
    }
  }

  static ShardingRule rule(ScatterOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    Addressing a = Addressing::of(op);
    size_t n = op.getInputs().size();
    TensorFactors &indices = rule.operands[n];
    std::optional<ReductionKind> kind = kindOf(op);
    ReductionKind reduction =
        kind ? canonicalKind(*kind, a.operand.getElementType())
             : ReductionKind::sum;
    for (auto [p, i] : llvm::zip(a.positions, a.positionsOfIndices)) {
      const int64_t *batch = llvm::find(a.indicesBatch, i);
      bool isBatch = batch != a.indicesBatch.end();
      int factor = rule.addFactor(a.other.getDimSize(p),
                                  isBatch ? FactorKind::Pass
                                  : kind  ? FactorKind::Reduced
                                          : FactorKind::Whole,
                                  reduction);
      indices[i] = {factor};
      set(rule, n, /*isOperand=*/false, p, factor);
      if (isBatch)
        set(rule, n, /*isOperand=*/true,
            a.operandBatch[batch - a.indicesBatch.begin()], factor);
    }
    for (auto [w, d] : llvm::zip(a.window, a.windowOfOperand)) {
      bool isWhole = a.getLastStart(d) == 0 && !llvm::is_contained(a.map, d);
      FactorKind factorKind = isWhole ? FactorKind::Pass : FactorKind::Whole;
      int factor = rule.addFactor(a.operand.getDimSize(d), factorKind);
      set(rule, n, /*isOperand=*/true, d, factor);
      if (!isWhole)
        factor = rule.addFactor(a.other.getDimSize(w), factorKind);
      set(rule, n, /*isOperand=*/false, w, factor);
    }
    for (int64_t d : a.dropped) {
      bool isAddressed = llvm::is_contained(a.map, d);
      int factor =
          rule.addFactor(a.operand.getDimSize(d),
                         isAddressed ? FactorKind::Pass : FactorKind::Whole);
      rule.factors[factor].isAddressed = isAddressed;
      set(rule, n, /*isOperand=*/true, d, factor);
    }
    if (a.vectorDim < a.indices.getRank())
      indices[a.vectorDim] = {
          rule.addFactor(a.indices.getDimSize(a.vectorDim), FactorKind::Whole)};
    addCarries(op, rule, kind ? std::optional(reduction) : std::nullopt);
    return rule;
  }

  /// Operands and updates are terms of one combination; an assignment moves
  /// partial values of any kind.
  static void addCarries(ScatterOp op, ShardingRule &rule,
                         std::optional<ReductionKind> kind) {
    size_t n = op.getInputs().size();
    SmallVector<int> group;
    for (size_t k = 0; k < n; ++k)
      group.push_back(k);
    for (size_t k = 0; k < n; ++k)
      group.push_back(n + 1 + k);
    if (kind) {
      rule.addLinear(*kind, {group});
      rule.addends = group;
    } else if (isAssignment(op)) {
      carryAnyPartial(rule, group);
    }
  }

  /// Indices of padding need no value, as the updates there change nothing.
  static bool needsNeutralPadding(ScatterOp op, unsigned operand) {
    return operand > op.getInputs().size();
  }

  /// Rows of other devices are out of range, so that their updates are dropped.
  static LogicalResult localize(ScatterOp op, LocalForm &form) {
    LocalAddresses addresses = buildLocalAddresses(
        form, op.getInputs().front(), op.getScatterIndices(),
        Addressing::of(op), /*clamp=*/false);
    auto clone = cast<ScatterOp>(form.cloneOp());
    clone.getScatterIndicesMutable().assign(addresses.indices);
    if (addresses.indices != form.getLocal(op.getScatterIndices()))
      clone.setIndicesAreSorted(false);
    return success();
  }

  /// The body's ops for each update; windows of the operand are read and
  /// written, the rest is left in place.
  static OpCost cost(ScatterOp op) {
    OpCost cost = getTrafficCost(op);
    int64_t ops = llvm::range_size(
        op.getUpdateComputation().front().without_terminator());
    cost.flops = ops * typeOf(op.getUpdates().front()).getNumElements();
    return cost;
  }

  static LogicalResult derive(ScatterOp op, DerivativeCall &call) {
    ScatterDerivative derivative(op, call);
    bool isOne = op.getInputs().size() == 1;
    std::optional<ReductionKind> kind = kindOf(op);
    if (kind == ReductionKind::sum)
      derivative.buildAdd(call.cotangents[0]);
    else if (kind == ReductionKind::max || kind == ReductionKind::min)
      derivative.buildExtremum(call.cotangents[0]);
    else if (kind == ReductionKind::product)
      return derivative.buildProduct(call.cotangents[0]);
    else if (isOne && isAssignment(op))
      derivative.buildAssignment(call.cotangents[0]);
    else
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << ("expected a scatter of one input that adds, multiplies, "
                 "assigns or takes the maximum or minimum to derive, got "
                 "another body");
    return success();
  }

  static KernelForm form(ScatterOp) { return KernelForm::Update; }
  static SmallVector<int64_t> updateShape(ScatterOp op) {
    return SmallVector<int64_t>(typeOf(op.getUpdates().front()).getShape());
  }

  static UpdateTarget emitUpdateTarget(ScatterOp op, ElementCall &call) {
    OpBuilder &b = call.builder;
    Addressing a = Addressing::of(op);
    UpdateTarget target;
    target.indices =
        a.emitAddress(call, op.getScatterIndices(), op.getInputs().size(),
                      /*clamp=*/false);
    for (int64_t d : a.map) {
      Value size =
          arith::ConstantIndexOp::create(b, call.loc, a.operand.getDimSize(d));
      // Unsigned: negative addresses are large ones.
      Value fits = arith::CmpIOp::create(b, call.loc, arith::CmpIPredicate::ult,
                                         target.indices[d], size);
      target.inBounds =
          target.inBounds
              ? arith::AndIOp::create(b, call.loc, target.inBounds, fits)
                    .getResult()
              : fits;
    }
    return target;
  }

  static Value emitUpdateElement(ScatterOp op, Value old, ElementCall &call) {
    if (op.getInputs().size() != 1) {
      emitRefusal(op, rt::ErrorKind::unsupported)
          << "expected a kernel of a scatter of one input, got "
          << op.getInputs().size();
      return {};
    }
    Value update = call.source(2, call.indices);
    SmallVector<Value> results = emitScalarBody(
        op.getUpdateComputation(), call.builder, call.loc, {old, update});
    return results.empty() ? Value() : results.front();
  }

  static LogicalResult evaluate(ScatterOp op, EvaluationCall &call);
};

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Calls `step(update, element)` with the row-major numbers of each update
/// element that is in bounds and of its address; false ends the walk.
template <typename Step>
bool walkUpdates(const Addressing &a, const HostTensor &indexValues,
                 ArrayRef<int64_t> operandStrides, Step step) {
  SmallVector<int64_t> index(a.other.getRank(), 0), to;
  for (int64_t i = 0; i < a.other.getNumElements(); ++i) {
    a.resolve(indexValues, index, /*clamp=*/false, to);
    nextIndex(index, a.other.getShape());
    int64_t element = 0;
    bool isInside = true;
    for (int64_t d = 0; d < a.operand.getRank(); ++d) {
      isInside &= to[d] >= 0 && to[d] < a.operand.getDimSize(d);
      element += isInside ? to[d] * operandStrides[d] : 0;
    }
    if (isInside && !step(i, element))
      return false;
  }
  return true;
}

HostTensor takeScalar(const HostTensor &tensor, int64_t i) {
  HostTensor scalar(tensor.getElementType(), {});
  int64_t bytes = tensor.getElementBytes();
  std::memcpy(scalar.mutableBytes(), tensor.bytes() + i * bytes, bytes);
  return scalar;
}

/// Sums of one kind, accumulated in double or int64 and rounded once.
template <typename T>
void combineUpdates(ReductionKind kind, const Addressing &a,
                    ArrayRef<HostTensor> operands, HostTensor &result) {
  bool isFloat = std::is_same_v<T, double>;
  auto read = [&](const HostTensor &tensor, int64_t i) {
    return isFloat ? T(tensor.getFloat(i)) : T(tensor.getInt(i));
  };
  std::vector<T> sums(result.getNumElements());
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = read(operands[0], i);
  withCombination<T>(kind, result.getElementType(), [&](auto combine) {
    walkUpdates(a, operands[1], result.getStrides(),
                [&](int64_t update, int64_t element) {
                  sums[element] =
                      combine(sums[element], read(operands[2], update));
                  return true;
                });
  });
  for (size_t i = 0; i < sums.size(); ++i)
    if (isFloat)
      result.setFloat(i, sums[i]);
    else
      result.setInt(i, sums[i]);
}

LogicalResult ScatterAnswers::evaluate(ScatterOp op, EvaluationCall &call) {
  Addressing a = Addressing::of(op);
  size_t n = op.getInputs().size();
  if (std::optional<ReductionKind> kind = kindOf(op)) {
    HostTensor result(typeOf(op.getResult().front()));
    if (result.isFloat())
      combineUpdates<double>(*kind, a, call.operands, result);
    else
      combineUpdates<int64_t>(*kind, a, call.operands, result);
    call.results.push_back(std::move(result));
    return success();
  }
  SmallVector<HostTensor> results(call.operands.take_front(n));
  auto step = [&](int64_t update, int64_t element) {
    SmallVector<HostTensor> arguments, combined;
    for (const HostTensor &result : results)
      arguments.push_back(takeScalar(result, element));
    for (const HostTensor &updates : call.operands.drop_front(n + 1))
      arguments.push_back(takeScalar(updates, update));
    if (failed(call.scope.evaluateRegion(op.getUpdateComputation(), arguments,
                                         combined)))
      return false;
    for (auto [result, value] : llvm::zip(results, combined)) {
      int64_t bytes = result.getElementBytes();
      std::memcpy(result.mutableBytes() + element * bytes, value.bytes(),
                  bytes);
    }
    return true;
  };
  if (!walkUpdates(a, call.operands[n], results.front().getStrides(), step))
    return failure();
  llvm::move(results, std::back_inserter(call.results));
  return success();
}
} // namespace

void stablehlo::registerScatterModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<ScatterOp, ScatterAnswers>(context);
  });
}
