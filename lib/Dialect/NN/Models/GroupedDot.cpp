//===- GroupedDot.cpp - Answers of grouped_dot ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With m rows, some of them in groups:
//
//   b m k, g b k n -> b m n    m addressed, k and g reduced by sum
//   b m k, b m n -> b g k n    m reduced by sum, g addressed
//
// A device that has some groups multiplies their rows; all others are zero, so
// that the devices' results are terms of a sum. One that has some rows counts
// how many of each group these are. With c the cotangent of the result, each
// gradient is a product of the same groups:
//
//   b m k: c, w -> over n     w: x, c -> over m, by groups
//   b m k: y, c -> over n     b m n: x, c -> over k, of the second form
//
// Test: test/Dialect/NN/Models/GroupedDotTest.cpp
//===----------------------------------------------------------------------===//

#include "GroupedDotSides.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

/// A type that has all values of both.
static Type getWideType(Type a, Type b) {
  if (a == b)
    return a;
  if (!isa<FloatType>(a))
    return IntegerType::get(a.getContext(), 64);
  return a.isF64() || b.isF64() ? Type(Float64Type::get(a.getContext()))
                                : Type(Float32Type::get(a.getContext()));
}

//===----------------------------------------------------------------------===//
// Rule
//===----------------------------------------------------------------------===//

namespace {
struct GroupRuleBuilder {
  GroupedDotOp op;
  GroupedSides sides;
  ShardingRule rule;
  ReductionKind kind;

  explicit GroupRuleBuilder(GroupedDotOp op)
      : op(op), sides(op), rule(ShardingRule::forOp(op)),
        // i1 multiplies by "and" and adds by "or".
        kind(op.getLhs().getType().getElementType().isInteger(1)
                 ? ReductionKind::bitOr
                 : ReductionKind::sum) {}

  int add(int64_t size, FactorKind of, bool isAddressed) {
    int factor = rule.addFactor(size, of, kind);
    rule.factors[factor].isAddressed = isAddressed;
    return factor;
  }
  void addBatch();
  void addFree();
  void addContracted();
  void addGroups();
};
} // namespace

void GroupRuleBuilder::addBatch() {
  for (auto [i, l, r] : llvm::enumerate(sides.lhsBatch, sides.rhsBatch)) {
    int factor = rule.addFactor(op.getLhs().getType().getDimSize(l));
    rule.operands[0][l] = rule.operands[1][r] = {factor};
    rule.results[0][i] = {factor};
    if (hasOwnSizes(op))
      rule.operands[2][i] = {factor};
    if (op.getFirst())
      rule.operands[3][i] = {factor};
  }
}

void GroupRuleBuilder::addFree() {
  for (auto [i, d] : llvm::enumerate(sides.lhsFree)) {
    int factor = add(op.getLhs().getType().getDimSize(d), FactorKind::Pass,
                     d == sides.rows);
    rule.operands[0][d] = rule.results[0][sides.getResultDim(i)] = {factor};
  }
  for (auto [d, of] : llvm::zip(sides.rhsFree, sides.getRightOfResult())) {
    int factor = rule.addFactor(op.getRhs().getType().getDimSize(d));
    rule.operands[1][d] = rule.results[0][of] = {factor};
  }
}

void GroupRuleBuilder::addContracted() {
  for (auto [l, r] : llvm::zip(sides.lhsContracting, sides.rhsContracting)) {
    int factor = add(op.getLhs().getType().getDimSize(l), FactorKind::Reduced,
                     l == sides.rows);
    rule.operands[0][l] = rule.operands[1][r] = {factor};
  }
}

/// Each device looks at all sizes.
void GroupRuleBuilder::addGroups() {
  auto [value, dim] = getMatrices(op);
  bool isOfResult = value == op.getResult();
  int factor = add(tensorTypeOf(value).getDimSize(dim),
                   isOfResult ? FactorKind::Pass : FactorKind::Reduced, true);
  (isOfResult ? rule.results[0] : rule.operands[1])[dim] = {factor};
  RankedTensorType sizes = tensorTypeOf(op.getSizes());
  rule.operands[2].back() = {
      rule.addFactor(sizes.getShape().back(), FactorKind::Whole)};
}

//===----------------------------------------------------------------------===//
// What a device computes
//===----------------------------------------------------------------------===//

namespace {
class LocalGroups {
public:
  LocalGroups(LocalForm &form, GroupedDotOp op)
      : form(form), b(form.builder), loc(form.loc), op(op),
        dims(getGroupedDims(op)) {}

  LogicalResult build();

private:
  FailureOr<LocalDim> getDim(Value value, int64_t dim, StringRef what);
  Value buildSizes(const LocalDim &rows);
  Value buildFirst(const LocalDim &matrices);
  Value buildEnds(Value sizes);
  Value clip(Value bounds, int64_t rows);

