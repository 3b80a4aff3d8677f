//===- DeviceBatch.cpp - From one device's program to that of all ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops between entries and exits of manual regions are those of one device. In
// one walk each becomes what all devices compute (Graph/IR/Batching.h); what
// does not depend on the device stays as it is:
//
//   %a = sdy.to_local %x <@mesh, [{"data"}, {}]> : 8x16 -> 4x16
//   %b = dot %a, %w : (4x16, 16x8) -> 4x8
//   %y = sdy.to_global %b <@mesh, [{"data"}, {}]> : 4x8 -> 8x8
//     ->
//   %a = reshape %x : 8x16 -> 2x4x16, under <@mesh, [{"data"}, {}, {}]>
//   %b = dot %a, %w : (2x4x16, 16x8) -> 2x4x8
//   %y = reshape %b : 2x4x8 -> 8x8
//
// So a region has layouts, derivative, schedule and any mesh like the rest of
// the graph.
//
// Tests: test/Import/StableHLO/manual-*.mlir, test/EndToEnd/manual.test
//===----------------------------------------------------------------------===//

#include "DeviceProgram.h"
#include "Parts.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/DeviceArrangement.h"
#include "llmc/Support/Refusal.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using graph::BatchForm;
using graph::DeviceAxes;
using graph::DeviceValue;
using rt::ErrorKind;

//===----------------------------------------------------------------------===//
// Values and axes
//===----------------------------------------------------------------------===//

DeviceValue DeviceProgram::getValue(OpBuilder &builder, Value value) {
  if (auto found = values.find(value); found != values.end())
    return found->second;
  if (!scalars.isKnown(value))
    return {value, {}};
  return values[value] = scalars.build(builder, value);
}

unsigned DeviceProgram::getAxis(StringRef name) const {
  return llvm::find_if(
             axes,
             [&](sdy::MeshAxisAttr axis) { return axis.getName() == name; }) -
         axes.begin();
}

sdy::DimensionShardingAttr
DeviceProgram::getDim(ArrayRef<sdy::AxisRefAttr> list, bool isClosed) {
  return sdy::DimensionShardingAttr::get(main.getContext(), list, isClosed,
                                         std::nullopt);
}

/// Leading dims on their axes, and `dims` behind them.
sdy::TensorShardingAttr
DeviceProgram::withAxes(ArrayRef<unsigned> along,
                        ArrayRef<sdy::DimensionShardingAttr> dims,
                        sdy::TensorShardingAttr like) {
  MLIRContext *context = main.getContext();
  SmallVector<sdy::DimensionShardingAttr> all;
  for (unsigned axis : along)
    all.push_back(
        getDim(sdy::AxisRefAttr::get(context, axes[axis].getName(), {}), true));
  llvm::append_range(all, dims);
  return sdy::TensorShardingAttr::get(
      context, like ? like.getMeshOrRef() : meshOrRef, all,
      like ? like.getReplicatedAxes() : ArrayRef<sdy::AxisRefAttr>(),
      like ? like.getUnreducedAxes() : ArrayRef<sdy::AxisRefAttr>());
}

/// The manual axes of each dimension.
SmallVector<SmallVector<unsigned, 2>>
DeviceProgram::getManualAxes(sdy::TensorShardingAttr sharding,
                             sdy::ManualAxesAttr manual) {
  SmallVector<SmallVector<unsigned, 2>> lists;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
    auto &list = lists.emplace_back();
    for (sdy::AxisRefAttr axis : dim.getAxes())
      if (manual.contains(axis.getName()))
        list.push_back(getAxis(axis.getName()));
  }
  return lists;
}

//===----------------------------------------------------------------------===//
// Entries, exits, constraints
//===----------------------------------------------------------------------===//

/// What left another region as it enters this one, as states of the forward do
/// that the backward reads, is what it was before it left; nothing of others.
std::optional<DeviceValue> DeviceProgram::getBack(sdy::ToLocalOp op) {
  Value input = op.getInput();
  if (auto place = input.getDefiningOp<sdy::PlaceOp>();
      place && place.getSharding() == op.getSharding())
    input = place.getInput();
  auto known = exits.find(input);
  if (known == exits.end())
    return std::nullopt;
  auto [exit, value] = known->second;
  if (exit.getSharding() != op.getSharding() ||
      exit.getManualAxes() != op.getManualAxes())
    return std::nullopt;
  // Of axes that split nothing one device's value has left.
  DeviceAxes joined;
  for (ArrayRef<unsigned> list :
       getManualAxes(op.getSharding(), op.getManualAxes()))
    joined.append(list.begin(), list.end());
  return graph::subtractAxes(value.axes, joined).empty() ? std::optional(value)
                                                         : std::nullopt;
}

