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

#include "DeviceScalars.h"
#include "Parts.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
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

namespace {
class DeviceProgram {
public:
  DeviceProgram(func::FuncOp main, Attribute meshOrRef, sdy::MeshAttr mesh)
      : main(main), meshOrRef(meshOrRef), axes(mesh.getAxes()),
        sizes(llvm::map_to_vector(
            axes, [](sdy::MeshAxisAttr axis) { return axis.getSize(); })),
        scalars(sizes) {}

  LogicalResult run();

  DeviceValue getValue(OpBuilder &builder, Value value);
  void setKnown(Value scalar, ArrayRef<int64_t> elements) {
    scalars.set(scalar, elements);
  }
  sdy::TensorShardingAttr withAxes(ArrayRef<unsigned> axes,
                                   ArrayRef<sdy::DimensionShardingAttr> dims,
                                   sdy::TensorShardingAttr like = {});
  sdy::DimensionShardingAttr getDim(ArrayRef<sdy::AxisRefAttr> axes,
                                    bool isClosed);

private:
  LogicalResult visit(Operation *op);
  LogicalResult build(Operation *op, BatchForm &form);
  LogicalResult enter(sdy::ToLocalOp op, BatchForm &form);
  LogicalResult leave(sdy::ToGlobalOp op, BatchForm &form);
  DeviceValue constrain(BatchForm &form, Value input,
                        sdy::TensorShardingAttr sharding);
  bool varies(Operation *op);
  LogicalResult checkBodies(Operation *op);
  LogicalResult checkSizes(Operation *op);
  SmallVector<SmallVector<unsigned, 2>>
  getManualAxes(sdy::TensorShardingAttr sharding, sdy::ManualAxesAttr manual);
  unsigned getAxis(StringRef name) const;

  func::FuncOp main;
  Attribute meshOrRef;
  ArrayRef<sdy::MeshAxisAttr> axes;
  SmallVector<int64_t> sizes;
  DeviceScalars scalars;
  /// What varies; known scalars once an op of another kind reads them.
  llvm::DenseMap<Value, DeviceValue> values;
  /// Ops of one device that others stand for.
  SmallVector<Operation *> replaced;
};

/// One op on its way.
class OpForm : public BatchForm {
public:
  OpForm(OpBuilder &builder, Operation *op, ArrayRef<int64_t> mesh,
         SmallVectorImpl<DeviceValue> &results, DeviceProgram &program)
      : BatchForm(builder, op, mesh, results), program(program) {}

  DeviceValue getValue(Value value) override {
    return program.getValue(builder, value);
  }
  Value repeat(const DeviceValue &value, ArrayRef<unsigned> along) override;
  Value spread(const DeviceValue &scalar, ArrayRef<unsigned> along,
               ArrayRef<int64_t> shape) override;
  DeviceValue place(const DeviceValue &value, ArrayRef<int64_t> whole) override;
  DeviceValue takeFirst(const DeviceValue &value,
                        ArrayRef<unsigned> along) override;
  void setKnown(ArrayRef<int64_t> elements) override {
    program.setKnown(op->getResult(0), elements);
  }

private:
  Value broadcast(Value value, RankedTensorType type, ArrayRef<int64_t> dims);

  DeviceProgram &program;
};

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}
} // namespace

//===----------------------------------------------------------------------===//
// Values of one op
//===----------------------------------------------------------------------===//

/// Broadcasts of broadcasts are one.
Value OpForm::broadcast(Value value, RankedTensorType type,
                        ArrayRef<int64_t> dims) {
  SmallVector<int64_t> places(dims);
  if (auto inner = value.getDefiningOp<stablehlo::BroadcastInDimOp>()) {
    places = llvm::map_to_vector(inner.getBroadcastDimensions(),
                                 [&](int64_t dim) { return dims[dim]; });
    value = inner.getOperand();
  }
  return stablehlo::broadcastInDim(builder, loc, value, type, places);
}

