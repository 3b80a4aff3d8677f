//===- Routes.cpp - What crosses between the segments of a function -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Routes.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace llmc;
using dist::Phase;
using dist::SegmentOp;
using dist::TransferOp;

static bool isForward(SegmentOp segment) {
  return segment.getPhase() == Phase::Forward;
}

static bool isPrepare(SegmentOp segment) {
  return segment && segment.getPhase() == Phase::Prepare;
}

Value llmc::getSlotValue(Value value) {
  auto leave = value.getDefiningOp<dist::LeaveOp>();
  if (!leave || !leave.isLast())
    return value;
  auto last = cast<OpResult>(leave.getInput());
  dist::YieldOp yield = cast<SegmentOp>(last.getOwner()).getYield();
  auto next =
      yield.getOperand(last.getResultNumber()).getDefiningOp<dist::NextOp>();
  return next.getEnter().getInput();
}

static std::vector<dist::LoopAttr> getLoops(SegmentOp segment) {
  return segment.getLoop() ? segment.getLoop()->getPath()
                           : std::vector<dist::LoopAttr>();
}

/// The first forward or backward segment of a chunk, a straight one.
SegmentOp Routes::find(int64_t chunk, bool wantsForward) {
  for (auto segment : function.getOps<SegmentOp>())
    if (segment.getChunk() && getChunk(segment) == chunk &&
        isForward(segment) == wantsForward && !isPrepare(segment) &&
        !segment.getLoop())
      return segment;
  return {};
}

/// The first segment that uses the value.
static SegmentOp findFirstReader(Value value) {
  SegmentOp first;
  for (Operation *user : value.getUsers()) {
    auto segment = user->getParentOfType<SegmentOp>();
    if (segment && (!first || segment->isBeforeInBlock(first)))
      first = segment;
  }
  return first;
}

void Routes::addRoute(const Route &route) {
  routes.push_back(route);
  homes[dist::TransferOp(route.transfer).getResult()] = route.to;
}

LogicalResult Routes::route(TransferOp transfer) {
  int64_t numStages = stages.getNumStages();
  auto fail = [&]() { return transfer.emitOpError() << "cannot be routed: "; };
  auto fromStage = static_cast<int64_t>(transfer.getFrom());
  auto toStage = static_cast<int64_t>(transfer.getTo());
  SegmentOp home = getHome(transfer.getInput());
  SegmentOp reader = findFirstReader(transfer.getResult());
  if (isPrepare(home) && isPrepare(reader)) {
    addRoute({transfer, home, reader});
    return success();
  }
  SegmentOp from = isPrepare(home) ? find(getChunk(home), true)
                   : home          ? home
                                   : find(fromStage, true);
  if (!from)
    return fail() << "expected a segment at stage " << fromStage;
  if (stages.getStage(getChunk(from)) != fromStage)
    return fail() << "expected a value of stage " << fromStage
                  << ", got one of stage " << stages.getStage(getChunk(from));
  // Where nothing reads it (it is returned or sent on), the next chunk there.
  int64_t chunk = reader ? getChunk(reader) : toStage;
  if (!reader && isForward(from))
    while (chunk < getChunk(from) && find(chunk + numStages, true))
      chunk += numStages;
  if (stages.getStage(chunk) != toStage)
    return fail() << "expected a use at stage " << toStage << ", got one at "
                  << stages.getStage(chunk);
  bool isUpward = chunk > getChunk(from);
  SegmentOp to = find(chunk, isUpward);
  if (!isUpward && isForward(from))
    from = find(getChunk(from), false);
  if (!from || !to || isForward(from) != isUpward ||
      from.getPhase() == Phase::BackwardWeight)
    return fail() << "expected values to go upward in the forward and "
                     "downward in the backward, got one of chunk "
                  << getChunk(home ? home : find(fromStage, true))
                  << " for chunk " << chunk;
  addRoute({transfer, from, to});
  return success();
}

const Act *Routes::findAct(Value value) const {
  value = getSlotValue(value);
  auto known = actsOf.find(value);
  return known == actsOf.end() ? nullptr : &acts[known->second.front()];
}

const Act *Routes::findAct(Value value, SegmentOp reader) const {
  value = getSlotValue(value);
  bool isArgument = isa<BlockArgument>(value);
  auto known = actsOf.find(value);
  if (known == actsOf.end())
    return nullptr;
  for (unsigned number : known->second) {
    SegmentOp from = acts[number].from;
    if (isArgument && getChunk(from) != getChunk(reader))
      continue;
    bool isMadeHere = from == reader || (isArgument && isForward(reader));
    return isMadeHere ? nullptr : &acts[number];
  }
  return nullptr;
}

/// Whether `maker` runs in the same cell as `reader`, and not before it: they
/// are one segment, or parts of a chunk that loops cut.
static bool isOfSameCell(SegmentOp reader, SegmentOp maker) {
  return maker && maker.getChunk() == reader.getChunk() &&
         maker.getPhase() == reader.getPhase() &&
         !maker->isBeforeInBlock(reader);
}

