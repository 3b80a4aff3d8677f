//===- PrepareStep.cpp - What is alike in all microbatches is done once ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some of what all microbatches of a step compute alike (StepInvariants.h)
// becomes, with all that it is made of, part of the phase `prepare`, which runs
// once, before the first microbatch: collectives and transfers, and what makes
// a value narrow, as a weight of f32 that contractions read as bf16.
//
//   %g = add %a, %b {phase = backward}         // of parameters alone
//   %h = dist.all_gather %g {phase = backward}
//   %n = convert %w {phase = forward} : f32 to bf16
//   %y = dot %x, %h
//   %z = dot %x, %n
//   becomes, where the step has several microbatches
//   %g = add %a, %b {phase = prepare}
//   %h = dist.all_gather %g {phase = prepare}  // kept through the step
//   %n = convert %w {phase = prepare} : f32 to bf16
//   %y = dot %x, %h
//   %z = dot %x, %n
//
// What is kept lies there through the whole step. So the gather of a parameter
// along an axis that its row takes away for its use, or that splits the samples
// (ZeRO-3, FSDP), stays in each microbatch, with all that follows from it: the
// row says that the parameter is whole in passing only. What is computed in a
// trip of a loop, or is sent downward through the chunks, stays as well, and so
// do conversions where the step's `recompute` says that they are done again.
// Those of rows that enter a loop are first put in front of it
// (NarrowStacks.h), so that layers in a loop are narrow once, too.
//
// Tests: test/Transforms/Sharding/prepare-step.mlir, prepare-step-loops.mlir
//===----------------------------------------------------------------------===//

#include "LayoutSteps.h"
#include "NarrowFirst.h"
#include "NarrowStacks.h"
#include "llmc/Analysis/Layouts/StateUse.h"
#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Analysis/Program/StepInvariants.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

namespace llmc {
#define GEN_PASS_DEF_PREPARESTEPPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct PrepareStepPass : llmc::impl::PrepareStepPassBase<PrepareStepPass> {
  void runOnOperation() override;
};

class StepPreparer {
public:
  StepPreparer(dist::MeshOp mesh, const ProgramFunction &program,
               const SymbolTable &symbols, bool narrowsOnce)
      : mesh(mesh.getAxes()), narrowsOnce(narrowsOnce),
        function(program.function), body(function.front()),
        marks(mesh, program), runs(body), invariants(function),
        passing(
            symbols, program,
            [](BlockArgument argument) {
              return dist::getLayout(argument.getType());
            },
            mesh.getAxes()) {}

  /// Puts in front of loops what their trips make narrow of the same value in
  /// all microbatches.
  void narrowStacks();
  void run();

private:
  void readAxes();
  void findPossible();
  bool isPassing(Operation *op) const;
  bool isReady(Value value, int64_t chunk) const;
  bool mayPrepare(Operation *op) const;
  int64_t getLocalBytes(Value value) const;
  bool narrows(Operation *op) const;
  bool shrinks(Operation *op) const;
  void choose();
  bool isReadByMicrobatch(Operation *op) const;
  void keepSmall();
  void findShared();
  void write();

  dist::MeshAxesAttr mesh;
  bool narrowsOnce;
  func::FuncOp function;
  Block &body;
  SegmentMarks marks;
  dist::LoopRuns runs;
  StepInvariants invariants;
  PassingAxes passing;
  /// Axes along which a state is gathered of which a value is made.
  llvm::DenseMap<Value, llvm::SmallDenseSet<StringAttr, 2>> passed;
  /// Ops that may run before the first microbatch, those that shall, and of
  /// these the ones whose results are kept where others read them.
  llvm::DenseSet<Operation *> possible, chosen, kept;
  /// Ops that are done twice.
  llvm::DenseSet<Operation *> shared;
};
} // namespace

static bool isMove(Operation *op) {
  return isa<dist::CollectiveInterface, dist::TransferOp>(op);
}

/// Whether programs of several stages meet in the op, or terms of theirs.
static bool isOfStages(Operation *op) {
  auto collective = dyn_cast<dist::CollectiveInterface>(op);
  return isa<dist::JoinOp>(op) || (collective && collective.getSymbolAttr());
}

static bool isConstant(Value value) {
  return matchPattern(value, m_Constant());
}

