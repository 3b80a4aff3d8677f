//===- Materialize.cpp - Layouts become encodings of types ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an op wants of its operands and what it makes follows from the decided
// layouts and its rule (Analysis/Layouts/OpLayouts.h). Types are written from
// that, never inferred; where a value is not what a use wants, it is resharded
// once for all uses that want the same:
//
//   %x0 = gather(%E, %tok)           made partial over "tensor"
//   %a  = dot %x0, %W                wants it full
//   becomes
//   %x0p = gather(%E, %tok) : tensor<8x4xf32, #partial>
//   %x0  = dist.reshard %x0p : tensor<8x4xf32, #partial> -> tensor<8x4xf32,
//   #full>
//
// A value without operands is computed again in the wanted layout instead, and
// so is what an op makes of one operand that is there as it must be, or element
// by element of operands that are smaller than the value (Remaking.h): of a
// weight that is gathered, the transpose is not gathered as well. What is
// rounded where it is read is rounded before it is moved (NarrowFirst.h), and
// terms of gradients as their rows say (SentGradients.h).
//
// Tests: test/Transforms/Sharding/materialize.mlir, materialize-remade.mlir
//===----------------------------------------------------------------------===//

#include "LayoutSteps.h"
#include "LoopReshards.h"
#include "NarrowFirst.h"
#include "SentGradients.h"
#include "llmc/Analysis/Layouts/OpLayouts.h"
#include "llmc/Analysis/Layouts/Remaking.h"
#include "llmc/Analysis/Layouts/StateUse.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <unordered_set>

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

namespace llmc {
#define GEN_PASS_DEF_MATERIALIZEPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct MaterializePass : llmc::impl::MaterializePassBase<MaterializePass> {
  void runOnOperation() override;
};

class FunctionMaterializer {
public:
  FunctionMaterializer(dist::MeshOp mesh, const ProgramFunction &program,
                       LayoutReshards &reshards, StepBuilder &steps)
      : mesh(mesh.getAxes()), function(program.function), kind(program.kind),
        reshards(reshards), steps(steps), marks(mesh, program),
        symbols(SymbolTable::getNearestSymbolTable(program.function)),
        remaking(reshards, describe()) {}

  LogicalResult run();

private:
  LogicalResult readArguments();
  bool staysAsItIs(Value value) const;
  LogicalResult readOp(Operation *op);
  void shareMoves(ArrayRef<Operation *> ops);
  LogicalResult rewriteOp(Operation *op);
  LogicalResult rewriteReturn(Operation *op);
  void writeResultTypes(Operation *op, ArrayRef<LayoutAttr> layouts);
  FailureOr<Value> getAs(Value value, LayoutAttr want, Operation *user);
  void hasten(Value copy, Operation *user);
  Remaking::Program describe();
  FailureOr<Value> cloneAs(Operation *source, LayoutAttr want, Operation *user);
  FailureOr<Value> reshard(Value value, LayoutAttr want, Operation *user);
  FailureOr<Value> cutFrom(Value value, LayoutAttr source, LayoutAttr want,
                           Operation *user);
  FailureOr<Value> reshardOrLift(Value value, LayoutAttr want, Operation *user);
  Operation *chooseMarks(Value value, LayoutAttr want, Operation *user);
  LayoutAttr findLarger(Value value, LayoutAttr want);

  dist::MeshAxesAttr mesh;
  func::FuncOp function;
  FunctionKind kind;
  LayoutReshards &reshards;
  StepBuilder &steps;
  SegmentMarks marks;
  SymbolTable symbols;
  /// Before anything is written: what propagation and placement decided.
  llvm::DenseMap<Value, LayoutAttr> decided;
  llvm::DenseMap<Operation *, const OpLayouts *> layouts;
  std::unordered_set<OpLayouts, OpLayoutsHash> distinct;
  /// What ops want of each value.
  llvm::DenseMap<Value, llvm::SmallSetVector<Attribute, 2>> wanted;
  /// The operands of ops, as decided, unless one is erased.
  llvm::DenseMap<Operation *, SmallVector<Value>> sources;
  /// Ops that were computed again in another layout.
  llvm::DenseSet<Operation *> cloned;
  /// By value, wanted layout and (of arguments) the chunk that reads it.
  llvm::DenseMap<std::tuple<Value, Attribute, int64_t>, Value> copies;
  Remaking remaking;
};
} // namespace

static Type encode(Type type, Attribute layout) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dist::withLayout(tensor, cast<LayoutAttr>(layout)) : type;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

LogicalResult FunctionMaterializer::readArguments() {
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    LayoutAttr layout = dist::getLayout(dist::getArgumentPort(function, i));
    if (!isa<RankedTensorType>(argument.getType()))
      continue;
    if (!layout)
      return function.emitOpError()
             << "expected a layout of argument " << i << ", got none";
    decided[argument] =
        getUseLayout(symbols, {function, kind, nullptr}, i, layout, mesh);
    argument.setType(encode(argument.getType(), layout));
  }
  return success();
}

