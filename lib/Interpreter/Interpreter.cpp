//===- Interpreter.cpp - Evaluation of graph functions --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A walk over the ops of a block in order. `values` maps every live SSA value
// to its tensor; since a region sees the values around it, one map serves a
// function with all its regions, and a call starts a new one. For each block
// the last using op of every value defined in it is found once; the value is
// dropped after that op. Values used in a deeper region stay until the op that
// holds the region has run.
//
//===----------------------------------------------------------------------===//

#include "llmc/Interpreter/Interpreter.h"
#include "LoopValues.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace llmc;

namespace {
/// Restores a counter when a scope ends.
struct DepthGuard {
  explicit DepthGuard(int &depth) : depth(depth) { ++depth; }
  ~DepthGuard() { --depth; }
  int &depth;
};
} // namespace

/// A graph value is a ranked tensor of static shape, or a single element; null
/// for all other types.
static RankedTensorType getTensorType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.hasStaticShape() && getElementBytes(tensor.getElementType())
               ? tensor
               : RankedTensorType();
  return isa<IntegerType, FloatType, IndexType>(type)
             ? RankedTensorType::get({}, type)
             : RankedTensorType();
}

/// Whether `tensor` is a value of `type`, encodings apart.
static bool isValueOf(const HostTensor &tensor, Type type) {
  RankedTensorType expected = getTensorType(type);
  return tensor && expected &&
         tensor.getElementType() == expected.getElementType() &&
         tensor.getShape() == expected.getShape();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Finds, for each value defined in `block`, the op of the block after which
/// it is dead.
void Interpreter::prepare(Block &block) {
  if (!prepared.try_emplace(&block, true).second)
    return;
  auto note = [&](Value value) {
    Operation *last = nullptr;
    for (Operation *user : value.getUsers()) {
      Operation *ancestor = block.findAncestorOpInBlock(*user);
      if (ancestor && (!last || last->isBeforeInBlock(ancestor)))
        last = ancestor;
    }
    if (!last)
      last = value.getDefiningOp() ? value.getDefiningOp() : &block.front();
    deadAfter[last].push_back(value);
  };
  for (BlockArgument argument : block.getArguments())
    note(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      note(result);
}

/// What is known of blocks holds during one evaluation only: the IR may change
/// between two of them.
void Interpreter::forgetBlocks() {
  prepared.clear();
  deadAfter.clear();
  admitted.clear();
  symbols = std::make_unique<SymbolTableCollection>();
}

LogicalResult Interpreter::checkLiveBytes(int64_t bytes, Operation *at) {
  if (bytes <= limits.maxLiveBytes)
    return success();
  return emitRefusal(at, rt::ErrorKind::infeasible)
         << "expected at most " << limits.maxLiveBytes
         << " bytes of live values in the interpreter, got " << bytes;
}

LogicalResult Interpreter::define(Value value, HostTensor tensor,
                                  Operation *at) {
  liveBytes += tensor.getNumBytes();
  peakBytes = std::max(peakBytes, liveBytes);
  if (failed(checkLiveBytes(liveBytes, at)))
    return failure();
  values[value] = std::move(tensor);
  return success();
}

void Interpreter::drop(Value value) {
  auto it = values.find(value);
  if (it == values.end())
    return;
  liveBytes -= it->second.getNumBytes();
  values.erase(it);
}

void Interpreter::dropDead(Operation *op) {
  auto it = deadAfter.find(op);
  if (it == deadAfter.end())
    return;
  for (Value value : it->second)
    drop(value);
}

LogicalResult
Interpreter::collectOperands(Operation *op,
                             SmallVectorImpl<HostTensor> &operands) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    const HostTensor *value = find(operand);
    if (!value)
      return op->emitOpError() << "expected a value of operand #" << i
                               << " before this op, got none";
    operands.push_back(*value);
  }
  return success();
}

/// The value, of a loop that of the trip which runs; null where there is none.
const HostTensor *Interpreter::find(Value value) const {
  if (auto it = values.find(value); it != values.end())
    return &it->second;
  auto it = ofTrips.find(value);
  bool isThere =
      it != ofTrips.end() && it->second.isOf(trips) && it->second.at(trips);
  return isThere ? &it->second.at(trips) : nullptr;
}