/// Whether a library or a move reads all elements of the value, or of what only
/// orders them in another way, or of each of its rows. A loop of elements reads
/// those that it needs.
static bool isReadWhole(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto enter = dyn_cast<dist::EnterOp>(user))
      return !enter.isCarry() && isReadWhole(enter.getResult());
    auto kernel = dyn_cast<graph::KernelOpInterface>(user);
    if (isMove(user) || !kernel)
      return isMove(user);
    graph::KernelForm form = kernel.getKernelForm();
    auto move = dyn_cast<graph::PrecisionOpInterface>(user);
    bool orders =
        move && move.isMove() &&
        cast<ShapedType>(value.getType()).getNumElements() ==
            cast<ShapedType>(user->getResult(0).getType()).getNumElements();
    return form == graph::KernelForm::Library ||
           form == graph::KernelForm::Decompose ||
           (orders && isReadWhole(user->getResult(0)));
  });
}

//===----------------------------------------------------------------------===//
// What may be done once
//===----------------------------------------------------------------------===//

void StepPreparer::readAxes() {
  for (BlockArgument argument : function.getArguments())
    for (StringAttr axis : passing.of(argument))
      passed[argument].insert(axis);
  for (Operation &op : body.without_terminator()) {
    llvm::SmallDenseSet<StringAttr, 2> axes;
    for (Value operand : dist::getAllOperands(&op))
      if (auto known = passed.find(operand); known != passed.end())
        axes.insert(known->second.begin(), known->second.end());
    for (Value result : op.getResults())
      if (!axes.empty())
        passed[result] = axes;
  }
}

/// Whether the op makes more of a state than each device holds, for those that
/// read it in passing.
bool StepPreparer::isPassing(Operation *op) const {
  auto collective = dyn_cast<dist::CollectiveInterface>(op);
  if (!collective)
    return false;
  bool isAlong = false;
  int64_t bytes = 0;
  for (Value operand : op->getOperands()) {
    bytes -= getLocalBytes(operand);
    auto known = passed.find(operand);
    for (auto axis : collective.getAxes().getAsRange<StringAttr>())
      isAlong |= known != passed.end() && known->second.contains(axis);
  }
  for (Value result : op->getResults())
    bytes += getLocalBytes(result);
  return isAlong && bytes > 0;
}

/// Whether the value is there when the chunk is prepared: chunks follow each
/// other.
bool StepPreparer::isReady(Value value, int64_t chunk) const {
  Operation *def = value.getDefiningOp();
  if (!def || isMadeAnywhere(def))
    return true;
  // Who reads what is sent comes later than who sends it.
  return possible.contains(def) &&
         (isa<dist::TransferOp>(def) || marks.getChunk(def) <= chunk);
}

bool StepPreparer::mayPrepare(Operation *op) const {
  bool changes = llvm::any_of(op->getResults(), [&](Value result) {
    return invariants.changes(result);
  });
  if (changes || !getPhase(op) || isMadeAnywhere(op) ||
      op->getNumResults() == 0 || isOfStages(op) || runs.getRunOf(op) >= 0 ||
      isa<dist::EnterOp, dist::NextOp, dist::LeaveOp>(op) || isPassing(op))
    return false;
  int64_t chunk = marks.getChunk(op);
  auto transfer = dyn_cast<dist::TransferOp>(op);
  if (!transfer)
    return llvm::all_of(dist::getAllOperands(op),
                        [&](Value operand) { return isReady(operand, chunk); });
  // Of arguments and constants nothing need be sent.
  Operation *from = transfer.getInput().getDefiningOp();
  return from && possible.contains(from) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           return marks.getChunk(user) > marks.getChunk(from) &&
                  !user->hasTrait<OpTrait::IsTerminator>();
         });
}

//===----------------------------------------------------------------------===//
// What does
//===----------------------------------------------------------------------===//

int64_t StepPreparer::getLocalBytes(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bytes = getElementBytes(type.getElementType());
  LayoutAttr layout = dist::getLayout(type);
  for (int64_t size : layout ? layout.getLocalShape(type.getShape(), mesh)
                             : SmallVector<int64_t>(type.getShape()))
    bytes *= size;
  return bytes;
}

/// Whether the op writes each element of a state in fewer bytes, for those that
/// read them all.
bool StepPreparer::narrows(Operation *op) const {
  return narrowsOnce && isNarrowing(op) && !isConstant(op->getOperand(0)) &&
         isReadWhole(op->getResult(0));
}

/// Whether less is kept if the result is, rather than what only this op reads.
bool StepPreparer::shrinks(Operation *op) const {
  if (isMove(op) || op->getNumResults() != 1)
    return false;
  llvm::SmallDenseSet<Value, 4> freed;
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (def && !isMadeAnywhere(def) && !chosen.contains(def))
      return false;
    bool isFreed = def && kept.contains(def) &&
                   llvm::all_of(operand.getUsers(), [&](Operation *user) {
                     return user == op || chosen.contains(user);
                   });
    if (isFreed)
      freed.insert(operand);
  }
  int64_t bytes = 0;
  for (Value value : freed)
    bytes += getLocalBytes(value);
  return !freed.empty() && getLocalBytes(op->getResult(0)) <= bytes;
}