  LocalForm &form;
  OpBuilder &b;
  Location loc;
  GroupedDotOp op;
  GroupedDims dims;
};
} // namespace

/// The rows and the matrices of a device are numbered without gaps.
FailureOr<LocalDim> LocalGroups::getDim(Value value, int64_t dim,
                                        StringRef what) {
  LocalDim found = form.getDim(value, dim);
  if (!found.isPadded() || found.factors.size() == 1)
    return found;
  return emitRefusal(op, rt::ErrorKind::unsupported)
         << "expected " << what << " that are padded behind the last one, got "
         << found.size << " stored as " << found.extent
         << " with gaps; split them by axes that divide them";
}

/// The row behind each group.
Value LocalGroups::buildEnds(Value sizes) {
  RankedTensorType type = tensorTypeOf(sizes);
  int64_t groups = type.getShape().back(), rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(groups);
  RankedTensorType pairs = RankedTensorType::get(shape, type.getElementType());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  dims.push_back(rank);
  Value isBefore = hlo::compare(b, loc, hlo::ComparisonDirection::LE,
                                hlo::iota(b, loc, pairs, rank),
                                hlo::iota(b, loc, pairs, rank - 1));
  Value spread = hlo::broadcastInDim(b, loc, sizes, pairs, dims);
  Value counted = hlo::select(b, loc, isBefore, spread,
                              hlo::constantLike(b, loc, spread, 0));
  return hlo::reduceAdd(b, loc, counted, {rank});
}

Value LocalGroups::clip(Value bounds, int64_t rows) {
  Value least = hlo::constantLike(b, loc, bounds, 0),
        most = hlo::constantLike(b, loc, bounds, static_cast<double>(rows));
  return hlo::min(b, loc, hlo::max(b, loc, bounds, least), most);
}

/// How many of the device's rows each group has. Those behind the last row of
/// all stay, so that too many are too many here.
Value LocalGroups::buildSizes(const LocalDim &rows) {
  Value sizes = form.getLocal(op.getSizes());
  if (rows.isPlain())
    return sizes;
  Value ends = buildEnds(sizes), starts = hlo::sub(b, loc, ends, sizes);
  Value offset = form.buildOffset(op.getLhs(), dims.rows,
                                  tensorTypeOf(sizes).getElementType());
  Value begin = hlo::broadcastInDim(b, loc, offset, tensorTypeOf(sizes), {});
  Value last = hlo::sub(b, loc, ends, begin);
  Value isBeyond = hlo::compare(
      b, loc, hlo::ComparisonDirection::GT, ends,
      hlo::constantLike(b, loc, ends, static_cast<double>(rows.size)));
  last = hlo::select(b, loc, isBeyond, last, clip(last, rows.local));
  return hlo::sub(b, loc, last,
                  clip(hlo::sub(b, loc, starts, begin), rows.local));
}

/// The first group of the device's matrices.
Value LocalGroups::buildFirst(const LocalDim &matrices) {
  Value first = op.getFirst() ? form.getLocal(op.getFirst()) : Value();
  if (matrices.isPlain())
    return first;
  auto [value, dim] = getMatrices(op);
  RankedTensorType lhs = form.getLocalType(op.getLhs());
  Type element = tensorTypeOf(op.getSizes()).getElementType();
  SmallVector<int64_t> batch = llvm::map_to_vector(
      dims.lhsBatch, [&](int64_t d) { return lhs.getDimSize(d); });
  Value offset =
      hlo::broadcastInDim(b, loc, form.buildOffset(value, dim, element),
                          RankedTensorType::get(batch, element), {});
  return first ? hlo::add(b, loc, first, offset) : offset;
}

LogicalResult LocalGroups::build() {
  FailureOr<LocalDim> rows = getDim(op.getLhs(), dims.rows, "rows of groups");
  auto [value, dim] = getMatrices(op);
  FailureOr<LocalDim> matrices = getDim(value, dim, "groups");
  if (failed(rows) || failed(matrices))
    return failure();
  RankedTensorType type = form.getLocalType(op.getResult());
  Value sizes = buildSizes(*rows), first = buildFirst(*matrices);
  form.results.push_back(GroupedDotOp::create(
      b, loc, form.getLocal(op.getLhs()), form.getLocal(op.getRhs()), sizes,
      first, dims, matrices->local, type.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

/// The dims `listed`, in the order that sorts their partners.
static SmallVector<int64_t> orderLikePartner(ArrayRef<int64_t> listed,
                                             ArrayRef<int64_t> partners) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, listed.size()));
  llvm::sort(order,
             [&](int64_t a, int64_t b) { return partners[a] < partners[b]; });
  return llvm::map_to_vector(order, [&](int64_t i) { return listed[i]; });
}

