//===- LockstepInterpreter.cpp - All devices of a mesh at once ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LockstepInterpreter.h. Functions after localize are straight lines with
// segments one level deep, so a value is dropped when all its uses have run.
//
//===----------------------------------------------------------------------===//

#include "llmc/Interpreter/LockstepInterpreter.h"
#include "LockstepCollectives.h"
#include "LoopValues.h"
#include "TripSteps.h"
#include "llmc/Solvers/Schedules/Schedule.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

LockstepInterpreter::LockstepInterpreter(dist::MeshOp op,
                                         InterpreterLimits limits)
    : mesh(dist::getRuntimeMesh(op)) {
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    evaluators.push_back(std::make_unique<Interpreter>(limits));
    std::vector<int64_t> at = mesh.coordinatesOf(device);
    for (auto [axis, coordinate] : llvm::zip_equal(mesh.axes, at))
      evaluators.back()->setCoordinate(axis.name, coordinate);
  }
}

//===----------------------------------------------------------------------===//
// Where ops run
//===----------------------------------------------------------------------===//

bool LockstepInterpreter::runsAt(const Stages &stages, int64_t device) const {
  return !stages || llvm::is_contained(*stages, mesh.stageOf(device));
}

LockstepInterpreter::Stages
LockstepInterpreter::stagesOf(Operation *op, const Stages &around) const {
  if (mesh.numStages() == 1)
    return std::nullopt;
  if (auto at = op->getAttrOfType<DenseI64ArrayAttr>("dist.at"))
    return llvm::to_vector(at.asArrayRef());
  if (around)
    return around;
  auto block = op->getAttrOfType<IntegerAttr>(DistDialect::kBlock);
  if (block && block.getInt() < static_cast<int64_t>(chunks.size()))
    return SmallVector<int64_t>{
        getStageOfChunk(chunks[block.getInt()], mesh.numStages())};
  return std::nullopt;
}

/// What a segment of a loop yields is there for others as it is.
static Value getYielded(Value value) {
  while (auto segment = value.getDefiningOp<dist::SegmentOp>()) {
    if (!segment.getLoop())
      break;
    value =
        segment.getYield().getOperand(cast<OpResult>(value).getResultNumber());
  }
  return value;
}

const DeviceTensors *LockstepInterpreter::lookup(Operation *op,
                                                 unsigned operand) {
  Value value = op->getOperand(operand);
  if (auto it = values.find(value); it != values.end())
    return &it->second;
  auto all = ofTrips.find(getYielded(value));
  if (all != ofTrips.end() && all->second.isOf(trips) &&
      !all->second.at(trips).empty())
    return &all->second.at(trips);
  op->emitOpError() << "expected a value of operand #" << operand
                    << " before this op, got none";
  return nullptr;
}

InFlightDiagnostic LockstepInterpreter::reportAbsent(Operation *op,
                                                     unsigned operand,
                                                     int64_t device) {
  return op->emitOpError() << "expected operand #" << operand
                           << " to live at device "
                           << describeDevice(mesh, device)
                           << ", where the op runs, got no value";
}

/// Not in trips: the next one reads the same values.
void LockstepInterpreter::release(Operation *op) {
  if (!trips.empty())
    return;
  for (Value operand : op->getOperands())
    if (--usesLeft[operand] == 0)
      values.erase(operand);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult
LockstepInterpreter::runPlain(Operation *op, const Stages &stages,
                              SmallVectorImpl<DeviceTensors> &results) {
  results.assign(op->getNumResults(), DeviceTensors(mesh.numDevices()));
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    if (!runsAt(stages, device))
      continue;
    SmallVector<HostTensor> operands, outputs;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      const DeviceTensors *value = lookup(op, i);
      if (!value)
        return failure();
      if ((*value)[device])
        operands.push_back((*value)[device]);
      else if (stages)
        return reportAbsent(op, i, device);
    }
    if (operands.size() != op->getNumOperands())
      continue;
    if (failed(evaluators[device]->evaluateOp(op, operands, outputs)))
      return failure();
    for (auto [result, output] : llvm::zip_equal(results, outputs))
      result[device] = std::move(output);
  }
  return success();
}