/// The moves and what makes values narrow, all that they are made of, and what
/// then makes less of them.
void StepPreparer::choose() {
  for (Operation &op : llvm::reverse(body)) {
    if (!possible.contains(&op))
      continue;
    bool isFirst = isMove(&op) || narrows(&op);
    bool isRead = llvm::any_of(
        op.getUsers(), [&](Operation *user) { return chosen.contains(user); });
    if (isFirst || isRead)
      chosen.insert(&op);
    if (isFirst)
      kept.insert(&op);
  }
  keepSmall();
  for (Operation &op : body)
    if (possible.contains(&op) && !chosen.contains(&op) && shrinks(&op)) {
      chosen.insert(&op);
      kept.insert(&op);
    }
}

bool StepPreparer::isReadByMicrobatch(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return !chosen.contains(user) || shared.contains(user);
  });
}

/// What microbatches read too is kept, where it takes less than the states that
/// it is made of: the scale of a weight, but not a sum of two weights.
void StepPreparer::keepSmall() {
  llvm::DenseMap<Operation *, llvm::SmallDenseSet<Value, 4>> sources;
  for (Operation &op : body) {
    if (!chosen.contains(&op))
      continue;
    llvm::SmallDenseSet<Value, 4> &own = sources[&op];
    for (Value operand : op.getOperands()) {
      auto known = sources.find(operand.getDefiningOp());
      if (isa<BlockArgument>(operand))
        own.insert(operand);
      else if (known != sources.end())
        own.insert(known->second.begin(), known->second.end());
    }
    int64_t bytes = 0;
    for (Value source : own)
      bytes += getLocalBytes(source);
    for (Value result : op.getResults())
      bytes -= getLocalBytes(result);
    if (bytes > 0 && isReadByMicrobatch(&op))
      kept.insert(&op);
  }
}

/// Ops of which no move is the source, and which others read: these go on to
/// compute them.
void StepPreparer::findShared() {
  for (Operation &op : llvm::reverse(body)) {
    if (chosen.contains(&op) && !kept.contains(&op) && isReadByMicrobatch(&op))
      shared.insert(&op);
  }
}

void StepPreparer::write() {
  auto phase =
      dist::PhaseAttr::get(function.getContext(), dist::Phase::Prepare);
  IRMapping mapping;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (!chosen.contains(&op))
      continue;
    Operation *prepared = &op;
    if (shared.contains(&op)) {
      prepared = OpBuilder(&op).clone(op, mapping);
      mapping.map(op.getResults(), prepared->getResults());
    } else {
      for (OpOperand &operand : op.getOpOperands())
        operand.set(mapping.lookupOrDefault(operand.get()));
    }
    prepared->setAttr(DistDialect::kPhase, phase);
  }
}

void StepPreparer::findPossible() {
  readAxes();
  for (Operation &op : body.without_terminator())
    if (mayPrepare(&op))
      possible.insert(&op);
}

void StepPreparer::narrowStacks() {
  if (!narrowsOnce || runs.empty())
    return;
  findPossible();
  SmallVector<Operation *> ops;
  for (Operation &op : body) {
    Value stack = findNarrowedStack(&op);
    if (stack && getPhase(&op) && !invariants.changes(stack) &&
        !isConstant(stack) && runs.getRunOf(stack) < 0 &&
        isReady(stack, marks.getChunk(&op)) && isReadWhole(op.getResult(0)))
      ops.push_back(&op);
  }
  StackNarrower narrower;
  for (Operation *op : ops)
    narrower.lift(op, marks.getChunk(op));
}

void StepPreparer::run() {
  findPossible();
  choose();
  findShared();
  write();
}

void PrepareStepPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  SymbolTable symbols(getOperation());
  for (const ProgramFunction &program : getProgramFunctions(getOperation())) {
    auto step = dyn_cast<dist::StepOp>(program.owner);
    if (!step || step.getMicrobatches() == 1 ||
        program.kind != FunctionKind::Microbatch)
      continue;
    dist::RecomputeAttr recompute = step.getRecomputeAttr();
    bool narrowsOnce = !recompute || !recompute.getConversions();
    StepPreparer(*mesh, program, symbols, narrowsOnce).narrowStacks();
    StepPreparer(*mesh, program, symbols, narrowsOnce).run();
  }
}
