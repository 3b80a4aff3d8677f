//===- PrepareMoves.cpp - What is alike in all microbatches moves once ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A collective or transfer of a value that all microbatches of a step compute
// alike (StepInvariants.h), with all that this value is made of, becomes part
// of the phase `prepare`, which runs once, before the first microbatch:
//
//   %g = add %a, %b {phase = backward}         // of parameters alone
//   %h = dist.all_gather %g {phase = backward}
//   %y = dot %x, %h
//   becomes, where the step has several microbatches
//   %g = add %a, %b {phase = prepare}
//   %h = dist.all_gather %g {phase = prepare}  // kept through the step
//   %y = dot %x, %h
//
// What is kept lies there through the whole step. So the gather of a parameter
// along an axis that its row takes away for its use, or that splits the samples
// (ZeRO-3, FSDP), stays in each microbatch, with all that follows from it: the
// row says that the parameter is whole in passing only. What is computed in a
// trip of a loop, or is sent downward through the chunks, stays as well.
//
// Test: test/Transforms/Sharding/prepare-moves.mlir
//===----------------------------------------------------------------------===//

#include "LayoutSteps.h"
#include "llmc/Analysis/Layouts/StateUse.h"
#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Analysis/Program/StepInvariants.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

namespace llmc {
#define GEN_PASS_DEF_PREPAREMOVESPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct PrepareMovesPass : llmc::impl::PrepareMovesPassBase<PrepareMovesPass> {
  void runOnOperation() override;
};

class MovePreparer {
public:
  MovePreparer(dist::MeshOp mesh, const ProgramFunction &program,
               const SymbolTable &symbols)
      : mesh(mesh.getAxes()), function(program.function),
        body(function.front()), marks(mesh, program), runs(body),
        invariants(function), passing(
                                  symbols, program,
                                  [](BlockArgument argument) {
                                    return dist::getLayout(argument.getType());
                                  },
                                  mesh.getAxes()) {}

  void run();

private:
  void readAxes();
  bool isPassing(Operation *op) const;
  bool isReady(Value value, int64_t chunk) const;
  bool mayPrepare(Operation *op) const;
  int64_t getLocalBytes(Value value) const;
  bool shrinks(Operation *op) const;
  void choose();
  void findShared();
  void write();

  dist::MeshAxesAttr mesh;
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

//===----------------------------------------------------------------------===//
// What may move once
//===----------------------------------------------------------------------===//

void MovePreparer::readAxes() {
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
bool MovePreparer::isPassing(Operation *op) const {
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
bool MovePreparer::isReady(Value value, int64_t chunk) const {
  Operation *def = value.getDefiningOp();
  if (!def || isMadeAnywhere(def))
    return true;
  // Who reads what is sent comes later than who sends it.
  return possible.contains(def) &&
         (isa<dist::TransferOp>(def) || marks.getChunk(def) <= chunk);
}

bool MovePreparer::mayPrepare(Operation *op) const {
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

int64_t MovePreparer::getLocalBytes(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bytes = getElementBytes(type.getElementType());
  LayoutAttr layout = dist::getLayout(type);
  for (int64_t size : layout ? layout.getLocalShape(type.getShape(), mesh)
                             : SmallVector<int64_t>(type.getShape()))
    bytes *= size;
  return bytes;
}

/// Whether less is kept if the result is, rather than what only this op reads.
bool MovePreparer::shrinks(Operation *op) const {
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

/// The moves, all that they are made of, and what then makes less of them.
void MovePreparer::choose() {
  for (Operation &op : llvm::reverse(body)) {
    bool isRead = llvm::any_of(
        op.getUsers(), [&](Operation *user) { return chosen.contains(user); });
    if (!possible.contains(&op) || (!isMove(&op) && !isRead))
      continue;
    chosen.insert(&op);
    if (isMove(&op))
      kept.insert(&op);
  }
  for (Operation &op : body)
    if (possible.contains(&op) && !chosen.contains(&op) && shrinks(&op)) {
      chosen.insert(&op);
      kept.insert(&op);
    }
}

/// Ops of which no move is the source, and which others read: these go on to
/// compute them.
void MovePreparer::findShared() {
  for (Operation &op : llvm::reverse(body)) {
    bool isRead = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return !chosen.contains(user) || shared.contains(user);
    });
    if (chosen.contains(&op) && !kept.contains(&op) && isRead)
      shared.insert(&op);
  }
}

void MovePreparer::write() {
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

void MovePreparer::run() {
  readAxes();
  for (Operation &op : body.without_terminator())
    if (mayPrepare(&op))
      possible.insert(&op);
  choose();
  findShared();
  write();
}

void PrepareMovesPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  SymbolTable symbols(getOperation());
  for (const ProgramFunction &program : getProgramFunctions(getOperation())) {
    auto step = dyn_cast<dist::StepOp>(program.owner);
    if (step && step.getMicrobatches() > 1 &&
        program.kind == FunctionKind::Microbatch)
      MovePreparer(*mesh, program, symbols).run();
  }
}
