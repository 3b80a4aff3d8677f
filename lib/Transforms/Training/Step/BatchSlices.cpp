//===- BatchSlices.cpp - A microbatch of a whole batch --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three walks: downwards what the batch is cut of, upwards which values that
// do not depend on it are needed as slices alone (a mask, random bits, the
// positions of samples), and downwards the ops' local forms.
//
// Test: test/Transforms/Training/split-step-microbatches.mlir
//===----------------------------------------------------------------------===//

#include "BatchSlices.h"
#include "../TrainingMarks.h"
#include "llmc/Analysis/Program/ElementPaths.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/LocalForm.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using graph::FactorKind;
using graph::ShardingRule;

namespace {
/// What a microbatch has of a value.
struct Share {
  enum class Kind { Whole, Slice, Term };
  Kind kind = Kind::Whole;
  /// The dimension of a slice.
  int64_t dim = -1;

  bool isSlice() const { return kind == Kind::Slice; }
  bool isTerm() const { return kind == Kind::Term; }
  bool isWhole() const { return kind == Kind::Whole; }
  bool operator==(const Share &other) const {
    return kind == other.kind && dim == other.dim;
  }
};

class BatchSlicer {
public:
  BatchSlicer(dist::TrainingOp recipe, func::FuncOp function)
      : recipe(recipe), function(function), number(recipe.getMicrobatches()),
        builder(recipe.getContext()) {}

  LogicalResult run();

  // What local forms ask.
  RankedTensorType getLocalType(Value global) const;
  Share getShare(Value value) const { return shares.lookup(value); }
  Value getLocal(Value global) const {
    return locals.lookup_or(global, global);
  }
  Value getOffset(int64_t size, Type element);
  Value getCounter();

private:
  LogicalResult cutInputs();
  LogicalResult share(Operation &op);
  LogicalResult share(const dist::LoopRun &run);
  LogicalResult shareCarried(Operation &op);
  void take(OpOperand &operand, Share share);
  LogicalResult shareSlices(Operation &op, ArrayRef<unsigned> slices);
  LogicalResult shareTerms(Operation &op, ArrayRef<unsigned> terms);
  void shareSources();
  LogicalResult checkResults();
  LogicalResult build();
  LogicalResult buildOp(Operation &op);
  void keep(OpOperand &operand);
  Value cutWhole(OpOperand &use);
  Value keepWhole(Value whole);
  void finish();
  LogicalResult refuse(Operation *op, StringRef reason);

  dist::TrainingOp recipe;
  func::FuncOp function;
  int64_t number;
  OpBuilder builder;
  llvm::DenseMap<Value, Share> shares;
  /// The dimension along which an operand is needed as a slice.
  llvm::DenseMap<OpOperand *, int64_t> needs;
  /// Operands that count in one microbatch alone.
  llvm::DenseSet<OpOperand *> kept;
  llvm::DenseMap<Value, Value> locals;
  /// The microbatch's number, where an op asks for its place; a carried state.
  Value counter;
};

/// An op of one microbatch.
class SliceForm : public graph::LocalForm {
public:
  SliceForm(BatchSlicer &slicer, OpBuilder &builder, Operation *op,
            llvm::DenseMap<Value, Value> operands,
            SmallVectorImpl<Value> &results)
      : LocalForm(builder, op, results), slicer(slicer),
        operands(std::move(operands)) {}

  Value getLocal(Value global) override {
    Value local = operands.lookup(global);
    return local ? local : slicer.getLocal(global);
  }
  RankedTensorType getLocalType(Value global) override {
    if (Value local = operands.lookup(global))
      return cast<RankedTensorType>(local.getType());
    return slicer.getLocalType(global);
  }
  graph::LocalDim getDim(Value global, int64_t dim) override {
    int64_t size = cast<RankedTensorType>(global.getType()).getDimSize(dim);
    return {size, size, getLocalType(global).getDimSize(dim), {{size, size}}};
  }
  Value buildOffset(Value global, int64_t dim, Type element) override {
    return slicer.getOffset(getLocalType(global).getDimSize(dim), element);
  }

private:
  BatchSlicer &slicer;
  llvm::DenseMap<Value, Value> operands;
};
} // namespace