/// Whether a backward finds a new value in the place of a carried state: of an
/// update's state it finds the old one, and so it does where its cell makes the
/// new one later on.
static bool isReplacedBefore(const dist::Signature &signature,
                             dist::PortAttr port, Operation *terminator,
                             llvm::function_ref<bool(Value)> isMadeHere) {
  if (!dist::isPort(port, dist::PortKind::Carried))
    return false;
  std::optional<unsigned> result =
      signature.findResult(dist::PortKind::Carried, port.getSymbol());
  return result && !isMadeHere(terminator->getOperand(*result));
}

void Routes::findActs() {
  dist::Signature signature(function);
  Operation *terminator = function.front().getTerminator();
  llvm::DenseSet<Value> kept;
  llvm::DenseSet<std::pair<Value, int64_t>> keptArguments;
  auto note = [&](Value value, SegmentOp reader) {
    value = getSlotValue(value);
    if (SegmentOp home = getHome(value); home && home != reader)
      kept.insert(value);
  };
  llvm::MapVector<Operation *, SmallVector<Value>> arguments;
  for (auto segment : function.getOps<SegmentOp>()) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(segment.getBody(), captured);
    for (Value value : captured) {
      note(value, segment);
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument || isForward(segment) || isPrepare(segment))
        continue;
      dist::PortAttr port = signature.arguments[argument.getArgNumber()];
      bool isReplaced =
          isReplacedBefore(signature, port, terminator, [&](Value made) {
            return isOfSameCell(segment, getHome(made));
          });
      if ((isReplaced || dist::isPort(port, dist::PortKind::Input)) &&
          keptArguments.insert({value, getChunk(segment)}).second)
        arguments[segment].push_back(value);
    }
  }
  for (Route route : routes)
    note(route.transfer.getInput(), route.from);
  for (auto &[segment, values] : returned)
    for (const Returned &each : values)
      note(each.value, cast<SegmentOp>(segment));
  for (auto segment : function.getOps<SegmentOp>()) {
    for (Value result : segment.getResults())
      if (kept.contains(result))
        acts.push_back({result, segment, {}});
    for (auto leave : function.getOps<dist::LeaveOp>())
      if (kept.contains(leave) && getHome(leave) == segment)
        acts.push_back({leave, segment, {}});
    for (Route route : routes)
      if (route.to == segment && kept.contains(route.transfer.getResult()))
        acts.push_back({route.transfer.getResult(), segment, {}});
    for (Value argument : arguments.lookup(segment))
      acts.push_back({argument, find(getChunk(segment), true), {}});
  }
  for (auto [number, act] : llvm::enumerate(acts)) {
    actsOf[act.value].push_back(number);
    findRows(act);
  }
}

/// A row for each trip of a loop of which another run reads the value.
void Routes::findRows(Act &act) {
  std::vector<dist::LoopAttr> loops = getLoops(act.from);
  auto leave = act.value.getDefiningOp<dist::LeaveOp>();
  if (!leave && act.value.getDefiningOp() != act.from)
    return;
  act.rows.assign(loops.size(), 0);
  if (leave && leave.isStack())
    act.rows.back() = leave.getLoop().getTrips();
  size_t shared = loops.size() - (leave ? 1 : 0);
  for (Operation *user : act.value.getUsers()) {
    auto reader = user->getParentOfType<SegmentOp>();
    if (!reader)
      continue;
    std::vector<dist::LoopAttr> others = getLoops(reader);
    bool isWithin = true;
    for (size_t level = 0; level < shared; ++level) {
      isWithin &= level < others.size() && others[level] == loops[level];
      if (!isWithin)
        act.rows[level] = loops[level].getTrips();
    }
  }
}

void Routes::addReturned(Value value, unsigned index) {
  if (auto join = value.getDefiningOp<dist::JoinOp>()) {
    for (Value operand : join.getInputs())
      addReturned(operand, index);
    return;
  }
  SegmentOp home = getHome(value);
  // A sum is added to in each microbatch.
  if (isPrepare(home))
    home = find(getChunk(home), true);
  if (home)
    returned[home].push_back({value, index});
}

/// Each stage has one term of a sum at most: it is added to one slot.
LogicalResult Routes::checkReturned(OpOperand &operand) {
  llvm::DenseSet<int64_t> seen;
  for (auto segment : function.getOps<SegmentOp>())
    for (const Returned &value : getReturned(segment))
      if (value.index == operand.getOperandNumber() &&
          !seen.insert(stages.getStage(getChunk(segment))).second)
        return operand.get().getDefiningOp()->emitOpError()
               << "expected operands of disjoint stages, got two of stage "
               << stages.getStage(getChunk(segment));
  return success();
}

LogicalResult Routes::build() {
  for (auto segment : function.getOps<SegmentOp>())
    for (Value result : segment.getResults())
      homes[result] = segment;
  for (auto leave : function.getOps<dist::LeaveOp>())
    homes[leave] = homes.lookup(leave.getInput());
  for (auto transfer : function.getOps<TransferOp>())
    if (failed(route(transfer)))
      return failure();
  for (OpOperand &operand :
       function.getBody().front().getTerminator()->getOpOperands()) {
    addReturned(operand.get(), operand.getOperandNumber());
    if (operand.get().getDefiningOp<dist::JoinOp>() &&
        failed(checkReturned(operand)))
      return failure();
  }
  findActs();
  return success();
}