Value OpForm::repeat(const DeviceValue &value, ArrayRef<unsigned> along) {
  if (ArrayRef<unsigned>(value.axes) == along)
    return value.value;
  RankedTensorType type = typeOf(value.value);
  int64_t own = value.axes.size(), count = along.size();
  SmallVector<int64_t> dims = graph::getPlaces(value.axes, along);
  SmallVector<int64_t> shape = getSizes(along);
  for (int64_t d = own; d < type.getRank(); ++d) {
    dims.push_back(d - own + count);
    shape.push_back(type.getDimSize(d));
  }
  return broadcast(value.value, type.clone(shape), dims);
}

Value OpForm::spread(const DeviceValue &scalar, ArrayRef<unsigned> along,
                     ArrayRef<int64_t> shape) {
  SmallVector<int64_t> all = getSizes(along);
  llvm::append_range(all, shape);
  return broadcast(scalar.value, typeOf(scalar.value).clone(all),
                   graph::getPlaces(scalar.axes, along));
}

DeviceValue OpForm::place(const DeviceValue &value, ArrayRef<int64_t> whole) {
  bool isPlaced = !value.varies() || value.value.getDefiningOp<sdy::PlaceOp>();
  if (isPlaced && whole.empty())
    return value;
  int64_t rank = typeOf(value.value).getRank() - value.axes.size();
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (int64_t d = 0; d < rank; ++d)
    dims.push_back(program.getDim({}, llvm::is_contained(whole, d)));
  Value placed =
      sdy::PlaceOp::create(builder, loc, value.value.getType(), value.value,
                           program.withAxes(value.axes, dims));
  return {placed, value.axes};
}

/// A choice and a sum: a slice would bring all values to all devices.
DeviceValue OpForm::takeFirst(const DeviceValue &value,
                              ArrayRef<unsigned> along) {
  DeviceAxes rest = graph::subtractAxes(value.axes, along),
             over = graph::subtractAxes(value.axes, rest);
  if (over.empty())
    return value;
  RankedTensorType type = typeOf(value.value);
  SmallVector<int64_t> dims = graph::getPlaces(over, value.axes);
  Value isFirst;
  for (int64_t dim : dims) {
    auto line =
        RankedTensorType::get(type.getDimSize(dim), builder.getI32Type());
    Value places = stablehlo::iota(builder, loc, line, 0);
    Value here = stablehlo::compare(
        builder, loc, stablehlo::ComparisonDirection::EQ, places,
        stablehlo::constantLike(builder, loc, places, 0));
    here = broadcast(here, type.clone(builder.getI1Type()), dim);
    isFirst =
        isFirst ? stablehlo::logicalAnd(builder, loc, isFirst, here) : here;
  }
  Value zero = stablehlo::constantLike(builder, loc, value.value, 0);
  Value kept = stablehlo::select(builder, loc, isFirst, value.value, zero);
  ReductionKind kind = type.getElementType().isInteger(1) ? ReductionKind::bitOr
                                                          : ReductionKind::sum;
  return {stablehlo::reduce(builder, loc, kind, kept, dims), rest};
}

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

LogicalResult DeviceProgram::enter(sdy::ToLocalOp op, BatchForm &form) {
  DeviceValue value =
      stablehlo::cutDims(form, form.getValue(op.getInput()),
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

bool DeviceProgram::varies(Operation *op) {
  return llvm::any_of(op->getOperands(), [&](Value value) {
    return values.contains(value) || scalars.isKnown(value);
  });
}

/// Bodies of reductions compute with the same values on all devices.
LogicalResult DeviceProgram::checkBodies(Operation *op) {
  if (op->getNumRegions() == 0)
    return success();
  WalkResult result = op->walk([&](Operation *inner) {
    return inner != op && varies(inner) ? WalkResult::interrupt()
                                        : WalkResult::advance();
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
  bool isBoundary = isa<sdy::ToLocalOp, sdy::ToGlobalOp>(op);
  if (failed(checkBodies(op)))
    return failure();
  if (!isBoundary && !isa<graph::DeviceOpInterface>(op) && !varies(op))
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

LogicalResult DeviceProgram::run() {
  Block &block = main.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (isOpTriviallyDead(&op))
      op.erase();
    else if (failed(visit(&op)))
      return failure();
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