LogicalResult BatchSlicer::refuse(Operation *op, StringRef reason) {
  return emitRefusal(op->getLoc())
         << "expected a step whose gradients are sums over the batch, since it "
            "has "
         << number << " microbatches, got '" << op->getName() << "' that "
         << reason << "; set training.microbatches = 1";
}

//===----------------------------------------------------------------------===//
// What the batch is cut of
//===----------------------------------------------------------------------===//

/// The major factor of a dimension, if it is cut in `number` parts; else -1.
static int findFactor(const ShardingRule &rule,
                      const graph::TensorFactors &tensor, int64_t dim,
                      int64_t number) {
  if (tensor[dim].empty())
    return -1;
  int factor = tensor[dim].front();
  return rule.factors[factor].size % number == 0 ? factor : -1;
}

/// The dimension of which `factor` is the major one; -1 where the tensor lacks
/// it, nothing where it stands elsewhere.
static std::optional<int64_t> findDim(const graph::TensorFactors &tensor,
                                      int factor) {
  int64_t found = -1;
  for (auto [dim, factors] : llvm::enumerate(tensor))
    if (llvm::is_contained(factors, factor)) {
      if (factors.front() != factor || found >= 0)
        return std::nullopt;
      found = static_cast<int64_t>(dim);
    }
  return found;
}

static bool isNeutralOfSum(Value value) {
  return stablehlo::isNeutral(value, ReductionKind::sum);
}

LogicalResult BatchSlicer::cutInputs() {
  for (BlockArgument argument : function.getArguments()) {
    if (!isInput(function, argument.getArgNumber()))
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    if (type.getRank() == 0 || type.getDimSize(0) % number != 0)
      return emitRefusal(argument.getLoc())
             << "expected the batch of input "
             << dist::getInput(
                    dist::getArgumentPort(function, argument.getArgNumber()))
             << " to be a multiple of the " << number << " microbatches, got "
             << type;
    shares[argument] = {Share::Kind::Slice, 0};
  }
  return success();
}

LogicalResult BatchSlicer::shareSlices(Operation &op,
                                       ArrayRef<unsigned> slices) {
  constexpr StringLiteral kMixes = "mixes the samples of the batch";
  auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!model)
    return graph::emitMissingAnswer(&op, graph::Answer::Rule);
  ShardingRule rule = model.getShardingRule();
  unsigned first = slices.front();
  int factor = findFactor(rule, rule.operands[first],
                          shares.lookup(op.getOperand(first)).dim, number);
  if (factor < 0)
    return refuse(&op, kMixes);
  const graph::Factor &cut = rule.factors[factor];
  bool isSum =
      cut.kind == FactorKind::Reduced && cut.reduction == ReductionKind::sum;
  for (OpOperand &operand : op.getOpOperands()) {
    auto place = static_cast<int>(operand.getOperandNumber());
    std::optional<int64_t> dim = findDim(rule.operands[place], factor);
    Share share = shares.lookup(operand.get());
    if (!dim || (share.isSlice() && share.dim != *dim))
      return refuse(&op, kMixes);
    // A value that stands twice has one form.
    for (OpOperand &other : op.getOpOperands())
      if (other.get() == operand.get() &&
          findDim(rule.operands[other.getOperandNumber()], factor) != dim)
        return refuse(&op, kMixes);
    bool isAddend = isSum && llvm::is_contained(rule.addends, place);
    if (share.isTerm() && !isAddend)
      return refuse(&op, "combines samples with a sum over the batch");
    if (*dim >= 0 && !share.isSlice())
      needs[&operand] = *dim;
    else if (isAddend && share.kind == Share::Kind::Whole)
      keep(operand);
  }
  if (!isSum && cut.kind != FactorKind::Pass)
    return refuse(&op, kMixes);
  for (OpResult result : op.getResults()) {
    std::optional<int64_t> dim =
        findDim(rule.results[result.getResultNumber()], factor);
    if (isSum)
      shares[result] = {Share::Kind::Term};
    else if (dim && *dim >= 0)
      shares[result] = {Share::Kind::Slice, *dim};
    else
      return refuse(&op, kMixes);
  }
  return success();
}

/// What is no term is added once: by the first microbatch.
void BatchSlicer::keep(OpOperand &operand) {
  if (!isNeutralOfSum(operand.get()))
    kept.insert(&operand);
}

