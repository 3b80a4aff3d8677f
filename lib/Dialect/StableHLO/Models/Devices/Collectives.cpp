//===- Collectives.cpp - Exchanges as ops on values of all devices --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a value has a leading dim for each axis (Batching.h), what devices
// exchange is a reduction or a permutation of these dims. Of 4 devices along an
// axis, each with 8 elements:
//
//   all_reduce            reduce over the dim            4x8 -> 8, for all
//   all_gather            the dim joins another          4x8 -> 32, for all
//   reduce_scatter        reduce, and cut                4x8 -> 8 -> 4x2
//   all_to_all            cut, and transpose             4x8 -> 4x4x2 -> 4x8
//   collective_permute    a route of the dim's rows      4x8 -> 4x8
//   collective_broadcast  its first row                  4x8 -> 8, for all
//   ragged_all_to_all     rows sent along the dim        4x8 -> 4x8
//   partition_id          numbers                        0, 1, 2, 3
//
// Where the result lies on the axis is said (BatchForm::place), and layouts
// make of it the exchange that was written. A result that all devices have in
// common has no dim for the axis, which is why derivatives are right: nothing
// is counted once for each device.
//
// Test: test/Import/StableHLO/manual-collectives.mlir
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "DeviceGroups.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/DeviceArrangement.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
template <typename Model, typename Op>
using OfDevices = DeviceOpInterface::ExternalModel<Model, Op>;

DeviceAxes sorted(ArrayRef<unsigned> axes) {
  DeviceAxes result(axes);
  llvm::sort(result);
  return result;
}

int64_t countMembers(BatchForm &form, ArrayRef<unsigned> axes) {
  int64_t members = 1;
  for (unsigned axis : axes)
    members *= form.mesh[axis];
  return members;
}

/// Emits a refusal where a text's number of parts is not that of a group.
LogicalResult checkMembers(BatchForm &form, ArrayRef<unsigned> axes,
                           int64_t expected, int64_t got) {
  if (expected == got)
    return success();
  return emitRefusal(form.op)
         << "expected a number of parts for the " << countMembers(form, axes)
         << " devices of a group, " << expected << ", got " << got;
}

