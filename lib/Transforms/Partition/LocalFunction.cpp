//===- LocalFunction.cpp - One function on local values -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new block is built beside the old one, so that an op can be asked about
// its global form (rule, layouts) while its local form is built. In front of an
// op, operands are masked where the op reduces over padding; in front of the
// return, what is stored beyond the function gets zeros in its padding.
//
//   reduce add over rows {"data"}:9 of 8    select(row < 8, x, 0), reduce
//
// Tests: test/Transforms/Partition/localize*.mlir
//===----------------------------------------------------------------------===//

#include "LocalFunction.h"
#include "LocalBuilder.h"
#include "Padding.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using graph::FactorKind;
using graph::ShardingRule;

namespace {
class FunctionLocalizer {
public:
  FunctionLocalizer(const ProgramFunction &program, dist::MeshOp mesh)
      : function(program.function), kind(program.kind), mesh(mesh),
        old(&function.getBody().front()), fresh(new Block()),
        local(mesh, fresh) {
    function.getBody().push_back(fresh);
    if (std::optional<StringRef> axis = mesh.getPipeline())
      pipeline = *axis;
  }

  LogicalResult run();

  Value getLocal(Value global) const { return values.lookup(global); }
  LocalBuilder &getBuilder() { return local; }

private:
  void addArguments();
  Attribute getStages(Type type);
  void setMarks(Operation *op, Type type);
  LogicalResult localizeOp(Operation *op);
  LogicalResult localizeGraphOp(Operation *op, SmallVectorImpl<Value> &results);
  LogicalResult localizeMove(Operation *op, SmallVectorImpl<Value> &results);
  void clonePlain(Operation *op, SmallVectorImpl<Value> &results);
  void followCollective(Operation *op);
  void maskOperands(Operation *op, const ShardingRule &rule,
                    llvm::DenseMap<Value, Value> &masked);
  Value forEachTerm(Value global, Value result,
                    llvm::function_ref<Value(Value term, Value value)> build);
  Type typeAt(Value term, Type like);
  Value buildMove(Operation *op, Value term, Value value);
  Value maskStored(Value global);
  void finish();
  void addLayouts();

  func::FuncOp function;
  FunctionKind kind;
  dist::MeshOp mesh;
  StringRef pipeline;
  Block *old, *fresh;
  LocalBuilder local;
  PaddingAnalysis padding;
  llvm::DenseMap<Value, Value> values;
  /// Of a value that lives at several stages of a microbatch by joins: a value
  /// of each stage, of which it is made, and what that has become.
  using Terms = SmallVector<std::pair<Value, Value>>;
  llvm::DenseMap<Value, Terms> terms;
};

/// The op's view of itself.
class OpForm : public graph::LocalForm {
public:
  OpForm(FunctionLocalizer &parent, Operation *op,
         const llvm::DenseMap<Value, Value> &masked,
         SmallVectorImpl<Value> &results)
      : LocalForm(parent.getBuilder().builder, op, results), parent(parent),
        masked(masked) {}