/// An op on terms must be linear in all of them together.
LogicalResult BatchSlicer::shareTerms(Operation &op, ArrayRef<unsigned> terms) {
  auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!model)
    return graph::emitMissingAnswer(&op, graph::Answer::Rule);
  bool isLinear = isa<stablehlo::ConvertOp>(op) &&
                  isa<FloatType>(getElementTypeOrSelf(op.getResult(0))) &&
                  isa<FloatType>(getElementTypeOrSelf(op.getOperand(0)));
  ShardingRule rule = model.getShardingRule();
  for (const graph::Linearity &linear : rule.carries)
    for (ArrayRef<int> group : linear.groups) {
      auto isOf = [&](unsigned i) {
        return llvm::is_contained(group, static_cast<int>(i));
      };
      if (isLinear || linear.kind != ReductionKind::sum ||
          !llvm::all_of(terms, isOf))
        continue;
      isLinear = true;
      for (int i : group)
        if (!shares.lookup(op.getOperand(i)).isTerm())
          keep(op.getOpOperand(i));
    }
  if (!isLinear)
    return refuse(&op, "is not linear in sums over the batch");
  for (Value result : op.getResults())
    shares[result] = {Share::Kind::Term};
  return success();
}

/// Each result is an operand as it is.
static bool isForwarding(Operation &op) {
  return llvm::all_of(op.getResults(), getForwarded);
}

LogicalResult BatchSlicer::share(Operation &op) {
  for (OpOperand &operand : op.getOpOperands()) {
    needs.erase(&operand);
    kept.erase(&operand);
  }
  if (dist::isOfCarried(&op))
    return shareCarried(op);
  SmallVector<unsigned> slices, terms;
  for (OpOperand &operand : op.getOpOperands()) {
    Share share = shares.lookup(operand.get());
    if (share.isSlice())
      slices.push_back(operand.getOperandNumber());
    if (share.isTerm())
      terms.push_back(operand.getOperandNumber());
  }
  // Several results that are one operand each have what their operands have.
  if (op.getNumResults() > 1 && isForwarding(op)) {
    for (OpResult result : op.getResults())
      shares[result] = shares.lookup(getForwarded(result)->get());
    return success();
  }
  if (!slices.empty())
    return shareSlices(op, slices);
  return terms.empty() ? success() : shareTerms(op, terms);
}

/// An operand becomes what the op has of it.
void BatchSlicer::take(OpOperand &operand, Share share) {
  if (!shares.lookup(operand.get()).isWhole())
    return;
  if (share.isSlice())
    needs[&operand] = share.dim;
  else if (share.isTerm())
    keep(operand);
}

/// What is carried starts and goes on as one slice, or as one term.
LogicalResult BatchSlicer::shareCarried(Operation &op) {
  Share share = shares.lookup(op.getResult(0));
  auto enter = dyn_cast<dist::EnterOp>(op);
  SmallVector<OpOperand *> sources(
      llvm::make_pointer_range(op.getOpOperands()));
  if (enter)
    sources.push_back(&enter.getNext().getValueMutable());
  for (OpOperand *source : sources) {
    Share other = shares.lookup(source->get());
    if (!share.isWhole() && !other.isWhole() && !(share == other))
      return refuse(&op, "changes from trip to trip how it depends on the "
                         "batch");
    if (share.isWhole())
      share = other;
  }
  for (OpOperand &operand : op.getOpOperands())
    take(operand, share);
  if (!share.isWhole())
    shares[op.getResult(0)] = share;
  return success();
}

/// Until each trip finds what the one before it leaves: a whole value becomes a
/// slice or a term, and nothing else changes.
LogicalResult BatchSlicer::share(const dist::LoopRun &run) {
  auto countWhole = [&] {
    return llvm::count_if(run.ops, [&](Operation *op) {
      return dist::isOfCarried(op) && shares.lookup(op->getResult(0)).isWhole();
    });
  };
  int64_t before;
  do {
    before = countWhole();
    for (Operation *op : run.ops)
      if (failed(share(*op)))
        return failure();
  } while (countWhole() < before);
  return success();
}