/// `group` at dim `dim` of a tensor of `rank`, nothing elsewhere.
SmallVector<GroupAxes> atDim(ArrayRef<unsigned> group, int64_t dim,
                             int64_t rank) {
  SmallVector<GroupAxes> lists(rank);
  lists[dim] = GroupAxes(group);
  return lists;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

FailureOr<ReductionKind> getKind(BatchForm &form, Region &body) {
  if (std::optional<ReductionKind> kind = reduceKindOf(body))
    return *kind;
  InFlightDiagnostic diag = emitRefusal(form.op, rt::ErrorKind::unsupported);
  diag << "expected values that one add, multiply, maximum, minimum, and or or "
          "combines, got a body of";
  for (Operation &op : body.front())
    diag << " " << op.getName();
  return failure();
}

/// A sum of equal values is a multiple; extremes and bits are the value itself.
DeviceValue reduceOver(BatchForm &form, DeviceValue value, ReductionKind kind,
                       ArrayRef<unsigned> group) {
  OpBuilder &b = form.builder;
  DeviceAxes lacking = subtractAxes(sorted(group), value.axes);
  if (!lacking.empty() && kind == ReductionKind::product) {
    DeviceAxes all = uniteAxes(value.axes, lacking);
    value = {form.repeat(value, all), all};
  } else if (!lacking.empty() && kind == ReductionKind::sum &&
             !typeOf(value.value).getElementType().isInteger(1)) {
    Value count =
        constantLike(b, form.loc, value.value, countMembers(form, lacking));
    value.value = mul(b, form.loc, value.value, count);
  }
  DeviceAxes over = subtractAxes(value.axes, subtractAxes(value.axes, group));
  Value result =
      reduce(b, form.loc, kind, value.value, getPlaces(over, value.axes));
  return {result, subtractAxes(value.axes, over)};
}

struct AllReduceOfDevices : OfDevices<AllReduceOfDevices, AllReduceOp> {
  LogicalResult buildForDevices(Operation *op, BatchForm &form) const {
    auto all = cast<AllReduceOp>(op);
    FailureOr<GroupAxes> group =
        readGroups(form, all.getReplicaGroups(), all.getChannelHandleAttr(),
                   all.getUseGlobalDeviceIds());
    if (failed(group))
      return failure();
    FailureOr<ReductionKind> kind = getKind(form, all.getComputation());
    if (failed(kind))
      return failure();
    for (Value operand : op->getOperands())
      form.results.push_back(
          reduceOver(form, form.getValue(operand), *kind, *group));
    return success();
  }
};

struct ReduceScatterOfDevices
    : OfDevices<ReduceScatterOfDevices, ReduceScatterOp> {
  LogicalResult buildForDevices(Operation *op, BatchForm &form) const {
    auto scatter = cast<ReduceScatterOp>(op);
    FailureOr<GroupAxes> group = readGroups(form, scatter.getReplicaGroups(),
                                            scatter.getChannelHandleAttr(),
                                            scatter.getUseGlobalDeviceIds());
    if (failed(group))
      return failure();
    FailureOr<ReductionKind> kind = getKind(form, scatter.getComputation());
    if (failed(kind))
      return failure();
    RankedTensorType type = scatter.getOperand().getType();
    int64_t dim = scatter.getScatterDimension();
    if (failed(checkMembers(form, *group, type.getDimSize(dim),
                            scatter.getType().getDimSize(dim) *
                                countMembers(form, *group))))
      return failure();
    DeviceValue terms = form.place(form.getValue(scatter.getOperand()), {});
    DeviceValue sum = reduceOver(form, terms, *kind, *group);
    form.results.push_back(
        form.place(cutDims(form, sum, atDim(*group, dim, type.getRank())), {}));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// The value of each member, also where all have the same. It lies on the axes:
/// what is wanted behind the exchange does not spread to where it comes from.
DeviceValue getOfMembers(BatchForm &form, Value operand,
                         ArrayRef<unsigned> group) {
  DeviceValue value = form.getValue(operand);
  DeviceAxes axes = uniteAxes(value.axes, sorted(group));
  return form.place({form.repeat(value, axes), axes}, {});
}

struct AllGatherOfDevices : OfDevices<AllGatherOfDevices, AllGatherOp> {
  LogicalResult buildForDevices(Operation *op, BatchForm &form) const {
    auto gather = cast<AllGatherOp>(op);
    FailureOr<GroupAxes> group = readGroups(form, gather.getReplicaGroups(),
                                            gather.getChannelHandleAttr(),
                                            gather.getUseGlobalDeviceIds());
    if (failed(group))
      return failure();
    int64_t dim = gather.getAllGatherDim();
    for (auto [operand, result] :
         llvm::zip(op->getOperands(), op->getResults())) {
      if (failed(checkMembers(form, *group,
                              typeOf(operand).getDimSize(dim) *
                                  countMembers(form, *group),
                              typeOf(result).getDimSize(dim))))
        return failure();
      DeviceValue parts = getOfMembers(form, operand, *group);
      form.results.push_back(form.place(
          joinDims(form, parts, atDim(*group, dim, typeOf(operand).getRank())),
          {dim}));
    }
    return success();
  }
};

struct AllToAllOfDevices : OfDevices<AllToAllOfDevices, AllToAllOp> {
  LogicalResult buildForDevices(Operation *op, BatchForm &form) const {
    auto all = cast<AllToAllOp>(op);
    FailureOr<GroupAxes> group = readPartitionGroups(
        form, all.getReplicaGroups(), all.getChannelHandleAttr());
    if (failed(group) ||
        failed(checkMembers(form, *group, countMembers(form, *group),
                            all.getSplitCount())))
      return failure();
    for (Value operand : op->getOperands())
      form.results.push_back(
          form.place(exchange(form, all, operand, *group), {}));
    return success();
  }

  /// The senders' axes become the major part of the concatenated dim, and the
  /// major part of the split dim the receivers' axes.
  static DeviceValue exchange(BatchForm &form, AllToAllOp op, Value operand,
                              ArrayRef<unsigned> group) {
    DeviceValue value = getOfMembers(form, operand, group);
    int64_t split = op.getSplitDimension(), concat = op.getConcatDimension();
    SmallVector<int64_t> shape(typeOf(operand).getShape());
    SmallVector<int64_t> cut = form.getSizes(value.axes);
    SmallVector<DeviceDim> dims;
    for (unsigned axis : value.axes) {
      const unsigned *member = llvm::find(group, axis);
      dims.push_back(member == group.end()
                         ? DeviceDim::ofAxis(axis)
                         : DeviceDim::ofPart(concat, member - group.begin()));
    }
    shape[split] /= op.getSplitCount();
    for (auto [d, size] : llvm::enumerate(shape)) {
      if (static_cast<int64_t>(d) == split)
        for (unsigned axis : group) {
          dims.push_back(DeviceDim::ofAxis(axis));
          cut.push_back(form.mesh[axis]);
        }
      dims.push_back(DeviceDim::ofDim(d));
      cut.push_back(size);
    }
    shape[concat] *= op.getSplitCount();
    Value parts = reshape(form.builder, form.loc, value.value, cut);
    return arrange(form, parts, shape, dims);
  }
};

struct CollectivePermuteOfDevices
    : OfDevices<CollectivePermuteOfDevices, CollectivePermuteOp> {
  LogicalResult buildForDevices(Operation *op, BatchForm &form) const {
    auto permute = cast<CollectivePermuteOp>(op);
    FailureOr<DeviceSources> from = readSources(
        form, permute.getSourceTargetPairs(), permute.getChannelHandleAttr());
    if (failed(from))
      return failure();
    if (llvm::equal(from->sources,
                    llvm::seq<int64_t>(0, from->sources.size()))) {
      form.results.push_back(form.getValue(permute.getOperand()));
      return success();
    }
    if (from->axes.empty()) {
      Value zero =
          constantLike(form.builder, form.loc, permute.getOperand(), 0);
      form.results.push_back({zero, {}});
      return success();
    }
    form.results.push_back(form.place(move(form, permute, *from), {}));
    return success();
  }

  /// The axes are one dim for the route: they stand side by side, or go ahead.
  static DeviceValue move(BatchForm &form, CollectivePermuteOp op,
                          const DeviceSources &from) {
    OpBuilder &b = form.builder;
    DeviceValue value = getOfMembers(form, op.getOperand(), from.axes);
    SmallVector<int64_t> places = getPlaces(from.axes, value.axes);
    int64_t count = places.size(), dim = places.front();
    DeviceAxes order = value.axes;
    if (places.back() != dim + count - 1) {
      dim = 0;
      order = from.axes;
      llvm::append_range(order, subtractAxes(value.axes, from.axes));
    }
    SmallVector<int64_t> permutation = getPlaces(order, value.axes);
    SmallVector<DeviceDim> dims = llvm::map_to_vector(
        order, [](unsigned axis) { return DeviceDim::ofAxis(axis); });
    for (int64_t d = 0; d < op.getType().getRank(); ++d) {
      permutation.push_back(value.axes.size() + d);
      dims.push_back(DeviceDim::ofDim(d));
    }
    Value ordered = transpose(b, form.loc, value.value, permutation);
    SmallVector<int64_t> shape(typeOf(ordered).getShape()), rows(shape);
    rows.erase(rows.begin() + dim, rows.begin() + dim + count);
    rows.insert(rows.begin() + dim, from.sources.size());
    Value joined = reshape(b, form.loc, ordered, rows);
    Value moved = dist::RouteOp::create(b, form.loc, joined.getType(), joined,
                                        dim, from.sources, /*split=*/false);
    return arrange(form, reshape(b, form.loc, moved, shape),
                   op.getType().getShape(), dims);
  }
};

struct CollectiveBroadcastOfDevices
    : OfDevices<CollectiveBroadcastOfDevices, CollectiveBroadcastOp> {
  LogicalResult buildForDevices(Operation *op, BatchForm &form) const {
    auto broadcast = cast<CollectiveBroadcastOp>(op);
    FailureOr<GroupAxes> group = readPartitionGroups(
        form, broadcast.getReplicaGroups(), broadcast.getChannelHandleAttr());
    if (failed(group))
      return failure();
    DeviceValue value = form.getValue(broadcast.getOperand());
    form.results.push_back(form.takeFirst(value, sorted(*group)));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Slices that the run counts
//===----------------------------------------------------------------------===//

class RaggedExchange {
public:
  RaggedExchange(BatchForm &form, RaggedAllToAllOp op, ArrayRef<unsigned> group)
      : form(form), b(form.builder), loc(form.loc), op(op), group(group),
        numSlices(op.getInputOffsets().getType().getDimSize(0)),
        members(countMembers(form, group)) {}

  DeviceValue build();

private:
  bool hasOutput() {
    return !isNeutral(form.getValue(op.getOutput()).value, ReductionKind::sum);
  }
  Value getRows(Value ofDevice);
  Value exchangeLists(Value list);
  Value isReceived(RankedTensorType result);
  Value collectSlices();

  BatchForm &form;
  OpBuilder &b;
  Location loc;
  RaggedAllToAllOp op;
  ArrayRef<unsigned> group;
  int64_t numSlices, members;
  DeviceAxes axes, others;
  /// Input offsets, sizes, output offsets, sizes: [others, members, slices].
  SmallVector<Value> lists;
};

/// What each device has of a value, with the others' axes ahead and one dim
/// for all members behind them.
Value RaggedExchange::getRows(Value ofDevice) {
  Value value = form.place({form.getAlong(ofDevice, axes), axes}, {}).value;
  DeviceAxes order = others;
  llvm::append_range(order, group);
  SmallVector<int64_t> permutation = getPlaces(order, axes);
  SmallVector<int64_t> shape = form.getSizes(others);
  shape.push_back(members);
  RankedTensorType type = typeOf(ofDevice);
  for (int64_t d = 0; d < type.getRank(); ++d) {
    permutation.push_back(axes.size() + d);
    shape.push_back(type.getDimSize(d));
  }
  return reshape(b, loc, transpose(b, loc, value, permutation), shape);
}

/// Of each list the entries for a member, by the member that has the list.
Value RaggedExchange::exchangeLists(Value list) {
  SmallVector<int64_t> whole(typeOf(list).getShape()), cut(whole);
  cut.back() = members;
  cut.push_back(numSlices / members);
  int64_t from = others.size();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, cut.size()));
  std::swap(order[from], order[from + 1]);
  return reshape(b, loc, transpose(b, loc, reshape(b, loc, list, cut), order),
                 whole);
}

/// Where rows come in, of the shape of the result.
Value RaggedExchange::isReceived(RankedTensorType result) {
  Value starts = exchangeLists(lists[2]);
  Value ends = add(b, loc, starts, lists[3]);
  int64_t rows = others.size() + 1;
  SmallVector<int64_t> shape(result.getShape().take_front(rows + 1));
  shape.push_back(numSlices);
  auto type = RankedTensorType::get(shape, typeOf(starts).getElementType());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rows));
  dims.push_back(rows + 1);
  Value row = iota(b, loc, type, rows);
  auto compareWith = [&](Value bound, ComparisonDirection direction) {
    return compare(b, loc, direction, row,
                   broadcastInDim(b, loc, bound, type, dims));
  };
  Value isIn = logicalAnd(b, loc, compareWith(starts, ComparisonDirection::GE),
                          compareWith(ends, ComparisonDirection::LT));
  Value isAny = reduce(b, loc, ReductionKind::bitOr, isIn, {rows + 1});
  dims.back() = rows;
  return broadcastInDim(b, loc, isAny, result.clone(b.getI1Type()), dims);
}

Value RaggedExchange::collectSlices() {
  SmallVector<Value> all;
  for (Value list : {op.getInputOffsets(), op.getSendSizes(),
                     op.getOutputOffsets(), op.getRecvSizes()}) {
    lists.push_back(convertTo(b, loc, getRows(list), b.getIntegerType(64)));
    SmallVector<int64_t> shape(typeOf(lists.back()).getShape());
    shape.insert(shape.end() - 1, 1);
    all.push_back(reshape(b, loc, lists.back(), shape));
  }
  return concatenate(b, loc, all, others.size() + 1);
}

DeviceValue RaggedExchange::build() {
  axes = uniteAxes(form.getAxes(), sorted(group));
  others = subtractAxes(axes, group);
  Value input = getRows(op.getOperand()), slices = collectSlices();
  SmallVector<int64_t> shape(typeOf(input).getShape());
  shape[others.size() + 1] = op.getType().getDimSize(0);
  RankedTensorType type = typeOf(input).clone(shape);
  Value sent = dist::SendRowsOp::create(b, loc, type, input, slices,
                                        /*split=*/false);
  if (hasOutput())
    sent = select(b, loc, isReceived(type), sent, getRows(op.getOutput()));
  DeviceAxes order = others;
  llvm::append_range(order, group);
  SmallVector<DeviceDim> dims = llvm::map_to_vector(
      order, [](unsigned axis) { return DeviceDim::ofAxis(axis); });
  SmallVector<int64_t> cut = form.getSizes(order);
  for (auto [d, size] : llvm::enumerate(op.getType().getShape())) {
    dims.push_back(DeviceDim::ofDim(d));
    cut.push_back(size);
  }
  return arrange(form, reshape(b, loc, sent, cut), op.getType().getShape(),
                 dims);
}

struct RaggedAllToAllOfDevices
    : OfDevices<RaggedAllToAllOfDevices, RaggedAllToAllOp> {
  LogicalResult buildForDevices(Operation *op, BatchForm &form) const {
    auto all = cast<RaggedAllToAllOp>(op);
    FailureOr<GroupAxes> group = readPartitionGroups(
        form, all.getReplicaGroups(), all.getChannelHandleAttr());
    int64_t slices = all.getInputOffsets().getType().getDimSize(0);
    if (failed(group))
      return failure();
    int64_t members = countMembers(form, *group);
    if (failed(checkMembers(form, *group, slices / members * members, slices)))
      return failure();
    form.results.push_back(
        form.place(RaggedExchange(form, all, *group).build(), {}));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Numbers of devices
//===----------------------------------------------------------------------===//

struct PartitionIdOfDevices : OfDevices<PartitionIdOfDevices, PartitionIdOp> {
  LogicalResult buildForDevices(Operation *op, BatchForm &form) const {
    if (failed(verifyOneReplica(op)))
      return failure();
    DeviceAxes all =
        llvm::to_vector<2>(llvm::seq<unsigned>(0, form.mesh.size()));
    form.setKnown(
        llvm::to_vector(llvm::seq<int64_t>(0, countMembers(form, all))));
    return success();
  }
};

struct ReplicaIdOfDevices : OfDevices<ReplicaIdOfDevices, ReplicaIdOp> {
  LogicalResult buildForDevices(Operation *op, BatchForm &form) const {
    if (failed(verifyOneReplica(op)))
      return failure();
    form.results.push_back(
        {constantLike(form.builder, form.loc, op->getResult(0), 0), {}});
    return success();
  }
};
} // namespace

void stablehlo::registerCollectiveModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    AllReduceOp::attachInterface<AllReduceOfDevices>(*context);
    ReduceScatterOp::attachInterface<ReduceScatterOfDevices>(*context);
    AllGatherOp::attachInterface<AllGatherOfDevices>(*context);
    AllToAllOp::attachInterface<AllToAllOfDevices>(*context);
    CollectivePermuteOp::attachInterface<CollectivePermuteOfDevices>(*context);
    CollectiveBroadcastOp::attachInterface<CollectiveBroadcastOfDevices>(
        *context);
    RaggedAllToAllOp::attachInterface<RaggedAllToAllOfDevices>(*context);
    PartitionIdOp::attachInterface<PartitionIdOfDevices>(*context);
    ReplicaIdOp::attachInterface<ReplicaIdOfDevices>(*context);
  });
}
