//===- SoftmaxPatterns.cpp - Softmax and its relatives in a graph ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   log_softmax(x) = x - lse(x)          also of x - m for any m that repeats
//   lse(x) = log(sum(exp x))             or log(sum(exp(x - m))) + m, log |.|
//   pick   = gather of one class a row, or sum(one_hot * x)
//
// Test: test/Transforms/Training/raise-cross-entropy.mlir
//===----------------------------------------------------------------------===//

#include "SoftmaxPatterns.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::countsAlong;
using stablehlo::getShape;
using stablehlo::isSplatOf;
using stablehlo::matchReduction;
using stablehlo::RowReduction;
using stablehlo::RowView;

//===----------------------------------------------------------------------===//
// log-softmax, log-sum-exp
//===----------------------------------------------------------------------===//

Value training::removeShifts(Value value, int64_t dim) {
  while (auto shifted = value.getDefiningOp<stablehlo::SubtractOp>()) {
    if (!RowView::of(shifted.getRhs()).peel().isConstantAlong(dim))
      break;
    value = shifted.getLhs();
  }
  return value;
}

/// a of `log(sum(exp a))`.
static std::optional<Value> matchLogSum(RowView view, int64_t dim) {
  auto log = view.value.getDefiningOp<stablehlo::LogOp>();
  if (!log)
    return std::nullopt;
  view = view.through(log.getOperand()).peel();
  if (auto abs = view.value.getDefiningOp<stablehlo::AbsOp>())
    view = view.through(abs.getOperand()).peel();
  std::optional<RowReduction> sum = matchReduction(view, ReductionKind::sum);
  if (!sum || sum->dims != SmallVector<int64_t>{dim})
    return std::nullopt;
  auto exponential = sum->input.getDefiningOp<stablehlo::ExpOp>();
  if (!exponential)
    return std::nullopt;
  return exponential.getOperand();
}

/// a of which `view` shows exactly the log-sum-exp.
static std::optional<Value> matchExactLogSumExp(RowView view, int64_t dim) {
  view.peel();
  if (std::optional<Value> plain = matchLogSum(view, dim))
    return plain;
  auto add = view.value.getDefiningOp<stablehlo::AddOp>();
  if (!add)
    return std::nullopt;
  for (unsigned i : {0u, 1u}) {
    std::optional<Value> inner =
        matchLogSum(view.through(add->getOperand(i)).peel(), dim);
    if (!inner)
      continue;
    RowView added = view.through(add->getOperand(1 - i)).peel();
    auto shifted = inner->getDefiningOp<stablehlo::SubtractOp>();
    if (!shifted)
      continue;
    RowView shift = RowView::of(shifted.getRhs()).peel();
    bool isSame = shift.value == added.value;
    for (size_t d = 0; d < shift.dims.size(); ++d)
      isSame &= shift.shape[d] == 1 || shift.dims[d] == added.dims[d];
    if (isSame)
      return shifted.getLhs();
  }
  return std::nullopt;
}

std::optional<Value> training::matchLogSumExp(const RowView &view,
                                              int64_t dim) {
  return matchExactLogSumExp(view, dim);
}

std::optional<Value> training::matchLogSoftmax(Value value, int64_t dim) {
  auto subtract = value.getDefiningOp<stablehlo::SubtractOp>();
  if (!subtract)
    return std::nullopt;
  std::optional<Value> inner =
      matchExactLogSumExp(RowView::of(subtract.getRhs()), dim);
  if (!inner || *inner != subtract.getLhs())
    return std::nullopt;
  return removeShifts(*inner, dim);
}

//===----------------------------------------------------------------------===//
// Picks
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> dropDim(ArrayRef<int64_t> shape, int64_t dim) {
  SmallVector<int64_t> rows(shape.begin(), shape.end());
  rows.erase(rows.begin() + dim);
  return rows;
}

/// Drops the dimensions of size 1.
static SmallVector<int64_t> squeeze(ArrayRef<int64_t> shape) {
  return llvm::to_vector(
      llvm::make_filter_range(shape, [](int64_t s) { return s != 1; }));
}

/// Rows and classes are paired by batching dimensions of the gather; what is
/// neither is of size 1.
static bool matchBatchedGather(stablehlo::GatherOp gather, ClassPick &pick) {
  stablehlo::GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  ArrayRef<int64_t> shape = getShape(gather.getOperand());
  ArrayRef<int64_t> batching = numbers.getOperandBatchingDims();
  ArrayRef<int64_t> indexBatching = numbers.getStartIndicesBatchingDims();
  if (numbers.getStartIndexMap().size() != 1 || !llvm::is_sorted(batching) ||
      !llvm::is_sorted(indexBatching))
    return false;
  pick.dim = numbers.getStartIndexMap()[0];
  pick.labels = gather.getStartIndices();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool isClasses = static_cast<int64_t>(dim) == pick.dim;
    if (llvm::is_contained(batching, dim) ? isClasses : !isClasses && size != 1)
      return false;
  }
  return true;
}