/// Joins are replaced.
bool FunctionMaterializer::staysAsItIs(Value value) const {
  const OpLayouts *runs = layouts.lookup(value.getDefiningOp());
  return !(runs && runs->joined);
}

LogicalResult FunctionMaterializer::readOp(Operation *op) {
  auto list = op->getAttrOfType<ArrayAttr>(DistDialect::kLayouts);
  // One for each result, as the dialect has checked.
  if (!list)
    return op->emitOpError() << "expected a layout of each result, got none";
  auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!model)
    return graph::emitMissingAnswer(op, graph::Answer::Rule);
  LayoutProblem problem{op, model.getShardingRule(), mesh, {}, {}};
  for (Value operand : op->getOperands())
    problem.operands.push_back(decided.lookup(operand));
  for (auto [result, layout] : llvm::zip(op->getResults(), list)) {
    decided[result] = cast<LayoutAttr>(layout);
    problem.results.push_back(cast<LayoutAttr>(layout));
  }
  const OpLayouts &runs = *distinct.insert(getOpLayouts(problem)).first;
  layouts[op] = &runs;
  if ((op->getNumOperands() == 0 || !isa<DistDialect>(op->getDialect())) &&
      llvm::all_of(op->getOperands(),
                   [&](Value operand) { return staysAsItIs(operand); }))
    sources[op] = llvm::map_to_vector(op->getOperands(), skipConstraints);
  for (auto [operand, want] : llvm::zip(op->getOperands(), runs.operands))
    if (want)
      wanted[skipConstraints(operand)].insert(want);
  return success();
}

//===----------------------------------------------------------------------===//
// Values in other layouts
//===----------------------------------------------------------------------===//

/// The op whose segment computes the new value: the user's where that keeps
/// less alive, and for arguments; otherwise the producer's.
Operation *FunctionMaterializer::chooseMarks(Value value, LayoutAttr want,
                                             Operation *user) {
  Operation *producer = value.getDefiningOp();
  bool isReturn = user->hasTrait<OpTrait::IsTerminator>();
  if (!producer)
    return isReturn ? nullptr : user;
  // What a move brings to another stage is there for its user.
  if (auto moved = dyn_cast<dist::ReshardOp>(producer); moved && !isReturn)
    if (dist::getLayout(moved.getInput().getType()).getAt() !=
        dist::getLayout(value.getType()).getAt())
      return user;
  LayoutAttr from = dist::getLayout(value.getType());
  auto type = cast<RankedTensorType>(value.getType());
  bool isGrowing =
      getLocalElements(type, want, mesh) > getLocalElements(type, from, mesh);
  return isGrowing && !isReturn && from.getAt() == want.getAt() ? user
                                                                : producer;
}

Remaking::Program FunctionMaterializer::describe() {
  auto layoutOf = [&](Value value) -> LayoutAttr {
    auto result = dyn_cast<OpResult>(value);
    const OpLayouts *runs = layouts.lookup(value.getDefiningOp());
    return result && runs ? runs->results[result.getResultNumber()]
                          : decided.lookup(value);
  };
  return {layoutOf,
          [&](Operation *op) -> std::optional<SmallVector<Value>> {
            auto found = sources.find(op);
            return found == sources.end() ? std::nullopt
                                          : std::optional(found->second);
          },
          [&](Value value) -> ArrayRef<Attribute> {
            auto found = wanted.find(value);
            return found == wanted.end() ? ArrayRef<Attribute>()
                                         : found->second.getArrayRef();
          }};
}

/// Where several values that are moved are made of one, it is moved in their
/// place, as if an op wanted it so.
void FunctionMaterializer::shareMoves(ArrayRef<Operation *> ops) {
  SmallVector<Remaking::Need> needs;
  for (Operation *op : ops) {
    if (isa<dist::ConstraintOp>(op))
      continue;
    for (auto [operand, want] :
         llvm::zip(op->getOperands(), layouts.lookup(op)->operands)) {
      Value value = skipConstraints(operand);
      LayoutAttr have = describe().layoutOf(value);
      if (want && have && !isReadableAs(have, want))
        needs.push_back({value, want, marks.getChunk(op)});
    }
  }
  for (const Remaking::Move &move : remaking.findShared(needs))
    wanted[move.value].insert(move.to);
  remaking.clear();
}