LogicalResult
LockstepInterpreter::runJoin(dist::JoinOp join,
                             SmallVectorImpl<DeviceTensors> &out) {
  DeviceTensors &result = out.emplace_back(mesh.numDevices());
  for (unsigned i = 0; i < join->getNumOperands(); ++i) {
    const DeviceTensors *value = lookup(join, i);
    if (!value)
      return failure();
    for (int64_t device = 0; device < mesh.numDevices(); ++device) {
      if (!(*value)[device])
        continue;
      if (result[device])
        return join.emitOpError()
               << "expected operands that live at different stages, got two "
                  "at device "
               << describeDevice(mesh, device);
      result[device] = (*value)[device];
    }
  }
  // A mark may name stages at which no operand lives: zero there.
  if (Stages stages = stagesOf(join, std::nullopt);
      stages && join->hasAttr("dist.at"))
    for (int64_t device = 0; device < mesh.numDevices(); ++device)
      if (runsAt(stages, device) && !result[device])
        result[device] =
            HostTensor(cast<RankedTensorType>(join.getResult().getType()));
  return success();
}

LogicalResult
LockstepInterpreter::runTransfer(dist::TransferOp transfer,
                                 SmallVectorImpl<DeviceTensors> &out) {
  const DeviceTensors *value = lookup(transfer, 0);
  int32_t axis = mesh.axisNamed(transfer.getAxis().str());
  if (!value)
    return failure();
  if (axis < 0)
    return transfer.emitOpError() << "expected an axis of the mesh, got '"
                                  << transfer.getAxis() << "'";
  DeviceTensors &result = out.emplace_back(mesh.numDevices());
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    std::vector<int64_t> at = mesh.coordinatesOf(device);
    if (at[axis] != static_cast<int64_t>(transfer.getTo()))
      continue;
    at[axis] = transfer.getFrom();
    int64_t sender = mesh.deviceAt(at);
    if (!(*value)[sender])
      return reportAbsent(transfer, 0, sender);
    result[device] = (*value)[sender];
  }
  return success();
}

static FailureOr<SmallVector<int32_t>>
findAxes(dist::CollectiveInterface collective, const rt::Mesh &mesh) {
  SmallVector<int32_t> axes;
  for (auto name : collective.getAxes().getAsRange<StringAttr>()) {
    axes.push_back(mesh.axisNamed(name.str()));
    if (axes.back() < 0)
      return collective->emitOpError()
             << "expected an axis of the mesh, got " << name;
  }
  return axes;
}

/// What the devices have, if there is anything.
static SmallVector<HostTensor> takeOf(const DeviceTensors *values,
                                      ArrayRef<int64_t> devices) {
  SmallVector<HostTensor> tensors;
  if (values)
    for (int64_t device : devices)
      tensors.push_back((*values)[device]);
  return tensors;
}

static LogicalResult reportExchange(dist::CollectiveInterface op, unsigned i,
                                    const std::string &error) {
  // Counts are data of the run.
  if (op.getExchange().counts)
    return emitRefusal(op, rt::ErrorKind::mismatch)
           << "expected slices that fit, got " << error;
  return op->emitOpError() << "cannot exchange operand #" << i << ": " << error;
}

