//===- Pins.cpp - At which stages values live -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Pins.h.
//
//===----------------------------------------------------------------------===//

#include "Pins.h"
#include "StageSums.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Solvers/Schedules/Schedule.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using dist::PortAttr;
using dist::PortKind;
using func::FuncOp;

FailureOr<Pins> Pins::compute(ArrayRef<ProgramFunction> functions,
                              dist::MeshOp mesh, const StateRows &rows) {
  Pins pins(mesh, rows);
  if (!pins.isPinned())
    return pins;
  if (pins.numStages > 64)
    return emitRefusal(mesh, rt::ErrorKind::infeasible)
           << "expected at most 64 pipeline stages, got " << pins.numStages;
  for (const ProgramFunction &program : functions)
    if (program.kind != FunctionKind::Update &&
        failed(pins.pinForward(program)))
      return failure();
  for (const ProgramFunction &program : functions)
    if (program.kind == FunctionKind::Microbatch)
      pins.pinCarried(program.function);
  // A state lives at its uses in all functions, and so does every read of it.
  for (const ProgramFunction &program : functions) {
    FuncOp function = program.function;
    for (BlockArgument argument : function.getArguments())
      if (FlatSymbolRefAttr state = dist::getState(
              dist::getArgumentPort(function, argument.getArgNumber())))
        pins.values[argument] = pins.ofState(state.getAttr());
  }
  FuncOp microbatch;
  for (const ProgramFunction &program : functions) {
    if (program.kind == FunctionKind::Microbatch)
      microbatch = program.function;
    if (program.kind == FunctionKind::Update) {
      pins.updates.insert(program.function);
      pins.pinUpdate(program, microbatch);
    }
  }
  return pins;
}

SmallVector<dist::PinAttr> Pins::getAt(StageSet stages) const {
  if (!isPinned())
    return {};
  SmallVector<int64_t> coordinates;
  for (int64_t s = 0; s < numStages; ++s)
    if (stages >> s & 1)
      coordinates.push_back(s);
  return {dist::PinAttr::get(axis.getContext(), axis, coordinates)};
}

StageSet Pins::ofState(StringAttr name) const {
  if (dist::StateOp state = rows.lookup(name))
    if (dist::StateOp parameter = rows.getParameter(state))
      name = parameter.getSymNameAttr();
  // What nothing uses lives at the first stage.
  StageSet stages = states.lookup(name);
  if (isSeeded(Fault::stateLivesAtFirstStage))
    stages &= ~stages + 1;
  return stages ? stages : 1;
}

StageSet Pins::ofResult(FuncOp function, unsigned result) const {
  PortAttr port = dist::getResultPort(function, result);
  if (dist::isPort(port, PortKind::Metric) && updates.contains(function))
    return getAll();
  if (FlatSymbolRefAttr state = dist::getStateOrGradientOf(port))
    return ofState(state.getAttr());
  return of(function.front().getTerminator()->getOperand(result));
}

//===----------------------------------------------------------------------===//
// Microbatch and entries
//===----------------------------------------------------------------------===//

LogicalResult Pins::pinForward(const ProgramFunction &program) {
  if (failed(pinOps(program)))
    return failure();
  joinSums(program.function);
  pinArguments(program.function);
  pinGradients(program.function);
  return success();
}

LogicalResult Pins::pinOps(const ProgramFunction &program) {
  ArrayRef<int64_t> chunks = program.getChunks().value_or(ArrayRef<int64_t>());
  FuncOp function = program.function;
  for (Operation &op : function.front().without_terminator()) {
    std::optional<int64_t> block = getBlock(&op);
    if (!block || *block >= static_cast<int64_t>(chunks.size()))
      return op.emitOpError()
             << "expected a block with a chunk, got "
             << (block ? std::to_string(*block) : std::string("none"));
    for (Value result : op.getResults())
      values[result] = StageSet(1)
                       << getStageOfChunk(chunks[*block], numStages);
  }
  return success();
}

StageSet Pins::stagesOfUses(Value value) const {
  StageSet stages = 0;
  for (Operation *user : value.getUsers())
    if (user->getNumResults())
      stages |= of(user->getResult(0));
  return stages;
}

/// Arguments live where they are used, states at all uses in all functions.
void Pins::pinArguments(FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    PortAttr port = dist::getArgumentPort(function, argument.getArgNumber());
    StageSet stages = stagesOfUses(argument);
    if (FlatSymbolRefAttr state = dist::getState(port))
      states[state.getAttr()] |= stages;
    bool isEverywhere = dist::isAnyPort(
        port, {PortKind::Hyper, PortKind::Step, PortKind::Microbatch});
    values[argument] = isEverywhere ? getAll() : stages ? stages : 1;
  }
}