/// The op again, in the wanted layout.
FailureOr<Value> FunctionMaterializer::cloneAs(Operation *source,
                                               LayoutAttr want,
                                               Operation *user) {
  OpBuilder builder(source);
  builder.setInsertionPointAfter(source);
  Operation *clone = builder.clone(*source);
  cloned.insert(source);
  bool isReturn = user->hasTrait<OpTrait::IsTerminator>();
  marks.set(clone, isReturn ? source : user, want);
  OpLayouts runs = remaking.getRuns(source, want);
  SmallVector<Value> operands = sources.lookup(source);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    FailureOr<Value> made = getAs(operand, runs.operands[i], clone);
    if (failed(made))
      return failure();
    clone->setOperand(i, *made);
  }
  writeResultTypes(clone, want);
  return clone->getResult(0);
}

FailureOr<Value> FunctionMaterializer::reshard(Value value, LayoutAttr want,
                                               Operation *user) {
  auto type = cast<RankedTensorType>(value.getType());
  LayoutAttr from = dist::getLayout(type);
  std::string error;
  FailureOr<LayoutPlan> plan = reshards.plan(type, from, want, error);
  if (failed(plan))
    return user->emitOpError()
           << "expected an operand of layout " << want << ", got " << from
           << ", and no way between them: " << error;
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(value);
  Operation *like = chooseMarks(value, want, user);
  bool isLift = llvm::all_of(plan->steps, [](const ReshardStep &step) {
    return step.kind == ReshardMove::Kind::Lift;
  });
  if (!isLift) {
    auto op = dist::ReshardOp::create(builder, value.getLoc(),
                                      encode(type, want), value);
    marks.set(op, like, from);
    return op.getResult();
  }
  for (const ReshardStep &step : plan->steps) {
    FailureOr<Value> lifted =
        steps.build(builder, value.getLoc(), value, step, kind);
    if (failed(lifted))
      return failure();
    for (Operation *op = lifted->getDefiningOp();
         op && op != value.getDefiningOp();
         op = op->getOperand(0).getDefiningOp())
      marks.set(op, like, dist::getLayout(op->getOperand(0).getType()));
    value = *lifted;
  }
  return value;
}

/// A copy is shared by all its users, and runs no later than the first of
/// them: the ops that made it move to the segment of `user`.
void FunctionMaterializer::hasten(Value copy, Operation *user) {
  if (user->hasTrait<OpTrait::IsTerminator>())
    return;
  SmallVector<Operation *> late = {copy.getDefiningOp()};
  while (!late.empty()) {
    Operation *op = late.pop_back_val();
    if (!op || !marks.isEarlier(user, op))
      continue;
    marks.set(op, user, dist::getLayout(op->getResult(0).getType()));
    for (Value operand : op->getOperands())
      late.push_back(operand.getDefiningOp());
  }
}

/// A partial value that is wanted reduced on another stage as well goes there
/// once: reduced, and lifted for those that want summands.
FailureOr<Value> FunctionMaterializer::reshardOrLift(Value value,
                                                     LayoutAttr want,
                                                     Operation *user) {
  LayoutAttr full = want.withPartial({});
  bool isMoved = dist::getLayout(value.getType()).getAt() != want.getAt();
  if (!isMoved || full == want || !wanted[value].contains(full))
    return reshard(value, want, user);
  FailureOr<Value> made = getAs(value, full, user);
  return failed(made) ? made : reshard(*made, want, user);
}

/// A part of the value in the layout `source`, in which others want it.
FailureOr<Value> FunctionMaterializer::cutFrom(Value value, LayoutAttr source,
                                               LayoutAttr want,
                                               Operation *user) {
  FailureOr<Value> made = getAs(value, source, user);
  return failed(made) ? made : reshard(*made, want, user);
}

/// A layout in which others want the argument too, of which `want` is a part
/// and for which no more is sent, in whatever chunk it is read; null where
/// there is none.
LayoutAttr FunctionMaterializer::findLarger(Value value, LayoutAttr want) {
  LayoutAttr have = dist::getLayout(value.getType());
  if (value.getDefiningOp())
    return {};
  auto type = cast<RankedTensorType>(value.getType());
  auto price = [&](LayoutAttr from, LayoutAttr to) {
    std::string error;
    return reshards.price(type, from, to, error);
  };
  FailureOr<int64_t> alone = price(have, want);
  if (failed(alone) || *alone == 0)
    return {};
  for (Attribute other : wanted[value]) {
    auto larger = cast<LayoutAttr>(other);
    if (getLocalElements(type, larger, mesh) <=
            getLocalElements(type, want, mesh) ||
        larger.getAt() != want.getAt())
      continue;
    FailureOr<int64_t> cut = price(larger, want), moved = price(have, larger);
    if (succeeded(cut) && *cut == 0 && succeeded(moved) && *moved <= *alone)
      return larger;
  }
  return {};
}