  Value getLocal(Value global) override {
    auto found = masked.find(global);
    return found == masked.end() ? parent.getLocal(global) : found->second;
  }
  RankedTensorType getLocalType(Value global) override {
    return parent.getBuilder().getLocalType(global.getType());
  }
  graph::LocalDim getDim(Value global, int64_t dim) override {
    return parent.getBuilder().getDim(global.getType(), dim);
  }
  Value buildOffset(Value global, int64_t dim, Type element) override {
    return parent.getBuilder().buildOffset(global.getType(), dim, element);
  }

private:
  FunctionLocalizer &parent;
  const llvm::DenseMap<Value, Value> &masked;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// States and sums have zeros in their padding, inputs anything.
void FunctionLocalizer::addArguments() {
  for (BlockArgument argument : old->getArguments()) {
    values[argument] = fresh->addArgument(
        local.getLocalType(argument.getType()), argument.getLoc());
    dist::PortAttr port =
        dist::getArgumentPort(function, argument.getArgNumber());
    if (dist::getStateOrGradientOf(port) ||
        isSeeded(Fault::inputPaddingCountsAsZero))
      padding.setZero(argument);
  }
}

/// The stages at which a value of `type` lives, as a mark; null for all.
Attribute FunctionLocalizer::getStages(Type type) {
  dist::LayoutAttr layout = type ? dist::getLayout(type) : dist::LayoutAttr();
  ArrayRef<int64_t> pin =
      layout ? layout.getPin(pipeline) : ArrayRef<int64_t>();
  return pin.empty() ? Attribute()
                     : DenseI64ArrayAttr::get(mesh.getContext(), pin);
}

/// Marks of `op`, and in an update the stages at which a value of `type` lives.
void FunctionLocalizer::setMarks(Operation *op, Type type) {
  Attribute at = kind == FunctionKind::Update ? getStages(type) : Attribute();
  local.setMarks(op->getLoc(), op->getAttr(DistDialect::kBlock),
                 op->getAttr(DistDialect::kPhase), at);
}

/// The op with local types, for what has no other form.
void FunctionLocalizer::clonePlain(Operation *op,
                                   SmallVectorImpl<Value> &results) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getLocal(operand));
  Operation *clone = local.builder.clone(*op, mapping);
  for (Value result : clone->getResults())
    result.setType(local.getLocalType(result.getType()));
  llvm::append_range(results, clone->getResults());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Padding of factors that the op reduces gets the neutral element.
void FunctionLocalizer::maskOperands(Operation *op, const ShardingRule &rule,
                                     llvm::DenseMap<Value, Value> &masked) {
  auto answers = cast<graph::ShardingRuleOpInterface>(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    SmallVector<int64_t> dims;
    std::optional<ReductionKind> reduction;
    for (int64_t d : PaddingAnalysis::getPaddedDims(operand.getType()))
      for (int f : rule.operands[i][d])
        if (rule.factors[f].kind == FactorKind::Reduced) {
          dims.push_back(d);
          reduction = rule.factors[f].reduction;
          break;
        }
    if (!reduction || !answers.needsNeutralPadding(i) ||
        isSeeded(Fault::reducedOperandIsNotMasked))
      continue;
    Type element = cast<RankedTensorType>(operand.getType()).getElementType();
    if (*reduction == ReductionKind::max &&
        isSeeded(Fault::maxIsPaddedWithZero))
      reduction = ReductionKind::sum;
    TypedAttr neutral = stablehlo::getNeutralElement(*reduction, element);
    Value &value = masked.try_emplace(operand, getLocal(operand)).first->second;
    value =
        local.buildMasked(value, operand.getType(),
                          padding.getUnmasked(operand, dims, neutral), neutral);
  }
}

LogicalResult
FunctionLocalizer::localizeGraphOp(Operation *op,
                                   SmallVectorImpl<Value> &results) {
  auto answers = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!answers)
    return graph::emitMissingAnswer(op, graph::Answer::Rule);
  ShardingRule rule = answers.getShardingRule();
  llvm::DenseMap<Value, Value> masked;
  maskOperands(op, rule, masked);
  OpForm form(*this, op, masked, results);
  if (failed(answers.buildLocalForm(form)))
    return failure();
  padding.visit(op, rule);
  return success();
}

/// Data that moves, a transfer's too, keeps what padding holds; sums keep
/// zeros.
void FunctionLocalizer::followCollective(Operation *op) {
  auto collective = dyn_cast<dist::CollectiveInterface>(op);
  std::optional<ReductionKind> kind;
  if (collective)
    kind = collective.getReductionKind();
  bool keeps = !kind || isIdempotent(*kind);
  for (auto [from, to] : llvm::zip(op->getOperands(), op->getResults()))
    keeps ? padding.pass(from, to) : padding.passZeros(from, to);
}