LogicalResult
LockstepInterpreter::runExchange(Operation *op, const Stages &stages,
                                 SmallVectorImpl<DeviceTensors> &results) {
  auto collective = cast<dist::CollectiveInterface>(op);
  FailureOr<SmallVector<int32_t>> axes = findAxes(collective, mesh);
  if (failed(axes))
    return failure();
  bool crossesStages = llvm::is_contained(*axes, mesh.pipelineAxis);
  unsigned numInputs = collective.getInputs().size();
  bool isCounted = bool(collective.getExchange().counts);
  const DeviceTensors *counted = isCounted ? lookup(op, numInputs) : nullptr;
  if (isCounted && !counted)
    return failure();
  results.assign(op->getNumResults(), DeviceTensors(mesh.numDevices()));
  for (unsigned i = 0; i < numInputs; ++i) {
    const DeviceTensors *value = lookup(op, i);
    if (!value)
      return failure();
    for (const std::vector<int64_t> &group : listGroups(mesh, *axes)) {
      SmallVector<HostTensor> inputs(group.size()), outputs(group.size());
      std::optional<int64_t> absent;
      for (auto [input, device] : llvm::zip_equal(inputs, group)) {
        if (!isRead(op, mesh, *axes, device) || !runsAt(stages, device))
          continue;
        input = (*value)[device];
        if (!input && (stages || !crossesStages))
          absent = device;
      }
      bool isIdle = llvm::none_of(inputs, [](auto &x) { return bool(x); });
      if (absent && (stages || !isIdle))
        return reportAbsent(op, i, *absent);
      if (isIdle)
        continue;
      std::string error = exchange(op, mesh, *axes, group, inputs,
                                   takeOf(counted, group), outputs);
      if (!error.empty())
        return reportExchange(collective, i, error);
      for (auto [output, device] : llvm::zip_equal(outputs, group))
        results[i][device] = std::move(output);
    }
  }
  return success();
}

LogicalResult
LockstepInterpreter::checkResults(Operation *op,
                                  ArrayRef<DeviceTensors> results) {
  for (auto [value, tensors] : llvm::zip_equal(op->getResults(), results)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    for (int64_t device = 0; device < mesh.numDevices(); ++device)
      if (tensors[device] && (!type || tensors[device].getType() != type))
        return op->emitOpError()
               << "expected a result of type " << value.getType()
               << " at device " << describeDevice(mesh, device) << ", got "
               << tensors[device].getType();
  }
  return success();
}

LockstepInterpreter::Stages
LockstepInterpreter::stagesOf(dist::SegmentOp segment) const {
  if (mesh.numStages() > 1 && segment.getAt())
    return llvm::to_vector(*segment.getAt());
  if (mesh.numStages() > 1 && segment.getChunk())
    return SmallVector<int64_t>{
        getStageOfChunk(*segment.getChunk(), mesh.numStages())};
  return std::nullopt;
}