/// What all its users need as one slice is computed as one, if its op lets the
/// cut pass.
void BatchSlicer::shareSources() {
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
    if (!model || op.getNumResults() != 1 || shares.contains(op.getResult(0)) ||
        op.use_empty() || dist::isOfCarried(&op))
      continue;
    OpResult result = op.getResult(0);
    auto need = needs.find(&*result.use_begin());
    if (need == needs.end())
      continue;
    int64_t dim = need->second;
    bool isNeeded = llvm::all_of(result.getUses(), [&](OpOperand &use) {
      auto other = needs.find(&use);
      return other != needs.end() && other->second == dim;
    });
    ShardingRule rule = model.getShardingRule();
    int factor = findFactor(rule, rule.results[0], dim, number);
    if (!isNeeded || factor < 0 ||
        rule.factors[factor].kind != FactorKind::Pass)
      continue;
    SmallVector<std::pair<OpOperand *, int64_t>> cuts;
    bool isCut = true;
    for (OpOperand &operand : op.getOpOperands()) {
      std::optional<int64_t> at =
          findDim(rule.operands[operand.getOperandNumber()], factor);
      isCut &= at.has_value();
      for (auto [other, where] : cuts)
        isCut &= other->get() != operand.get() || where == at;
      if (at)
        cuts.push_back({&operand, *at});
    }
    if (!isCut)
      continue;
    shares[result] = {Share::Kind::Slice, dim};
    for (auto [operand, at] : cuts)
      if (at >= 0)
        needs[operand] = at;
  }
}

