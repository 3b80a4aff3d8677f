//===- SendRows.cpp - Answers of send_rows --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With g the result's cotangent, that of the input is g sent back: what came in
// from row r on is sent from there, to where it had come from. So the lists of
// rows change their places, each as the other side of its slices has it.
//
// Where the members are split, a device has one or several of them. What it has
// are rows of one list, and its slices are those of all its members, which
// count rows over that list:
//
//   2 devices with 2 members each, of n rows and m rows of results
//   member 1 to member 3, from row 5 to row 7
//     ->   device 0 to device 1, from row n + 5 to row m + 7
//
// Where none are split, each row finds the slice in which it lies, and from
// that the row to be read.
//
// Test: test/Dialect/Dist/Models/SendRowsTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::dist;
namespace hlo = llmc::stablehlo;
using hlo::ComparisonDirection;

namespace {
/// The lists of `slices`, in order.
enum List { kFirstRow, kNumRows, kTargetRow, kExpectedRows, kNumLists };

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

SmallVector<int64_t> firstDims(int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(0, count));
}

/// One list: [batch, members, n].
Value takeList(OpBuilder &b, Location loc, Value slices, int64_t list) {
  RankedTensorType type = typeOf(slices);
  int64_t dim = type.getRank() - 2;
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
  starts[dim] = list;
  limits[dim] = list + 1;
  Value one = hlo::slice(b, loc, slices, starts, limits);
  limits.erase(limits.begin() + dim);
  return hlo::reshape(b, loc, one, limits);
}

Value joinLists(OpBuilder &b, Location loc, ArrayRef<Value> lists) {
  SmallVector<Value> all;
  int64_t dim = typeOf(lists.front()).getRank() - 1;
  for (Value list : lists) {
    SmallVector<int64_t> shape(typeOf(list).getShape());
    shape.insert(shape.begin() + dim, 1);
    all.push_back(hlo::reshape(b, loc, list, shape));
  }
  return hlo::concatenate(b, loc, all, dim);
}

/// Entry (i, j, s) of [batch, members, members x s] becomes entry (j, i, s).
Value exchangeSides(OpBuilder &b, Location loc, Value list) {
  SmallVector<int64_t> whole(typeOf(list).getShape()), cut(whole);
  int64_t dim = whole.size() - 2;
  cut.back() = cut[dim];
  cut.push_back(whole.back() / cut[dim]);
  auto order = firstDims(cut.size());
  std::swap(order[dim], order[dim + 1]);
  return hlo::reshape(
      b, loc, hlo::transpose(b, loc, hlo::reshape(b, loc, list, cut), order),
      whole);
}

//===----------------------------------------------------------------------===//
// As a gather
//===----------------------------------------------------------------------===//

/// All members are here.
class GatheredRows {
public:
  GatheredRows(SendRowsOp op, OpBuilder &b)
      : b(b), loc(op.getLoc()), op(op), dim(op.getMembersDim()),
        members(op.getNumMembers()), result(typeOf(op.getResult())) {}

  Value build() {
    auto [row, isSent] = findRows();
    Value read = readRows(row);
    Value mask = hlo::broadcastInDim(
        b, loc, isSent, result.clone(b.getI1Type()), firstDims(dim + 2));
    return hlo::select(b, loc, mask, read, hlo::constantLike(b, loc, read, 0));
  }

private:
  std::pair<Value, Value> findRows();
  Value spread(Value list, RankedTensorType type);
  Value readRows(Value row);

  OpBuilder &b;
  Location loc;
  SendRowsOp op;
  int64_t dim, members;
  RankedTensorType result;
};
} // namespace

/// A list of [batch, to, slices] along [batch, to, rows, slices].
Value GatheredRows::spread(Value list, RankedTensorType type) {
  auto dims = firstDims(dim + 1);
  dims.push_back(dim + 2);
  return hlo::broadcastInDim(b, loc, list, type, dims);
}