LogicalResult DeviceProgram::enter(sdy::ToLocalOp op, BatchForm &form) {
  std::optional<DeviceValue> back = getBack(op);
  DeviceValue value =
      back ? *back
           : stablehlo::cutDims(
                 form, form.getValue(op.getInput()),
                 getManualAxes(op.getSharding(), op.getManualAxes()));
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (sdy::DimensionShardingAttr dim : op.getSharding().getDimShardings()) {
    SmallVector<sdy::AxisRefAttr> others;
    llvm::copy_if(dim.getAxes(), std::back_inserter(others),
                  [&](sdy::AxisRefAttr axis) {
                    return !op.getManualAxes().contains(axis.getName());
                  });
    dims.push_back(getDim(others, dim.getIsClosed()));
  }
  Value placed = sdy::PlaceOp::create(
      form.builder, form.loc, value.value.getType(), value.value,
      withAxes(value.axes, dims, op.getSharding()));
  form.results.push_back({placed, value.axes});
  return success();
}

LogicalResult DeviceProgram::leave(sdy::ToGlobalOp op, BatchForm &form) {
  auto lists = getManualAxes(op.getSharding(), op.getManualAxes());
  DeviceAxes joined, dropped;
  for (ArrayRef<unsigned> list : lists)
    llvm::append_range(joined, list);
  llvm::sort(joined);
  for (StringAttr axis : op.getManualAxes().getAxes())
    if (!llvm::is_contained(joined, getAxis(axis)))
      dropped.push_back(getAxis(axis));
  DeviceValue value = form.takeFirst(form.getValue(op.getInput()), dropped);
  DeviceAxes along = graph::uniteAxes(value.axes, joined);
  value = {form.repeat(value, along), along};
  form.results.push_back(stablehlo::joinDims(form, value, lists));
  return success();
}

/// The operand of a constraint, with leading dims on their axes.
DeviceValue DeviceProgram::constrain(BatchForm &form, Value input,
                                     sdy::TensorShardingAttr sharding) {
  DeviceValue value = form.getValue(input);
  value.value = sdy::PlaceOp::create(
      form.builder, form.loc, value.value.getType(), value.value,
      withAxes(value.axes, sharding.getDimShardings(), sharding));
  return value;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

bool DeviceProgram::varies(Value value) {
  return values.contains(value) || scalars.isKnown(value);
}

/// Whether the op is one of all devices already.
bool DeviceProgram::isOfAll(Operation *op) {
  return !isa<sdy::ToLocalOp, sdy::ToGlobalOp, graph::DeviceOpInterface>(op) &&
         getCarriedAxes(op).empty() &&
         llvm::none_of(op->getOperands(),
                       [&](Value value) { return varies(value); });
}

/// Bodies of reductions compute with the same values on all devices.
LogicalResult DeviceProgram::checkBodies(Operation *op) {
  if (op->getNumRegions() == 0)
    return success();
  WalkResult result = op->walk([&](Operation *inner) {
    bool isOfDevice =
        inner != op && llvm::any_of(inner->getOperands(),
                                    [&](Value value) { return varies(value); });
    return isOfDevice ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!result.wasInterrupted())
    return success();
  return emitRefusal(op, ErrorKind::unsupported)
         << "expected a body that uses no value which varies along the devices "
            "of a manual region, got one that does";
}

/// What one device has, once for each of them, is a tensor too.
LogicalResult DeviceProgram::checkSizes(Operation *op) {
  int64_t devices = 1;
  for (int64_t size : sizes)
    devices *= size;
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types) {
      int64_t bytes = 8 * devices;
      bool isTooLarge = false;
      for (int64_t size : cast<RankedTensorType>(type).getShape())
        isTooLarge |=
            llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes);
      if (isTooLarge)
        return emitRefusal(op)
               << "expected tensors of less than 2^63 bytes on " << devices
               << " devices, got " << type << " on each";
    }
  return success();
}