/// A state lives where its gradient is made too, as of layers whose gradients a
/// loop of the text puts into one stack.
void Pins::pinGradients(FuncOp function) {
  for (OpOperand &returned : function.front().getTerminator()->getOpOperands())
    if (FlatSymbolRefAttr state = dist::getGradientOf(
            dist::getResultPort(function, returned.getOperandNumber())))
      states[state.getAttr()] |= of(returned.get());
}

/// A state that each microbatch replaces lives where its next value is made,
/// also for entries that read it elsewhere.
void Pins::pinCarried(FuncOp function) {
  for (OpOperand &returned :
       function.front().getTerminator()->getOpOperands()) {
    PortAttr port = dist::getResultPort(function, returned.getOperandNumber());
    if (returned.get().getDefiningOp() && dist::isPort(port, PortKind::Carried))
      states[dist::getState(port).getAttr()] = of(returned.get());
  }
}

/// Where terms of a result that is summed over microbatches may stay: those of
/// a gradient where its state is used.
StageSet Pins::ofSum(FuncOp function, unsigned result) const {
  FlatSymbolRefAttr state =
      dist::getStateOrGradientOf(dist::getResultPort(function, result));
  if (!state)
    return getAll();
  StageSet stages = 0;
  for (BlockArgument argument : function.getArguments())
    if (dist::getState(
            dist::getArgumentPort(function, argument.getArgNumber())) == state)
      stages |= stagesOfUses(argument);
  return stages;
}

/// Additions that reach nothing but results summed over microbatches live where
/// their terms do, when these share no stage (GroupSums.cpp sees to that), and
/// the results may have terms there. They may have them anywhere where a term
/// is such a sum, which nobody adds up within a microbatch, or where the op's
/// own stage is no better.
void Pins::joinSums(FuncOp function) {
  SmallVector<Operation *> sums = findStageSums(function);
  llvm::DenseMap<Operation *, StageSet> allowed;
  for (Operation *op : llvm::reverse(sums)) {
    StageSet stages = getAll();
    for (OpOperand &use : op->getUses()) {
      auto user = allowed.find(use.getOwner());
      stages &= user != allowed.end() ? user->second
                                      : ofSum(function, use.getOperandNumber());
    }
    allowed[op] = stages;
  }
  for (Operation *op : sums) {
    if (!isAddition(op))
      continue;
    StageSet left = of(op->getOperand(0)), right = of(op->getOperand(1));
    if (!left || !right || (left & right))
      continue;
    bool isHome = of(op->getResult(0)) & allowed[op];
    bool hasJoin =
        joins.contains(op->getOperand(0)) || joins.contains(op->getOperand(1));
    if (((left | right) & ~allowed[op]) && isHome && !hasJoin)
      continue;
    values[op->getResult(0)] = left | right;
    joins.insert(op->getResult(0));
  }
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

void Pins::pinUpdate(const ProgramFunction &program, FuncOp microbatch) {
  FuncOp function = program.function;
  llvm::DenseMap<Attribute, StageSet> sums;
  for (unsigned i = 0; microbatch && i < microbatch.getNumResults(); ++i)
    if (PortAttr port = dist::getResultPort(microbatch, i);
        dist::isScalarSum(port))
      sums[port.getSlot()] = ofResult(microbatch, i);
  for (BlockArgument argument : function.getArguments()) {
    PortAttr port = dist::getArgumentPort(function, argument.getArgNumber());
    StageSet stages = getAll();
    if (FlatSymbolRefAttr state = dist::getStateOrGradientOf(port))
      stages = ofState(state.getAttr());
    if (dist::isScalarSum(port))
      if (StageSet known = sums.lookup(port.getSlot()))
        stages = known;
    values[argument] = stages;
  }
  for (Operation &op : function.front().without_terminator())
    pinUpdateOp(op);
}

static bool isRanked(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && tensor.getRank() > 0;
}

/// Scalars go where they are needed: they pin no op that also reads tensors,
/// and what is made of scalars alone lives everywhere.
void Pins::pinUpdateOp(Operation &op) {
  bool isTensorOp = llvm::any_of(op.getOperands(), isRanked) ||
                    llvm::any_of(op.getResults(), isRanked);
  StageSet all = 0, shared = getAll();
  bool hasJoin = false;
  Value first;
  for (Value operand : op.getOperands()) {
    if (isTensorOp && !isRanked(operand))
      continue;
    first = first ? first : operand;
    all |= of(operand);
    shared &= of(operand);
    hasJoin |= joins.contains(operand);
  }
  StageSet stages = shared;
  bool isJoin = first && (!shared || hasJoin) && isJointlyLinear(&op);
  if (isJoin)
    stages = all;
  else if (!shared)
    stages = of(first);
  for (Value result : op.getResults()) {
    values[result] = stages;
    if (isJoin)
      joins.insert(result);
  }
}