/// For each row of the result the number of the row that it is, among those of
/// all members, and whether it is any.
std::pair<Value, Value> GatheredRows::findRows() {
  Value slices = op.getSlices();
  auto incoming = [&](int64_t list) {
    return exchangeSides(b, loc, takeList(b, loc, slices, list));
  };
  Value first = incoming(kFirstRow), start = incoming(kTargetRow);
  Value end = hlo::add(b, loc, start, incoming(kNumRows));
  RankedTensorType list = typeOf(first);
  // Of entry (to, from, s) the rows of members before `from`.
  int64_t rows = typeOf(op.getInput()).getDimSize(dim + 1);
  SmallVector<int64_t> cut(list.getShape());
  cut.back() /= members;
  cut.insert(cut.end() - 1, members);
  Value before = hlo::iota(b, loc, list.clone(cut), dim + 1);
  before = hlo::reshape(b, loc, before, list.getShape());
  before = hlo::mul(b, loc, before, hlo::constantLike(b, loc, before, rows));
  SmallVector<int64_t> shape(result.getShape().take_front(dim + 2));
  shape.push_back(list.getShape().back());
  RankedTensorType type = list.clone(shape);
  Value place = hlo::iota(b, loc, type, dim + 1);
  Value shift = hlo::sub(b, loc, hlo::add(b, loc, first, before), start);
  Value isHere = hlo::logicalAnd(
      b, loc,
      hlo::compare(b, loc, ComparisonDirection::GE, place, spread(start, type)),
      hlo::compare(b, loc, ComparisonDirection::LT, place, spread(end, type)));
  Value from = hlo::add(b, loc, place, spread(shift, type));
  from = hlo::select(b, loc, isHere, from, hlo::constantLike(b, loc, from, 0));
  return {hlo::reduceAdd(b, loc, from, {dim + 2}),
          hlo::reduce(b, loc, ReductionKind::bitOr, isHere, {dim + 2})};
}

/// Rows of each batch, by their numbers among those of all members.
Value GatheredRows::readRows(Value row) {
  RankedTensorType type = typeOf(op.getInput());
  int64_t batch = 1, rows = members * type.getDimSize(dim + 1);
  for (int64_t size : type.getShape().take_front(dim))
    batch *= size;
  SmallVector<int64_t> lines = {batch * rows};
  llvm::append_range(lines, type.getShape().drop_front(dim + 2));
  SmallVector<int64_t> places = {batch, members * result.getDimSize(dim + 1)};
  Value index = hlo::reshape(b, loc, row, places);
  Value before = hlo::iota(b, loc, typeOf(index), 0);
  before = hlo::mul(b, loc, before, hlo::constantLike(b, loc, before, rows));
  index = hlo::add(b, loc, index, before);
  index = hlo::reshape(b, loc, index, {places[0] * places[1], 1});
  SmallVector<int64_t> sizes(lines), offsets, shape(lines);
  sizes[0] = 1;
  shape[0] = places[0] * places[1];
  for (size_t d = 1; d < lines.size(); ++d)
    offsets.push_back(d);
  auto dims = hlo::GatherDimensionNumbersAttr::get(
      b.getContext(), offsets, /*collapsedSliceDims=*/{0},
      /*operandBatchingDims=*/{}, /*startIndicesBatchingDims=*/{},
      /*startIndexMap=*/{0}, /*indexVectorDim=*/1);
  Value read = hlo::gather(b, loc, type.clone(shape),
                           hlo::reshape(b, loc, op.getInput(), lines), index,
                           dims, sizes);
  return hlo::reshape(b, loc, read, result.getShape());
}

//===----------------------------------------------------------------------===//
// Between devices
//===----------------------------------------------------------------------===//

namespace {
/// Each device has `own` members of `devices` times as many.
class DeviceRows {
public:
  DeviceRows(LocalForm &form, SendRowsOp op)
      : form(form), b(form.builder), loc(form.loc), op(op),
        dim(op.getMembersDim()), own(form.getDim(op.getInput(), dim).local),
        devices(op.getNumMembers() / own) {}

  Value build();

private:
  Value buildCounts();
  Value arrange(Value list, bool isOfReceiver);
  Value shift(Value list, int64_t ofMember, int64_t rows);

  LocalForm &form;
  OpBuilder &b;
  Location loc;
  SendRowsOp op;
  int64_t dim, own, devices;
};
} // namespace

/// A list [batch, own, (devices, theirs, s)], by device, sender, receiver: what
/// the device's members send, or what they receive.
Value DeviceRows::arrange(Value list, bool isOfReceiver) {
  SmallVector<int64_t> cut(typeOf(list).getShape());
  int64_t each = cut.back() / devices / own;
  cut.pop_back();
  llvm::append_range(cut, ArrayRef<int64_t>{devices, own, each});
  auto order = firstDims(cut.size());
  std::swap(order[dim], order[dim + 1]);
  if (isOfReceiver)
    std::swap(order[dim + 1], order[dim + 2]);
  return hlo::transpose(b, loc, hlo::reshape(b, loc, list, cut), order);
}