/// Rows are numbered by iotas, concatenated with the classes.
static bool matchNumberedGather(stablehlo::GatherOp gather, ClassPick &pick) {
  stablehlo::GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
  ArrayRef<int64_t> shape = getShape(gather.getOperand());
  Value indices = gather.getStartIndices();
  auto pieces = indices.getDefiningOp<stablehlo::ConcatenateOp>();
  ArrayRef<int64_t> map = numbers.getStartIndexMap();
  int64_t vectorDim = numbers.getIndexVectorDim();
  if (!pieces || !numbers.getOperandBatchingDims().empty() ||
      map.size() != shape.size() || pieces.getInputs().size() != shape.size() ||
      static_cast<int64_t>(pieces.getDimension()) != vectorDim ||
      vectorDim != static_cast<int64_t>(shape.size()) - 1)
    return false;
  std::optional<int64_t> classes;
  for (auto [piece, dim] : llvm::zip_equal(pieces.getInputs(), map)) {
    // Rows stand in the order of the operand's dimensions, the classes last.
    bool isRow = false;
    if (dim < vectorDim)
      isRow = getShape(piece)[dim] == shape[dim] && countsAlong(piece, dim);
    if (isRow)
      continue;
    if (classes)
      return false;
    classes = dim;
    pick.labels = piece;
  }
  if (!classes || *classes != vectorDim)
    return false;
  pick.dim = *classes;
  return true;
}

std::optional<ClassPick> training::matchGatherPick(Operation *op) {
  auto gather = dyn_cast<stablehlo::GatherOp>(op);
  if (!gather ||
      !llvm::all_of(gather.getSliceSizes(), [](int64_t s) { return s == 1; }))
    return std::nullopt;
  ClassPick pick;
  pick.op = op;
  pick.operand = gather.getOperand();
  if (!matchBatchedGather(gather, pick) && !matchNumberedGather(gather, pick))
    return std::nullopt;
  // One label for each row, in the order of the rows.
  pick.rows = dropDim(getShape(pick.operand), pick.dim);
  if (squeeze(getShape(pick.labels)) != squeeze(pick.rows) ||
      squeeze(getShape(gather.getResult())) != squeeze(pick.rows))
    return std::nullopt;
  return pick;
}

/// Labels of the one-hot `labels == iota` along `dim`, as a view.
static std::optional<RowView> matchOneHot(Value value, int64_t dim) {
  if (auto convert = value.getDefiningOp<stablehlo::ConvertOp>())
    value = convert.getOperand();
  auto compare = value.getDefiningOp<stablehlo::CompareOp>();
  if (!compare ||
      compare.getComparisonDirection() != stablehlo::ComparisonDirection::EQ)
    return std::nullopt;
  for (unsigned i : {0u, 1u}) {
    RowView labels = RowView::of(compare->getOperand(i)).peel();
    if (!labels.isConstantAlong(dim) ||
        !countsAlong(compare->getOperand(1 - i), dim))
      continue;
    // The labels' dimensions are the rows', in order.
    SmallVector<int64_t> rows;
    for (auto [size, from] : llvm::zip_equal(labels.shape, labels.dims))
      if (size != 1 && from >= 0)
        rows.push_back(from);
    if (llvm::is_sorted(rows))
      return labels;
  }
  return std::nullopt;
}

std::optional<ClassPick> training::matchOneHotPick(Operation *op) {
  auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
  if (!reduce || reduce.getInputs().size() != 1 ||
      reduce.getDimensions().size() != 1 ||
      stablehlo::reduceKindOf(reduce.getBody()) != ReductionKind::sum ||
      !stablehlo::isNeutral(reduce.getInitValues()[0], ReductionKind::sum))
    return std::nullopt;
  ClassPick pick;
  pick.op = op;
  pick.dim = reduce.getDimensions()[0];
  pick.clamps = false;
  Operation *product = reduce.getInputs()[0].getDefiningOp();
  std::optional<RowView> labels;
  if (auto multiply = dyn_cast_or_null<stablehlo::MulOp>(product)) {
    for (unsigned i : {0u, 1u})
      if (!labels && (labels = matchOneHot(multiply->getOperand(i), pick.dim)))
        pick.operand = multiply->getOperand(1 - i);
  } else if (auto select = dyn_cast_or_null<stablehlo::SelectOp>(product)) {
    if (isSplatOf(select.getOnFalse(), 0))
      labels = matchOneHot(select.getPred(), pick.dim);
    pick.operand = select.getOnTrue();
  }
  if (!labels)
    return std::nullopt;
  pick.labels = labels->value;
  pick.rows = dropDim(getShape(pick.operand), pick.dim);
  if (squeeze(getShape(pick.labels)) != squeeze(pick.rows))
    return std::nullopt;
  return pick;
}