LogicalResult LockstepInterpreter::runSegment(dist::SegmentOp segment) {
  if (failed(runBlock(segment.getBody().front(), stagesOf(segment))))
    return failure();
  dist::YieldOp yield = segment.getYield();
  for (unsigned i = 0; i < yield->getNumOperands(); ++i) {
    const DeviceTensors *value = lookup(yield, i);
    if (!value)
      return failure();
    DeviceTensors copy = *value;
    values[segment.getResult(i)] = std::move(copy);
  }
  release(yield);
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// What enters the trip that runs as the `n`-th.
LogicalResult
LockstepInterpreter::runEnter(dist::EnterOp enter, dist::LoopAttr loop,
                              int64_t n, SmallVectorImpl<DeviceTensors> &out) {
  if (enter.isCarry() && n > 0) {
    dist::NextOp next = nexts.lookup(
        {enter.getLoop(), static_cast<int64_t>(*enter.getNumber())});
    TripNumbers before = trips;
    before.back() = loop.getTrip(n - 1);
    out.push_back(ofTrips[getYielded(next.getValue())].at(before));
    return success();
  }
  const DeviceTensors *value = lookup(enter, 0);
  if (!value)
    return failure();
  out.push_back(*value);
  // What enters the loop around stands in segments of the inner one too.
  int64_t level = enter.getLoop().getDepth() - 1;
  if (enter.isRow())
    for (HostTensor &tensor : out.back())
      if (tensor)
        tensor = takeRow(tensor, trips[level]);
  return success();
}

LogicalResult LockstepInterpreter::runOfTrip(Operation *op, dist::LoopAttr loop,
                                             int64_t n, const Stages &stages) {
  SmallVector<DeviceTensors> results;
  ++counts[op->getName().getStringRef()];
  if (auto enter = dyn_cast<dist::EnterOp>(op)) {
    if (failed(runEnter(enter, loop, n, results)))
      return failure();
  } else if (auto next = dyn_cast<dist::NextOp>(op)) {
    const DeviceTensors *value = lookup(op, 1);
    if (!value)
      return failure();
    results.push_back(*value);
    nexts[{loop, static_cast<int64_t>(*next.getEnter().getNumber())}] = next;
  } else if (auto leave = dyn_cast<dist::LeaveOp>(op)) {
    FailureOr<DeviceTensors> result = evaluateLeave(leave);
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  } else if (failed(runAlone(op, stages, results))) {
    return failure();
  }
  if (failed(checkResults(op, results)))
    return failure();
  if (observer)
    observer(op, results);
  for (auto [value, tensors] : llvm::zip_equal(op->getResults(), results))
    ofTrips[value].at(trips) = std::move(tensors);
  return success();
}

LogicalResult LockstepInterpreter::runTrip(const TripSteps &loop, int64_t n) {
  trips.push_back(loop.loop.getTrip(n));
  LogicalResult status = success();
  for (const TripStep &step : loop.steps) {
    status = step.op ? runOfTrip(step.op, loop.loop, n, step.stages)
                     : runLoop(step.inner.front());
    if (failed(status))
      break;
  }
  trips.pop_back();
  return status;
}

LogicalResult LockstepInterpreter::runLoop(const TripSteps &loop) {
  for (const TripStep &step : loop.steps)
    if (step.op)
      for (Value result : step.op->getResults())
        ofTrips[result].prepare(loop.loop);
  if (loop.loop.getConditional())
    return runConditional(loop);
  for (int64_t n = 0; n < loop.loop.getTrips(); ++n)
    if (failed(runTrip(loop, n)))
      return failure();
  return success();
}

/// Whether the flag holds, on all devices that have it.
static FailureOr<bool> readFlag(dist::EnterOp condition,
                                const DeviceTensors &flags) {
  std::optional<bool> holds;
  for (const HostTensor &flag : flags) {
    if (!flag)
      continue;
    bool own = flag.getInt(0) != 0;
    if (holds.value_or(own) != own)
      return condition.emitOpError()
             << "expected a condition that is equal on all devices";
    holds = own;
  }
  if (!holds)
    return condition.emitOpError() << "expected a condition on some device";
  return *holds;
}

/// As long as the condition holds; what is left then is all that leaves.
LogicalResult LockstepInterpreter::runConditional(const TripSteps &loop) {
  llvm::MapVector<dist::EnterOp, DeviceTensors> carried;
  dist::EnterOp condition;
  for (const TripStep &step : loop.steps) {
    auto enter = dyn_cast<dist::EnterOp>(step.op);
    if (!enter || !enter.isCarry())
      continue;
    const DeviceTensors *start = lookup(enter, 0);
    if (!start)
      return failure();
    carried[enter] = *start;
    if (enter.isCondition())
      condition = enter;
  }
  if (!condition)
    return emitError(loop.steps.front().op->getLoc())
           << "expected a condition of loop " << loop.loop.getName();
  for (int64_t n = 0;; ++n) {
    FailureOr<bool> holds = readFlag(condition, carried[condition]);
    if (failed(holds) || (*holds && failed(runTrip(loop, n))))
      return failure();
    if (!*holds)
      break;
    for (auto &[enter, value] : carried)
      value = ofTrips[enter.getNext().getValue()].at({loop.loop.getTrip(n)});
  }
  for (auto &[enter, value] : carried)
    ofTrips[enter.getNext().getResult()].setLast(value);
  return success();
}

FailureOr<DeviceTensors>
LockstepInterpreter::evaluateLeave(dist::LeaveOp leave) {
  auto all = ofTrips.find(getYielded(leave.getInput()));
  if (all == ofTrips.end())
    return leave.emitOpError() << "expected a value of each trip, got none";
  DeviceTensors result(mesh.numDevices());
  for (auto [device, tensor] : llvm::enumerate(result)) {
    SmallVector<HostTensor> own;
    for (const DeviceTensors &tensors : all->second.within(trips))
      own.push_back(tensors[device]);
    if (own.front())
      tensor = leaveTrips(leave, own);
  }
  return result;
}

LogicalResult LockstepInterpreter::runLeave(dist::LeaveOp leave) {
  FailureOr<DeviceTensors> result = evaluateLeave(leave);
  if (failed(result))
    return failure();
  if (observer)
    observer(leave, *result);
  values[leave] = std::move(*result);
  return success();
}

LogicalResult
LockstepInterpreter::runAlone(Operation *op, const Stages &around,
                              SmallVectorImpl<DeviceTensors> &results) {
  if (auto join = dyn_cast<dist::JoinOp>(op))
    return runJoin(join, results);
  if (auto transfer = dyn_cast<dist::TransferOp>(op))
    return runTransfer(transfer, results);
  if (isa<dist::CollectiveInterface>(op))
    return runExchange(op, stagesOf(op, around), results);
  return runPlain(op, stagesOf(op, around), results);
}

LogicalResult LockstepInterpreter::runOp(Operation *op, Stages around) {
  ++counts[op->getName().getStringRef()];
  if (auto segment = dyn_cast<dist::SegmentOp>(op))
    return runSegment(segment);
  if (auto leave = dyn_cast<dist::LeaveOp>(op))
    return runLeave(leave);
  SmallVector<DeviceTensors> results;
  LogicalResult status = runAlone(op, around, results);
  if (failed(status) || failed(checkResults(op, results)))
    return failure();
  if (observer)
    observer(op, results);
  release(op);
  for (auto [value, tensors] : llvm::zip_equal(op->getResults(), results))
    if (!value.use_empty())
      values[value] = std::move(tensors);
  return success();
}

/// Values are not released: the order is not that of the block.
LogicalResult LockstepInterpreter::runSteps(Block &block,
                                            ArrayRef<TripStep> steps) {
  for (Operation &op : block)
    for (Value result : op.getResults())
      usesLeft[result] = std::numeric_limits<int64_t>::max();
  for (const TripStep &step : steps)
    if (step.op ? failed(runOp(step.op, step.stages))
                : failed(runLoop(step.inner.front())))
      return failure();
  return success();
}

LogicalResult LockstepInterpreter::runBlock(Block &block, Stages stages) {
  if (dist::LoopRuns loops(block); !loops.empty())
    return runSteps(block, readSteps(loops, stages));
  if (llvm::any_of(block.getOps<dist::SegmentOp>(),
                   [](dist::SegmentOp segment) { return segment.getLoop(); }))
    return runSteps(block, readSegments(block, [&](dist::SegmentOp segment) {
                      return stagesOf(segment);
                    }));
  for (Operation &op : block) {
    for (Value result : op.getResults())
      usesLeft[result] = std::distance(result.use_begin(), result.use_end());
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(runOp(&op, stages)))
      return failure();
  }
  return success();
}

LogicalResult LockstepInterpreter::run(func::FuncOp function,
                                       ArrayRef<DeviceTensors> arguments,
                                       SmallVectorImpl<DeviceTensors> &results,
                                       ArrayRef<int64_t> chunksOfBlocks) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitOpError() << "expected a function with one block";
  if (failed(verifyStoredElements(function)))
    return failure();
  Block &block = function.getBody().front();
  if (arguments.size() != block.getNumArguments())
    return function.emitOpError() << "expected " << block.getNumArguments()
                                  << " arguments, got " << arguments.size();
  values.clear();
  usesLeft.clear();
  ofTrips.clear();
  nexts.clear();
  chunks = chunksOfBlocks;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments)) {
    for (auto [device, tensor] : llvm::enumerate(value))
      if (tensor && tensor.getType() != argument.getType())
        return function.emitOpError()
               << "expected argument #" << argument.getArgNumber()
               << " of type " << argument.getType() << ", got "
               << tensor.getType();
    usesLeft[argument] =
        std::distance(argument.use_begin(), argument.use_end());
    values[argument] = value;
  }
  if (failed(runBlock(block, std::nullopt)))
    return failure();
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(values[value]);
  values.clear();
  return success();
}