/// Rows of one member become those of all of a device: member i's begin at i
/// times `rows`.
Value DeviceRows::shift(Value list, int64_t ofMember, int64_t rows) {
  Value member = hlo::iota(b, loc, typeOf(list), ofMember);
  return hlo::add(
      b, loc, list,
      hlo::mul(b, loc, member, hlo::constantLike(b, loc, member, rows)));
}

Value DeviceRows::buildCounts() {
  Value slices = form.getLocal(op.getSlices());
  SmallVector<Value> lists;
  for (int64_t list = 0; list < kNumLists; ++list)
    lists.push_back(
        arrange(takeList(b, loc, slices, list), list == kExpectedRows));
  lists[kFirstRow] = shift(lists[kFirstRow], dim + 1,
                           typeOf(op.getInput()).getDimSize(dim + 1));
  lists[kTargetRow] = shift(lists[kTargetRow], dim + 2,
                            typeOf(op.getResult()).getDimSize(dim + 1));
  SmallVector<int64_t> shape(typeOf(slices).getShape().take_front(dim));
  shape.push_back(own * typeOf(slices).getShape().back());
  for (Value &list : lists)
    list = hlo::reshape(b, loc, list, shape);
  return joinLists(b, loc, lists);
}

Value DeviceRows::build() {
  Value input = form.getLocal(op.getInput());
  RankedTensorType result = form.getLocalType(op.getResult());
  auto join = [&](RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + dim);
    shape[dim] *= own;
    return shape;
  };
  SmallVector<Attribute> names;
  LayoutAttr layout = getLayout(op.getInput().getType());
  for (AxisAttr axis : layout.getDims()[dim].getAxes())
    names.push_back(axis.getName());
  Value rows = hlo::reshape(b, loc, input, join(typeOf(input)));
  Value sent =
      RaggedAllToAllOp::create(b, loc,
                               TypeRange{RankedTensorType::get(
                                   join(result), result.getElementType())},
                               FlatSymbolRefAttr(), ValueRange{rows},
                               buildCounts(), b.getI64IntegerAttr(dim),
                               b.getArrayAttr(names), FlatSymbolRefAttr())
          .getResults()
          .front();
  return hlo::reshape(b, loc, sent, result.getShape());
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

/// Where a slice of a list lies, and what its other side says of it.
static std::string checkSlice(const HostTensor &slices, int64_t batch,
                              int64_t from, int64_t slice, int64_t rowsIn,
                              int64_t rowsOut) {
  ArrayRef<int64_t> shape = slices.getShape();
  int64_t n = shape.back(), members = shape[shape.size() - 3],
          each = n / members;
  auto at = [&](int64_t member, int64_t list, int64_t i) {
    return slices.getInt(((batch * members + member) * kNumLists + list) * n +
                         i);
  };
  int64_t count = at(from, kNumRows, slice), first = at(from, kFirstRow, slice),
          target = at(from, kTargetRow, slice);
  int64_t expected =
      at(slice / each, kExpectedRows, from * each + slice % each);
  if (count != expected)
    return "expected the " + std::to_string(count) + " rows that member " +
           std::to_string(from) + " sends in slice " + std::to_string(slice) +
           ", got a receiver of " + std::to_string(expected);
  bool isIn = count >= 0 && count <= rowsIn && count <= rowsOut && first >= 0 &&
              target >= 0 && first <= rowsIn - count &&
              target <= rowsOut - count;
  if (count == 0 || isIn)
    return "";
  return "expected slice " + std::to_string(slice) + " of member " +
         std::to_string(from) + " inside " + std::to_string(rowsIn) +
         " rows sent and " + std::to_string(rowsOut) + " received, got " +
         std::to_string(count) + " from row " + std::to_string(first) +
         " to row " + std::to_string(target);
}