LogicalResult BatchSlicer::checkResults() {
  Operation *terminator = function.front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    dist::PortAttr port = dist::getResultPort(function, i);
    Value value = terminator->getOperand(i);
    if (dist::isPort(port, dist::PortKind::Count) ||
        shares.lookup(value).isTerm())
      continue;
    InFlightDiagnostic diag =
        emitRefusal(value.getLoc())
        << "expected sums over the batch from a step, since it has " << number
        << " microbatches, got ";
    return diag << port << " that is none";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops of one microbatch
//===----------------------------------------------------------------------===//

RankedTensorType BatchSlicer::getLocalType(Value global) const {
  auto type = cast<RankedTensorType>(global.getType());
  Share share = shares.lookup(global);
  if (!share.isSlice())
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[share.dim] /= number;
  return type.clone(shape);
}

Value BatchSlicer::getCounter() {
  if (counter)
    return counter;
  auto type = RankedTensorType::get({}, builder.getI32Type());
  (void)function.insertArgument(function.getNumArguments(), type,
                                DictionaryAttr(), recipe.getLoc());
  return counter = function.getArguments().back();
}

/// size * number of the microbatch.
Value BatchSlicer::getOffset(int64_t size, Type element) {
  Location loc = recipe.getLoc();
  Value place = stablehlo::convertTo(builder, loc, getCounter(), element);
  return stablehlo::mul(
      builder, loc, place,
      stablehlo::constantLike(builder, loc, place, static_cast<double>(size)));
}

/// The slice of a value that is computed whole.
Value BatchSlicer::cutWhole(OpOperand &use) {
  Value whole = use.get();
  int64_t dim = needs.lookup(&use);
  auto type = cast<RankedTensorType>(whole.getType());
  SmallVector<int64_t> sizes(type.getShape());
  sizes[dim] /= number;
  Location loc = use.getOwner()->getLoc();
  Value offset = getOffset(sizes[dim], builder.getI32Type());
  Value zero = stablehlo::constantLike(builder, loc, offset, 0);
  SmallVector<Value> starts(sizes.size(), zero);
  starts[dim] = offset;
  return stablehlo::DynamicSliceOp::create(builder, loc, type.clone(sizes),
                                           whole, starts, sizes);
}

/// The value in the first microbatch, and zeros in all others.
Value BatchSlicer::keepWhole(Value whole) {
  Location loc = whole.getLoc();
  Value place = getCounter();
  Value isFirst = stablehlo::compare(
      builder, loc, stablehlo::ComparisonDirection::EQ, place,
      stablehlo::constantLike(builder, loc, place, 0));
  return stablehlo::select(builder, loc, isFirst, whole,
                           stablehlo::constantLike(builder, loc, whole, 0));
}

LogicalResult BatchSlicer::buildOp(Operation &op) {
  auto isChanged = [&](Value value) {
    return shares.lookup(value).kind != Share::Kind::Whole;
  };
  if (!llvm::any_of(op.getOperands(), isChanged) &&
      !llvm::any_of(op.getResults(), isChanged))
    return success();
  builder.setInsertionPoint(&op);
  llvm::DenseMap<Value, Value> operands;
  for (OpOperand &operand : op.getOpOperands())
    if (kept.contains(&operand))
      operands[operand.get()] = keepWhole(operand.get());
    else if (needs.contains(&operand) && !getShare(operand.get()).isSlice())
      operands[operand.get()] = cutWhole(operand);
  SmallVector<Value> results;
  SliceForm form(*this, builder, &op, std::move(operands), results);
  if (failed(cast<graph::ShardingRuleOpInterface>(op).buildLocalForm(form)))
    return failure();
  for (auto [global, local] : llvm::zip_equal(op.getResults(), results)) {
    if (local.getType() != getLocalType(global) ||
        (local.getDefiningOp() && !dist::isOfCarried(&op) &&
         failed(verify(local.getDefiningOp()))))
      return refuse(&op, "has no form for a part of the batch");
    locals[global] = local;
    // What is whole may be read by ops that stay.
    if (getShare(global).isWhole())
      global.replaceAllUsesWith(local);
  }
  return success();
}

LogicalResult BatchSlicer::build() {
  for (BlockArgument argument : llvm::to_vector(function.getArguments())) {
    if (!shares.contains(argument))
      continue;
    (void)function.insertArgument(
        function.getNumArguments(), getLocalType(argument),
        function.getArgAttrDict(argument.getArgNumber()), argument.getLoc());
    locals[argument] = function.getArguments().back();
  }
  for (Operation &op :
       llvm::make_early_inc_range(function.front().without_terminator()))
    if (failed(buildOp(op)))
      return failure();
  return success();
}

/// Old ops go; a counter gets its state.
void BatchSlicer::finish() {
  Operation *terminator = function.front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(getLocal(operand.get()));
  eraseDeadOps(function.front());
  if (!counter) {
    eraseUnusedArguments(function);
    return;
  }
  Location loc = recipe.getLoc();
  builder.setInsertionPoint(terminator);
  Value next = stablehlo::add(
      builder, loc, counter, stablehlo::constantLike(builder, loc, counter, 1));
  Value last = stablehlo::constantLike(builder, loc, counter,
                                       static_cast<double>(number));
  Value isLast = stablehlo::compare(
      builder, loc, stablehlo::ComparisonDirection::EQ, next, last);
  next = stablehlo::select(builder, loc, isLast,
                           stablehlo::constantLike(builder, loc, counter, 0),
                           next);
  std::string name = (recipe.getSymName() + ".number").str();
  auto zeros = dist::DrawAttr::get(builder.getContext(), dist::DrawKind::Zeros,
                                   ArrayRef<double>());
  builder.setInsertionPoint(function);
  dist::StateOp::create(builder, loc, name,
                        cast<RankedTensorType>(counter.getType()),
                        dist::Role::Carried, zeros);
  auto port =
      dist::PortAttr::get(builder.getContext(), dist::PortKind::Carried,
                          FlatSymbolRefAttr::get(builder.getContext(), name));
  dist::Signature signature(function);
  signature.arguments[cast<BlockArgument>(counter).getArgNumber()] = port;
  SmallVector<Value> values(terminator->getOperands());
  values.push_back(next);
  signature.results.push_back(port);
  setResults(function, values);
  signature.write(function);
  eraseUnusedArguments(function);
}

LogicalResult BatchSlicer::run() {
  if (failed(cutInputs()))
    return failure();
  dist::LoopRuns loops(function.front());
  for (const dist::LoopStep &step : loops.getSteps())
    if (failed(step.op ? share(*step.op) : share(loops.getRuns()[step.run])))
      return failure();
  shareSources();
  if (failed(checkResults()) || failed(build()))
    return failure();
  finish();
  return success();
}

LogicalResult training::sliceBatch(dist::TrainingOp recipe,
                                   func::FuncOp function) {
  return BatchSlicer(recipe, function).run();
}