/// What is done to a value that several stages hold is done at each of them, in
/// front of the join: ops of a microbatch run at one stage. `result` is the
/// value of the old program that is made.
Value FunctionLocalizer::forEachTerm(
    Value global, Value result,
    llvm::function_ref<Value(Value term, Value value)> build) {
  auto found = terms.find(global);
  if (found == terms.end())
    return build(global, getLocal(global));
  Terms made = found->second;
  SmallVector<Value> inputs;
  for (auto &[term, value] : made) {
    if (Operation *maker = term.getDefiningOp())
      setMarks(maker, term.getType());
    value = build(term, value);
    if (!value)
      return {};
    inputs.push_back(value);
  }
  if (result)
    terms[result] = made;
  Operation *maker = global.getDefiningOp();
  setMarks(maker, global.getType());
  auto join = dist::JoinOp::create(local.builder, maker->getLoc(),
                                   inputs.front().getType(), inputs, pipeline);
  if (Attribute at = getStages((result ? result : global).getType()))
    join->setAttr(DistDialect::kAt, at);
  return join;
}

/// The type of a term of a value of type `like`: at the term's own stages.
Type FunctionLocalizer::typeAt(Value term, Type like) {
  auto axis = dist::AxisAttr::get(mesh.getContext(), pipeline);
  dist::LayoutAttr layout = dist::getLayout(like).withoutPartialOver({axis});
  return dist::withLayout(
      cast<RankedTensorType>(like),
      layout.withPins(dist::getLayout(term.getType()).getAt()));
}

/// A reshard, keep or collective of its operand, or of a term of it.
Value FunctionLocalizer::buildMove(Operation *op, Value term, Value value) {
  if (isa<dist::CollectiveInterface>(op)) {
    IRMapping mapping;
    mapping.map(op->getOperand(0), value);
    Operation *clone = local.builder.clone(*op, mapping);
    StringRef names[] = {DistDialect::kBlock, DistDialect::kPhase};
    for (StringRef name : names)
      if (Operation *maker = term.getDefiningOp();
          maker && maker->hasAttr(name) && term != op->getOperand(0))
        clone->setAttr(name, maker->getAttr(name));
    clone->getResult(0).setType(local.getLocalType(op->getResult(0).getType()));
    return clone->getResult(0);
  }
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (term != op->getOperand(0)) {
    from = typeAt(term, from);
    to = typeAt(term, to);
  }
  if (auto keep = dyn_cast<dist::KeepOp>(op))
    return local.buildKeep(keep, from, value);
  return local.buildLocalMove(op, from, to, value, pipeline);
}

LogicalResult FunctionLocalizer::localizeMove(Operation *op,
                                              SmallVectorImpl<Value> &results) {
  // What crosses the stages needs them together, after the join.
  auto collective = dyn_cast<dist::CollectiveInterface>(op);
  bool isCollective = collective && op->getNumOperands() == 1 &&
                      llvm::none_of(collective.getAxes(), [&](Attribute axis) {
                        return cast<StringAttr>(axis).getValue() == pipeline;
                      });
  if (isCollective || isa<dist::ReshardOp, dist::KeepOp>(op)) {
    Value moved = forEachTerm(
        op->getOperand(0), op->getResult(0),
        [&](Value term, Value value) { return buildMove(op, term, value); });
    if (!moved)
      return failure();
    results.push_back(moved);
    if (isCollective)
      followCollective(op);
    else if (isa<dist::ReshardOp>(op))
      padding.pass(op->getOperand(0), op->getResult(0));
    else if (dist::getLayout(op->getResult(0).getType())
                 .getPartialKind(cast<dist::KeepOp>(op).getAxis()) ==
             ReductionKind::sum)
      padding.passZeros(op->getOperand(0), op->getResult(0));
    return success();
  }
  clonePlain(op, results);
  auto join = dyn_cast<dist::JoinOp>(op);
  if (!join) {
    followCollective(op);
    return success();
  }
  padding.passZeros(join.getInputs().front(), join.getResult());
  for (Value input : join.getInputs().drop_front())
    padding.meet(input, join.getResult());
  if (kind == FunctionKind::Update)
    return success();
  Terms all;
  for (Value input : join.getInputs())
    if (auto known = terms.find(input); known != terms.end())
      llvm::append_range(all, known->second);
    else
      all.push_back({input, getLocal(input)});
  terms[join.getResult()] = all;
  return success();
}