LogicalResult DeviceProgram::build(Operation *op, BatchForm &form) {
  if (auto entry = dyn_cast<sdy::ToLocalOp>(op))
    return enter(entry, form);
  if (auto exit = dyn_cast<sdy::ToGlobalOp>(op))
    return leave(exit, form);
  if (isa<sdy::ShardingConstraintOp, sdy::PlaceOp>(op)) {
    auto sharding = op->getAttrOfType<sdy::TensorShardingAttr>("sharding");
    form.results.push_back(constrain(form, op->getOperand(0), sharding));
    return success();
  }
  if (auto model = dyn_cast<graph::DeviceOpInterface>(op))
    return model.buildForDevices(form);
  if (auto model = dyn_cast<graph::BatchingOpInterface>(op))
    return model.buildBatched(form);
  return emitRefusal(op, ErrorKind::unsupported)
         << "expected an op that llmc computes for all devices of a manual "
            "region at once, got one that it does not";
}

LogicalResult DeviceProgram::visit(Operation *op) {
  if (!visited.insert(op).second)
    return success();
  if (failed(checkBodies(op)))
    return failure();
  if (isOfAll(op))
    return success();
  if (failed(checkSizes(op)))
    return failure();
  replaced.push_back(op);
  if (scalars.compute(op))
    return success();
  OpBuilder builder(op);
  constexpr StringLiteral kSharding = "sdy.sharding";
  auto shardings =
      op->getAttrOfType<sdy::TensorShardingPerValueAttr>(kSharding);
  op->removeAttr(kSharding);
  SmallVector<DeviceValue> results;
  OpForm form(builder, op, sizes, results, *this);
  if (failed(build(op, form)))
    return failure();
  if (auto exit = dyn_cast<sdy::ToGlobalOp>(op))
    exits[results.front().value] = {exit, form.getValue(exit.getInput())};
  for (auto [i, value] : llvm::enumerate(results)) {
    Value result = op->getResult(i);
    if (shardings) {
      sdy::TensorShardingAttr sharding = shardings.getShardings()[i];
      value.value = sdy::PlaceOp::create(
          builder, op->getLoc(), value.value.getType(), value.value,
          withAxes(value.axes, sharding.getDimShardings(), sharding));
    }
    if (value.varies())
      values[result] = value;
    else
      result.replaceAllUsesWith(value.value);
  }
  return success();
}

/// Before the first op of a loop, what the loop carries is found, once all is
/// known that stands among its ops and does not depend on them.
LogicalResult DeviceProgram::visitLoop(const dist::LoopRun &run) {
  llvm::DenseSet<Operation *> later(run.ops.begin(), run.ops.end());
  for (Operation *op = run.ops.front(); op != run.ops.back();
       op = op->getNextNode()) {
    bool isLater = llvm::any_of(dist::getAllOperands(op), [&](Value value) {
      return later.contains(value.getDefiningOp());
    });
    if (isLater)
      later.insert(op);
    else if (!later.contains(op) && failed(visit(op)))
      return failure();
  }
  return findCarriedAxes(run);
}

LogicalResult DeviceProgram::run() {
  Block &block = main.getBody().front();
  dist::LoopRuns loops(block);
  // What is built for ops that are visited early is no op of one device.
  auto ofDevice = llvm::map_to_vector(block.without_terminator(),
                                      [](Operation &op) { return &op; });
  for (Operation *op : ofDevice) {
    int number = loops.getRunOf(op);
    if (number >= 0 && op == loops.getRuns()[number].ops.front() &&
        failed(visitLoop(loops.getRuns()[number])))
      return failure();
    if (!visited.contains(op) && isOpTriviallyDead(op))
      op->erase();
    else if (failed(visit(op)))
      return failure();
  }
  for (Operation *op : llvm::reverse(replaced)) {
    if (!op->use_empty())
      return op->emitOpError() << "expected no use outside of manual regions";
    op->erase();
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

rt::Status import::batchDevices(func::FuncOp main) {
  sdy::TensorShardingAttr sharding;
  main.walk([&](Operation *op) {
    if (auto entry = dyn_cast<sdy::ToLocalOp>(op))
      sharding = entry.getSharding();
    if (auto exit = dyn_cast<sdy::ToGlobalOp>(op))
      sharding = exit.getSharding();
  });
  if (!sharding)
    return rt::Status::success();
  FirstError error(*main.getContext());
  if (failed(
          DeviceProgram(main, sharding.getMeshOrRef(), sharding.getMesh(main))
              .run()))
    return error.status(ErrorKind::internal,
                        "a manual region was not expanded");
  // What varied may be constant for each device.
  return expandOps(main);
}