namespace {
struct GroupedDerivative {
  GroupedDotOp op;
  DerivativeCall &call;
  GroupedSides sides;
  Value g;

  GroupedDerivative(GroupedDotOp op, DerivativeCall &call)
      : op(op), call(call), sides(op), g(call.cotangents[0]) {}

  Value buildLeft();
  Value buildRight();

private:
  Value multiply(Value lhs, Value rhs, const GroupedDims &dims);
  Value arrange(Value value, ArrayRef<int64_t> order, Value like);
};
} // namespace

/// Of the same groups, in a type that has the values of all.
Value GroupedDerivative::multiply(Value lhs, Value rhs,
                                  const GroupedDims &dims) {
  Type element = tensorTypeOf(g).getElementType();
  for (Value side : {op.getLhs(), op.getRhs()})
    element = getWideType(element, tensorTypeOf(side).getElementType());
  auto [value, dim] = getMatrices(op);
  return GroupedDotOp::create(
      call.builder, call.loc,
      hlo::convertTo(call.builder, call.loc, lhs, element),
      hlo::convertTo(call.builder, call.loc, rhs, element), op.getSizes(),
      op.getFirst(), dims, tensorTypeOf(value).getDimSize(dim), element);
}

/// Dim p of `value` is dim order[p] of the operand.
Value GroupedDerivative::arrange(Value value, ArrayRef<int64_t> order,
                                 Value like) {
  SmallVector<int64_t> permutation(order.size());
  for (auto [p, d] : llvm::enumerate(order))
    permutation[d] = p;
  value = hlo::transpose(call.builder, call.loc, value, permutation);
  return hlo::convertTo(call.builder, call.loc, value,
                        tensorTypeOf(like).getElementType());
}

/// Each row of the cotangent by its matrix; or, where the result has the
/// matrices, each row of the right side by that of the cotangent.
Value GroupedDerivative::buildLeft() {
  GroupedDims dims;
  dims.rhsBatch = sides.rhsBatch;
  SmallVector<int64_t> order(sides.lhsBatch);
  auto contracting =
      orderLikePartner(sides.lhsContracting, sides.rhsContracting);
  if (!sides.contractsRows()) {
    dims.lhsBatch = sides.getBatchOfResult();
    dims.lhsContracting = sides.getRightOfResult();
    dims.rhsContracting = sides.rhsFree;
    size_t place =
        llvm::find(sides.lhsFree, sides.rows) - sides.lhsFree.begin();
    dims.rows = sides.getResultDim(place);
    dims.groups = sides.groups;
    llvm::append_range(order, sides.lhsFree);
    llvm::append_range(order, contracting);
    return arrange(multiply(g, op.getRhs(), dims), order, op.getLhs());
  }
  dims.lhsBatch = sides.rhsBatch;
  dims.rhsBatch = sides.getBatchOfResult();
  dims.lhsContracting = sides.rhsFree;
  dims.rhsContracting = sides.getRightOfResult();
  size_t place = llvm::find(sides.lhsContracting, sides.rows) -
                 sides.lhsContracting.begin();
  dims.rows = sides.rhsContracting[place];
  dims.groups = sides.lhsBatch.size();
  llvm::append_range(order, contracting);
  llvm::append_range(order, sides.lhsFree);
  return arrange(multiply(op.getRhs(), g, dims), order, op.getLhs());
}