LogicalResult FunctionLocalizer::localizeOp(Operation *op) {
  setMarks(op, op->getNumResults() ? op->getResult(0).getType() : Type());
  SmallVector<Value> results;
  bool isMove = isa<dist::CollectiveInterface, dist::ReshardOp, dist::KeepOp,
                    dist::JoinOp, dist::TransferOp>(op);
  if (failed(isMove ? localizeMove(op, results) : localizeGraphOp(op, results)))
    return failure();
  for (auto [global, value] : llvm::zip_equal(op->getResults(), results)) {
    values[global] = value;
    Operation *made = value.getDefiningOp();
    if (auto name = op->getAttr(DistDialect::kName); name && made)
      made->setAttr(DistDialect::kName, name);
    if (made)
      made->removeAttr(DistDialect::kLayouts);
    // Where no operand lives a join is zero.
    if (Attribute at = getStages(global.getType());
        at && isa_and_present<dist::JoinOp>(made))
      made->setAttr(DistDialect::kAt, at);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// The value with zeros in its padding.
Value FunctionLocalizer::maskStored(Value global) {
  SmallVector<int64_t> padded =
      PaddingAnalysis::getPaddedDims(global.getType());
  if (padded.empty() || isSeeded(Fault::statePaddingIsNotCleared))
    return getLocal(global);
  Type element = cast<RankedTensorType>(global.getType()).getElementType();
  TypedAttr zero = stablehlo::getNeutralElement(ReductionKind::sum, element);
  SmallVector<int64_t> dims = padding.getUnmasked(global, padded, zero);
  if (dims.empty())
    return getLocal(global);
  Operation *made = global.getDefiningOp();
  setMarks(made ? made : old->getTerminator(), global.getType());
  return forEachTerm(global, Value(), [&](Value, Value value) {
    return local.buildMasked(value, global.getType(), dims, zero);
  });
}

/// The return: padding of states and sums is zero.
void FunctionLocalizer::finish() {
  Operation *terminator = old->getTerminator();
  SmallVector<Value> results;
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    bool isStored = static_cast<bool>(
        dist::getStateOrGradientOf(dist::getResultPort(function, i)));
    results.push_back(isStored ? maskStored(value) : getLocal(value));
  }
  local.setMarks(terminator->getLoc(), {}, {}, {});
  IRMapping mapping;
  mapping.map(terminator->getOperands(), results);
  local.builder.clone(*terminator, mapping)->setOperands(results);
  // Joins that others have replaced.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*fresh)))
    if (isa<dist::JoinOp>(op) && op.use_empty())
      op.erase();
}

/// The port in the layout that the value of `type` had, with the sizes of what
/// that pads.
static dist::PortAttr placePort(dist::PortAttr port, Type type) {
  dist::LayoutAttr layout = dist::getLayout(type);
  if (!layout)
    return port;
  port = port.withLayout(layout);
  bool isPadded = llvm::any_of(
      layout.getDims(), [](dist::DimAttr dim) { return dim.isPadded(); });
  if (!isPadded)
    return port;
  return port.withShape(DenseI64ArrayAttr::get(
      type.getContext(), cast<RankedTensorType>(type).getShape()));
}

/// Where inputs and what is handed out live is read by the runtime's boxes.
void FunctionLocalizer::addLayouts() {
  if (mesh.getAxes().getNumDevices() == 1)
    return;
  dist::Signature signature(function);
  for (auto [argument, port] :
       llvm::zip_equal(old->getArguments(), signature.arguments))
    if (dist::isSum(port) || dist::getInput(port))
      port = placePort(port, argument.getType());
  for (auto [type, port] :
       llvm::zip_equal(function.getResultTypes(), signature.results))
    if (port && (dist::getMetric(port) || kind == FunctionKind::Entry))
      port = placePort(port, type);
  signature.write(function);
}

LogicalResult FunctionLocalizer::run() {
  addArguments();
  for (Operation &op : old->without_terminator())
    if (failed(localizeOp(&op)))
      return failure();
  finish();
  addLayouts();
  old->dropAllReferences();
  old->erase();
  function.setType(
      FunctionType::get(function.getContext(), fresh->getArgumentTypes(),
                        fresh->getTerminator()->getOperandTypes()));
  return success();
}

LogicalResult llmc::localizeFunction(const ProgramFunction &program,
                                     dist::MeshOp mesh) {
  return FunctionLocalizer(program, mesh).run();
}