LogicalResult Interpreter::checkResults(Operation *op,
                                        ArrayRef<HostTensor> results) {
  if (results.size() != op->getNumResults())
    return op->emitOpError() << "expected " << op->getNumResults()
                             << " evaluated results, got " << results.size();
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (!isValueOf(results[i], result.getType())) {
      auto diagnostic = op->emitOpError()
                        << "expected an evaluated result #" << i << " of type "
                        << result.getType() << ", got ";
      if (results[i])
        return diagnostic << results[i].getType();
      return diagnostic << "nothing";
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops, blocks, regions, calls
//===----------------------------------------------------------------------===//

/// Bytes that the results of `op` take, or the largest number.
static int64_t countResultBytes(Operation *op) {
  int64_t total = 0;
  for (Value result : op->getResults()) {
    RankedTensorType type = getTensorType(result.getType());
    int64_t bytes = getElementBytes(type.getElementType());
    for (int64_t dim : type.getShape())
      if (llvm::MulOverflow(bytes, dim, bytes))
        return std::numeric_limits<int64_t>::max();
    if (llvm::AddOverflow(total, bytes, total))
      return std::numeric_limits<int64_t>::max();
  }
  return total;
}

/// Results that cannot be computed are refused before anything is allocated.
static LogicalResult checkTypes(Operation *op) {
  for (Value result : op->getResults())
    if (!getTensorType(result.getType()))
      return op->emitOpError()
             << "expected results of ranked tensor type with static shape to "
                "interpret, got "
             << result.getType();
  return success();
}

LogicalResult Interpreter::runCall(Operation *op, ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  auto call = cast<CallOpInterface>(op);
  auto callee = dyn_cast_or_null<func::FuncOp>(
      call.resolveCallableInTable(symbols.get()));
  if (!callee || callee.isExternal())
    return op->emitOpError()
           << "expected a call of a function with a body to interpret";
  return interpret(callee, operands, results);
}

LogicalResult Interpreter::executeOp(Operation *op,
                                     ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  if (++numOps > limits.maxOps)
    return emitRefusal(op, rt::ErrorKind::infeasible)
           << "expected at most " << limits.maxOps
           << " executed ops in the interpreter";
  int64_t bytes = 0;
  if (failed(checkTypes(op)) ||
      failed(checkLiveBytes(
          llvm::AddOverflow(liveBytes, countResultBytes(op), bytes)
              ? std::numeric_limits<int64_t>::max()
              : bytes,
          op)))
    return failure();
  size_t first = results.size();
  if (isa<CallOpInterface>(op)) {
    if (failed(runCall(op, operands, results)))
      return failure();
  } else {
    auto evaluation = dyn_cast<graph::EvaluationOpInterface>(op);
    if (!evaluation)
      return graph::emitMissingAnswer(op, graph::Answer::Evaluation);
    if (failed(evaluation.evaluate(operands, *this, results)))
      return failure();
  }
  return checkResults(op, ArrayRef(results).drop_front(first));
}

LogicalResult Interpreter::evaluateOp(Operation *op,
                                      ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  if (depth == 0) {
    forgetBlocks();
    if (failed(verifyStoredElements(op)))
      return failure();
  }
  DepthGuard guard(depth);
  return executeOp(op, operands, results);
}

LogicalResult Interpreter::runOp(Operation *op) {
  if (auto exit = dyn_cast<dist::LeaveOp>(op))
    return leave(exit);
  SmallVector<HostTensor> operands, results;
  if (failed(collectOperands(op, operands)) ||
      failed(executeOp(op, operands, results)))
    return failure();
  if (observer)
    observer(op, results);
  operands.clear();
  for (auto [value, tensor] : llvm::zip_equal(op->getResults(), results))
    if (failed(define(value, std::move(tensor), op)))
      return failure();
  dropDead(op);
  return success();
}

LogicalResult Interpreter::runBlock(Block &block,
                                    ArrayRef<HostTensor> arguments,
                                    SmallVectorImpl<HostTensor> &results) {
  prepare(block);
  for (auto [value, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    if (failed(define(value, tensor, &block.front())))
      return failure();
  if (failed(runOps(block)))
    return failure();
  Operation *end = block.getTerminator();
  if (failed(collectOperands(end, results)))
    return failure();
  dropDead(end);
  return success();
}

LogicalResult Interpreter::runOps(Block &block) {
  dist::LoopRuns loops(block);
  if (loops.empty()) {
    for (Operation &op : block.without_terminator())
      if (failed(runOp(&op)))
        return failure();
    return success();
  }
  // The order is not that of the block, by which values are dropped.
  deadAfter.clear();
  for (const dist::LoopStep &step : loops.getSteps()) {
    if (step.run >= 0 ? failed(runTrips(loops, step.run))
                      : failed(runOp(step.op)))
      return failure();
  }
  for (const dist::LoopRun &run : loops.getRuns())
    for (Operation *op : run.ops)
      for (Value result : op->getResults()) {
        for (const HostTensor &tensor : ofTrips[result].getAll())
          liveBytes -= tensor ? tensor.getNumBytes() : 0;
        ofTrips.erase(result);
      }
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::runTrip(const dist::LoopRuns &loops, int run,
                                   int64_t n) {
  dist::LoopAttr loop = loops.getRuns()[run].loop;
  trips.push_back(loop.getTrip(n));
  LogicalResult status = success();
  for (const dist::LoopStep &step : loops.getSteps(run)) {
    status =
        step.run >= 0 ? runTrips(loops, step.run) : runOfTrip(step.op, loop, n);
    if (failed(status))
      break;
  }
  trips.pop_back();
  return status;
}

LogicalResult Interpreter::runTrips(const dist::LoopRuns &loops, int run) {
  dist::LoopAttr loop = loops.getRuns()[run].loop;
  if (loop.getConditional())
    return runConditional(loops, run);
  for (int64_t n = 0; n < loop.getTrips(); ++n)
    if (failed(runTrip(loops, run, n)))
      return failure();
  return success();
}

/// As long as the condition holds; what is left then is all that leaves.
LogicalResult Interpreter::runConditional(const dist::LoopRuns &loops,
                                          int number) {
  const dist::LoopRun &run = loops.getRuns()[number];
  llvm::MapVector<dist::EnterOp, HostTensor> carried;
  dist::EnterOp condition;
  for (Operation *op : run.ops) {
    auto enter = dyn_cast<dist::EnterOp>(op);
    if (!enter || !enter.isCarry())
      continue;
    SmallVector<HostTensor> start;
    if (failed(collectOperands(enter, start)))
      return failure();
    carried[enter] = start[0];
    if (enter.isCondition())
      condition = enter;
  }
  if (!condition)
    return emitError(run.ops.front()->getLoc())
           << "expected a condition of loop " << run.loop.getName();
  for (int64_t n = 0; carried[condition].getInt(0) != 0; ++n) {
    if (failed(runTrip(loops, number, n)))
      return failure();
    for (auto &[enter, value] : carried)
      value = ofTrips[enter.getNext().getValue()].at({run.loop.getTrip(n)});
  }
  for (auto &[enter, value] : carried) {
    TripValues<HostTensor> &all = ofTrips[enter.getNext().getResult()];
    for (const HostTensor &tensor : all.getAll())
      liveBytes -= tensor ? tensor.getNumBytes() : 0;
    liveBytes += value.getNumBytes();
    all.setLast(value);
  }
  return success();
}

/// One op in the trip that runs as the `n`-th.
LogicalResult Interpreter::runOfTrip(Operation *op, dist::LoopAttr loop,
                                     int64_t n) {
  if (auto exit = dyn_cast<dist::LeaveOp>(op))
    return leaveInTrip(exit, loop);
  SmallVector<HostTensor> operands, results;
  auto enter = dyn_cast<dist::EnterOp>(op);
  if (enter && enter.isCarry() && n > 0) {
    TripNumbers before = trips;
    before.back() = loop.getTrip(n - 1);
    results.push_back(ofTrips[enter.getNext().getValue()].at(before));
  } else if (failed(collectOperands(op, operands))) {
    return failure();
  } else if (enter) {
    results.push_back(enter.isRow() ? takeRow(operands[0], trips.back())
                                    : operands[0]);
  } else if (isa<dist::NextOp>(op)) {
    results.push_back(operands[1]);
  } else if (failed(executeOp(op, operands, results))) {
    return failure();
  }
  return keep(op, loop, results);
}

/// What an op gives in the trips that run.
LogicalResult Interpreter::keep(Operation *op, dist::LoopAttr loop,
                                MutableArrayRef<HostTensor> results) {
  if (observer)
    observer(op, results);
  for (auto [value, tensor] : llvm::zip_equal(op->getResults(), results)) {
    TripValues<HostTensor> &all = ofTrips[value];
    all.prepare(loop);
    HostTensor &own = all.at(trips);
    liveBytes += tensor.getNumBytes() - (own ? own.getNumBytes() : 0);
    peakBytes = std::max(peakBytes, liveBytes);
    own = std::move(tensor);
  }
  return checkLiveBytes(liveBytes, op);
}

FailureOr<HostTensor> Interpreter::evaluateLeave(dist::LeaveOp op) {
  auto all = ofTrips.find(op.getInput());
  if (all == ofTrips.end())
    return op.emitOpError() << "expected a value of each trip, got none";
  return leaveTrips(op, all->second.within(trips));
}

/// What comes out of a loop that is in the running trips.
LogicalResult Interpreter::leaveInTrip(dist::LeaveOp op, dist::LoopAttr loop) {
  FailureOr<HostTensor> result = evaluateLeave(op);
  return failed(result) ? failure() : keep(op, loop, *result);
}

LogicalResult Interpreter::leave(dist::LeaveOp op) {
  FailureOr<HostTensor> result = evaluateLeave(op);
  if (failed(result))
    return failure();
  if (observer)
    observer(op, *result);
  return define(op.getResult(), std::move(*result), op);
}

/// Reports arguments that do not fit those of `block`.
static LogicalResult checkArguments(Operation *op, Block &block,
                                    ArrayRef<HostTensor> arguments) {
  if (arguments.size() != block.getNumArguments())
    return op->emitOpError() << "expected " << block.getNumArguments()
                             << " arguments, got " << arguments.size();
  for (auto [i, tensor] : llvm::enumerate(arguments)) {
    Type type = block.getArgument(i).getType();
    if (isValueOf(tensor, type))
      continue;
    auto diagnostic = op->emitOpError() << "expected argument #" << i
                                        << " of type " << type << ", got ";
    if (tensor)
      return diagnostic << tensor.getType();
    return diagnostic << "nothing";
  }
  return success();
}

LogicalResult
Interpreter::evaluateRegion(Region &region, ArrayRef<HostTensor> arguments,
                            SmallVectorImpl<HostTensor> &results) {
  Operation *parent = region.getParentOp();
  if (!region.hasOneBlock() || region.front().empty())
    return parent->emitOpError() << "expected a region of one block";
  if (depth == 0 && !admitted.contains(parent)) {
    forgetBlocks();
    if (failed(verifyStoredElements(parent)))
      return failure();
  }
  DepthGuard guard(depth);
  if (depth > limits.maxDepth)
    return parent->emitOpError() << "expected regions and calls at most "
                                 << limits.maxDepth << " deep to interpret";
  if (failed(checkArguments(parent, region.front(), arguments)))
    return failure();
  return runBlock(region.front(), arguments, results);
}

LogicalResult Interpreter::interpret(func::FuncOp function,
                                     ArrayRef<HostTensor> arguments,
                                     SmallVectorImpl<HostTensor> &results) {
  if (function.isExternal())
    return function.emitOpError() << "expected a function with a body";
  if (depth == 0)
    forgetBlocks();
  if (admitted.insert(function).second &&
      failed(verifyStoredElements(function)))
    return failure();
  // A call sees none of its caller's values, and must not end them.
  llvm::DenseMap<Value, HostTensor> outer;
  std::swap(outer, values);
  TripNumbers outerTrips = std::exchange(trips, {});
  LogicalResult result = evaluateRegion(function.getBody(), arguments, results);
  for (auto &[value, tensor] : values)
    liveBytes -= tensor.getNumBytes();
  std::swap(outer, values);
  trips = outerTrips;
  return result;
}