/// `value` in the wanted layout, for `user`.
FailureOr<Value> FunctionMaterializer::getAs(Value value, LayoutAttr want,
                                             Operation *user) {
  LayoutAttr have = dist::getLayout(value.getType());
  if (!want || !have || isReadableAs(have, want))
    return value;
  int64_t chunk = value.getDefiningOp() ? 0 : marks.getChunk(user);
  if (Value copy = copies.lookup({value, want, chunk})) {
    hasten(copy, user);
    return copy;
  }
  std::optional<Remaking::Way> way = remaking.find(value, want);
  LayoutAttr source = way ? way->source : LayoutAttr();
  if (!source)
    source = findLarger(value, want);
  FailureOr<Value> made = way && way->isRemade
                              ? cloneAs(value.getDefiningOp(), want, user)
                          : source ? cutFrom(value, source, want, user)
                                   : reshardOrLift(value, want, user);
  if (failed(made))
    return failure();
  return copies[{value, want, chunk}] = *made;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// A constant's value has its result's type.
void FunctionMaterializer::writeResultTypes(Operation *op,
                                            ArrayRef<LayoutAttr> layouts) {
  for (auto [result, layout] : llvm::zip(op->getResults(), layouts))
    if (layout)
      result.setType(encode(result.getType(), layout));
  op->removeAttr(DistDialect::kLayouts);
  DenseElementsAttr value;
  if (op->hasTrait<OpTrait::ConstantLike>() &&
      matchPattern(op, m_Constant(&value)))
    for (NamedAttribute attribute : op->getAttrs())
      if (attribute.getValue() == value)
        op->setAttr(attribute.getName(), value.reshape(cast<ShapedType>(
                                             op->getResult(0).getType())));
}

LogicalResult FunctionMaterializer::rewriteOp(Operation *op) {
  if (auto constraint = dyn_cast<dist::ConstraintOp>(op)) {
    constraint.getResult().replaceAllUsesWith(constraint.getInput());
    constraint.erase();
    return success();
  }
  const OpLayouts &plan = *layouts.lookup(op);
  for (auto [i, want] : llvm::enumerate(plan.operands)) {
    FailureOr<Value> value = getAs(op->getOperand(i), want, op);
    if (failed(value))
      return failure();
    op->setOperand(i, *value);
  }
  if (!plan.joined) {
    writeResultTypes(op, plan.results);
    return success();
  }
  OpBuilder builder(op);
  auto join = dist::JoinOp::create(
      builder, op->getLoc(),
      encode(op->getResult(0).getType(), plan.results.front()),
      op->getOperands(), plan.joined.getName());
  marks.set(join, op, plan.results.front());
  op->getResult(0).replaceAllUsesWith(join.getResult());
  op->erase();
  return success();
}

LogicalResult FunctionMaterializer::rewriteReturn(Operation *op) {
  SmallVector<Type> arguments, results;
  for (auto [i, value] : llvm::enumerate(op->getOperands())) {
    LayoutAttr want = dist::getLayout(dist::getResultPort(function, i));
    if (!want && isa<RankedTensorType>(value.getType()))
      return function.emitOpError()
             << "expected a layout of result " << i << ", got none";
    FailureOr<Value> made = getAs(value, want, op);
    if (failed(made))
      return failure();
    // Types at the boundary are equal, also where fewer stages would do.
    if (want && dist::getLayout(made->getType()) != want)
      made = reshard(*made, want, op);
    if (failed(made))
      return failure();
    op->setOperand(i, *made);
    results.push_back(made->getType());
  }
  for (BlockArgument argument : function.getArguments())
    arguments.push_back(argument.getType());
  dist::Signature signature(function);
  signature.setLayouts(SmallVector<LayoutAttr>(arguments.size()),
                       SmallVector<LayoutAttr>(results.size()));
  signature.write(function);
  function.setType(
      FunctionType::get(function.getContext(), arguments, results));
  return success();
}

LogicalResult FunctionMaterializer::run() {
  Block &body = function.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  if (failed(readArguments()))
    return failure();
  for (Operation *op : ops)
    if (failed(readOp(op)))
      return failure();
  shareMoves(ops);
  for (Operation *op : ops)
    if (failed(rewriteOp(op)))
      return failure();
  if (failed(rewriteReturn(body.getTerminator())))
    return failure();
  moveReshardsIntoLoops(body);
  // Ops of which every use wanted another layout, and what was moved for them.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if ((cloned.contains(&op) || isa<dist::ReshardOp>(op)) &&
        isOpTriviallyDead(&op))
      op.erase();
  narrowBeforeMoves(body);
  return success();
}

void MaterializePass::runOnOperation() {
  StateRows rows(getOperation());
  auto rewrite = [&](dist::MeshOp mesh, const ProgramFunction &program,
                     LayoutReshards &reshards, StepBuilder &steps) {
    if (failed(FunctionMaterializer(mesh, program, reshards, steps).run()))
      return failure();
    narrowSentGradients(program, rows);
    return success();
  };
  if (failed(rewriteFunctions(getOperation(), rewrite)))
    signalPassFailure();
}