/// The rows of each group of both; or, where the result has the matrices, each
/// row of the left side by that of the cotangent.
Value GroupedDerivative::buildRight() {
  GroupedDims dims;
  dims.lhsBatch = sides.lhsBatch;
  dims.rhsBatch = sides.getBatchOfResult();
  dims.lhsContracting = sides.lhsFree;
  dims.rhsContracting = sides.getLeftOfResult();
  dims.rows = sides.rows;
  SmallVector<int64_t> order(sides.rhsBatch);
  if (sides.groups)
    order.push_back(*sides.groups);
  else
    dims.groups = sides.lhsBatch.size();
  llvm::append_range(
      order, orderLikePartner(sides.rhsContracting, sides.lhsContracting));
  llvm::append_range(order, sides.rhsFree);
  return arrange(multiply(op.getLhs(), g, dims), order, op.getRhs());
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

namespace {
struct GroupedDotAnswers : AnswerDefaults<GroupedDotOp> {
  using Op = GroupedDotOp;

  static ShardingRule rule(Op op) {
    GroupRuleBuilder builder(op);
    builder.addBatch();
    builder.addFree();
    builder.addContracted();
    builder.addGroups();
    builder.rule.addLinear(builder.kind, {{0}, {1}});
    return std::move(builder.rule);
  }
  static LogicalResult localize(Op op, LocalForm &form) {
    return LocalGroups(form, op).build();
  }

  static LogicalResult derive(Op op, DerivativeCall &call) {
    GroupedDerivative derivative(op, call);
    if (call.needed[0])
      call.gradients[0] = derivative.buildLeft();
    if (call.needed[1])
      call.gradients[1] = derivative.buildRight();
    return success();
  }

  /// As if all rows were in groups.
  static OpCost cost(Op op) {
    OpCost cost = getTrafficCost(op);
    GroupedSides sides(op);
    cost.flops = 2 * op.getLhs().getType().getNumElements();
    for (int64_t dim : sides.rhsFree)
      cost.flops *= op.getRhs().getType().getDimSize(dim);
    cost.modelFlops = cost.flops;
    return cost;
  }

  static bool hasEqualSides(Op op) {
    return op.getLhs().getType().getElementType() ==
           op.getRhs().getType().getElementType();
  }
  /// Sums of nothing are zero.
  static bool isEmpty(Op op) {
    return llvm::any_of(op->getOperands().take_front(3),
                        [](Value value) {
                          return tensorTypeOf(value).getNumElements() == 0;
                        }) ||
           op.getType().getNumElements() == 0;
  }
  static KernelForm form(Op op) {
    return hasEqualSides(op) && !isEmpty(op) ? KernelForm::Library
                                             : KernelForm::Decompose;
  }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    if (isEmpty(op)) {
      results.push_back(hlo::constantSplat(b, op.getLoc(), op.getType(), 0));
      return success();
    }
    Type element = getWideType(op.getLhs().getType().getElementType(),
                               op.getRhs().getType().getElementType());
    auto clone = cast<GroupedDotOp>(b.clone(*op));
    b.setInsertionPoint(clone);
    for (OpOperand *side : {&clone.getLhsMutable(), &clone.getRhsMutable()})
      side->set(hlo::convertTo(b, op.getLoc(), side->get(), element));
    b.setInsertionPointAfter(clone);
    results.push_back(clone.getResult());
    return success();
  }
  static Operation *buildLibraryCall(Op op, OpBuilder &b) {
    return dist::ContractGroupsOp::create(
        b, op.getLoc(), op.getType(), op.getLhs(), op.getRhs(), op.getSizes(),
        op.getFirst(), Value(), op.getLhsBatchAttr(), op.getRhsBatchAttr(),
        op.getLhsContractingAttr(), op.getRhsContractingAttr(),
        op.getRowsAttr(), op.getGroupsAttr());
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    return evaluateGroupedDot(op, call);
  }
};

/// What varies from device to device becomes batch dims, which the sizes have
/// too.
struct GroupedDotBatching
    : BatchingOpInterface::ExternalModel<GroupedDotBatching, GroupedDotOp> {
  LogicalResult buildBatched(Operation *of, BatchForm &form) const {
    auto op = cast<GroupedDotOp>(of);
    DeviceAxes axes = form.getAxes();
    auto count = static_cast<int64_t>(axes.size());
    auto clone = cast<GroupedDotOp>(form.cloneAlong(axes));
    clone.setLhsBatch(withLeading(op.getLhsBatch(), count));
    clone.setRhsBatch(withLeading(op.getRhsBatch(), count));
    clone.setLhsContracting(behindLeading(op.getLhsContracting(), count));
    clone.setRhsContracting(behindLeading(op.getRhsContracting(), count));
    clone.setRows(op.getRows() + count);
    if (op.getGroups())
      clone.setGroups(*op.getGroups() + count);
    if (!op.getLhsBatch().empty() && !hasOwnSizes(op))
      giveSizes(clone, form.builder, count);
    return success();
  }
  /// The sizes of all batches of a device, for each of them.
  static void giveSizes(GroupedDotOp op, OpBuilder &b, int64_t count) {
    RankedTensorType sizes = tensorTypeOf(op.getSizes());
    SmallVector<int64_t> shape;
    for (int64_t dim : op.getLhsBatch())
      shape.push_back(op.getLhs().getType().getDimSize(dim));
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, count));
    dims.push_back(shape.size());
    shape.push_back(sizes.getShape().back());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    op.getSizesMutable().assign(hlo::broadcastInDim(
        b, op.getLoc(), op.getSizes(),
        RankedTensorType::get(shape, sizes.getElementType()), dims));
  }
};
} // namespace

void nn::registerGroupedDotModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    context->loadDialect<dist::DistDialect>();
    attachAnswers<GroupedDotOp, GroupedDotAnswers>(context);
    GroupedDotOp::attachInterface<GroupedDotBatching>(*context);
    GroupedDotOp::attachInterface<FactorModel<GroupedDotOp, 2, 0, true>>(
        *context);
  });
}