namespace {
struct SendRowsAnswers : AnswerDefaults<SendRowsOp> {
  static ShardingRule rule(SendRowsOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType type = typeOf(op.getInput()),
                     slices = typeOf(op.getSlices());
    int64_t members = op.getMembersDim();
    for (int64_t d = 0; d < type.getRank(); ++d) {
      bool isWhole = d == members + 1 || (d == members && !op.getSplit());
      FactorKind kind = isWhole ? FactorKind::Whole : FactorKind::Pass;
      int factor = rule.addFactor(type.getDimSize(d), kind);
      rule.operands[0][d] = {factor};
      if (d <= members)
        rule.operands[1][d] = {factor};
      if (d == members && !op.getSplit())
        rule.distributed.push_back(factor);
      if (d == members + 1)
        factor = rule.addFactor(typeOf(op.getResult()).getDimSize(d), kind);
      rule.results[0][d] = {factor};
    }
    for (int64_t d = members + 1; d < slices.getRank(); ++d)
      rule.operands[1][d] = {
          rule.addFactor(slices.getDimSize(d), FactorKind::Whole)};
    rule.addLinear(ReductionKind::sum, {{0}});
    return rule;
  }

  static LogicalResult distribute(SendRowsOp op, OpBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
    auto clone = cast<SendRowsOp>(builder.clone(*op));
    clone.setSplit(true);
    results.push_back(clone.getResult());
    return success();
  }

  static LogicalResult localize(SendRowsOp op, LocalForm &form) {
    for (int64_t d = 0; d <= op.getMembersDim(); ++d)
      if (LocalDim dim = form.getDim(op.getSlices(), d); dim.isPadded())
        return emitRefusal(op, rt::ErrorKind::unsupported)
               << "expected axes whose devices divide the " << dim.size
               << " devices of the manual region that exchange slices of rows, "
                  "got "
               << dim.extent / dim.local;
    if (!form.getDim(op.getInput(), op.getMembersDim()).isSplit()) {
      cast<SendRowsOp>(form.cloneOp()).setSplit(false);
      return success();
    }
    form.results.push_back(DeviceRows(form, op).build());
    return success();
  }

  static LogicalResult derive(SendRowsOp op, DerivativeCall &call) {
    OpBuilder &b = call.builder;
    Location loc = call.loc;
    SmallVector<Value> lists;
    for (int64_t list = 0; list < kNumLists; ++list)
      lists.push_back(takeList(b, loc, op.getSlices(), list));
    Value back = joinLists(
        b, loc,
        {exchangeSides(b, loc, lists[kTargetRow]), lists[kExpectedRows],
         exchangeSides(b, loc, lists[kFirstRow]), lists[kNumRows]});
    call.gradients[0] =
        SendRowsOp::create(b, loc, op.getInput().getType(), call.cotangents[0],
                           back, op.getSplit());
    return success();
  }

  static KernelForm form(SendRowsOp) { return KernelForm::Decompose; }
  static LogicalResult decompose(SendRowsOp op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    results.push_back(GatheredRows(op, b).build());
    return success();
  }

  static LogicalResult evaluate(SendRowsOp op, EvaluationCall &call);
};
} // namespace

LogicalResult SendRowsAnswers::evaluate(SendRowsOp op, EvaluationCall &call) {
  const HostTensor &x = call.operands[0], &slices = call.operands[1];
  HostTensor result(typeOf(op.getResult()));
  int64_t dim = op.getMembersDim(), members = op.getNumMembers();
  int64_t n = slices.getShape().back(), each = n / members;
  int64_t rowsIn = x.getShape()[dim + 1], rowsOut = result.getShape()[dim + 1];
  int64_t bytes = x.getStrides()[dim + 1] * x.getElementBytes();
  char *out = result.mutableBytes();
  int64_t lines = slices.getNumElements() / kNumLists;
  for (int64_t line = 0; line < lines; ++line) {
    int64_t slice = line % n, from = line / n % members,
            batch = line / n / members;
    std::string error = checkSlice(slices, batch, from, slice, rowsIn, rowsOut);
    if (!error.empty())
      return emitRefusal(op, rt::ErrorKind::mismatch) << error;
    auto at = [&](List list) {
      return slices.getInt((line / n * kNumLists + list) * n + slice);
    };
    int64_t to = batch * members + slice / each;
    if (int64_t count = at(kNumRows); count > 0 && bytes > 0)
      std::memcpy(out + (to * rowsOut + at(kTargetRow)) * bytes,
                  x.bytes() + (line / n * rowsIn + at(kFirstRow)) * bytes,
                  count * bytes);
  }
  call.results.push_back(std::move(result));
  return success();
}

void dist::registerSendRowsModels(DialectRegistry &registry) {
  registry.insert<stablehlo::StableHLODialect>();
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    context->loadDialect<stablehlo::StableHLODialect>();
    attachAnswers<SendRowsOp, SendRowsAnswers>(context);
  });
}
