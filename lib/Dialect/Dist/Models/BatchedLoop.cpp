//===- BatchedLoop.cpp - Loops on values of all devices -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all devices compute (Batching.h) of enter, next and leave: the dim
// of rows follows the leading dims in a stack, and comes first in a loop's.
//
//   enter row %x : 12x16 -> 16       of one device
//     ->
//   transpose %x : 4x12x16 -> 12x4x16
//   enter row    : 12x4x16 -> 4x16   of all
//
// Devices that decide for themselves how many trips a loop has are in it until
// all have ended, each with what it ended with:
//
//   condition %c, %y = enter carry %x, next %y, %z      of one device
//     ->
//   condition any %c, %f = enter carry %c, next %y, (select %f, %z, %y)
//
// Test: test/Import/StableHLO/manual-loops.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/Sequence.h"
#include <optional>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::dist;

namespace {
template <typename Model, typename Op>
using Batching = BatchingOpInterface::ExternalModel<Model, Op>;

/// Dim `from` becomes dim `to`.
Value moveDim(BatchForm &form, Value value, int64_t from, int64_t to) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return stablehlo::transpose(form.builder, form.loc, value, order);
}

Value anyOf(BatchForm &form, Value flags) {
  int64_t rank = cast<RankedTensorType>(flags.getType()).getRank();
  return stablehlo::reduce(form.builder, form.loc, ReductionKind::bitOr, flags,
                           llvm::to_vector(llvm::seq<int64_t>(0, rank)));
}

/// Which devices are still in the loop; nothing where they agree.
std::optional<DeviceValue> getFlags(BatchForm &form, LoopAttr loop) {
  if (loop.getConditional())
    for (auto enter : form.op->getBlock()->getOps<EnterOp>())
      if (enter.getLoop() == loop && enter.isCondition())
        if (DeviceValue flags = form.getValue(enter); flags.varies())
          return flags;
  return std::nullopt;
}

/// The devices' conditions are carried beside that of all.
Value enterFlags(BatchForm &form, EnterOp condition, Value flags) {
  LoopAttr loop = condition.getLoop();
  int64_t number = 0;
  for (auto enter : condition->getBlock()->getOps<EnterOp>())
    if (enter.getLoop() == loop && enter.isCarry())
      number = std::max<int64_t>(number, *enter.getNumber() + 1);
  EnterOp::create(form.builder, form.loc, anyOf(form, flags), EnterKind::Carry,
                  loop, LoopAttr::kCondition);
  return EnterOp::create(form.builder, form.loc, flags, EnterKind::Carry, loop,
                         number);
}

struct EnterBatching : Batching<EnterBatching, EnterOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    auto enter = cast<EnterOp>(op);
    DeviceValue input = form.getValue(enter.getInput());
    if (enter.isRow())
      input.value = moveDim(form, input.value, input.axes.size(), 0);
    if (enter.isCarry()) {
      DeviceAxes axes(form.getCarriedAxes());
      input = {form.repeat(input, axes), axes};
      if (enter.isCondition()) {
        form.results.push_back({enterFlags(form, enter, input.value), axes});
        return success();
      }
    }
    Value result =
        EnterOp::create(form.builder, form.loc, input.value, enter.getKind(),
                        enter.getLoop(), enter.getNumber().value_or(-1));
    form.results.push_back({result, input.axes});
    return success();
  }
};

struct NextBatching : Batching<NextBatching, NextOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    auto next = cast<NextOp>(op);
    DeviceValue carried = form.getValue(next.getCarried());
    Value value = form.getAlong(next.getValue(), carried.axes);
    if (std::optional<DeviceValue> flags =
            getFlags(form, next.getEnter().getLoop()))
      value = stayWhereEnded(form, next, *flags, value);
    Value last = NextOp::create(form.builder, form.loc, carried.value, value);
    form.results.push_back({last, carried.axes});
    return success();
  }

  /// What is carried where a device is still in the loop, and where it is not.
  static Value stayWhereEnded(BatchForm &form, NextOp next,
                              const DeviceValue &flags, Value value) {
    OpBuilder &b = form.builder;
    DeviceValue carried = form.getValue(next.getCarried());
    if (next.getEnter().isCondition()) {
      value = stablehlo::logicalAnd(b, form.loc, carried.value, value);
      // That of all devices stands before that of one.
      EnterOp all = findCondition(*next->getBlock(), next.getEnter().getLoop());
      NextOp::create(b, form.loc, all, anyOf(form, value));
      return value;
    }
    auto type = cast<RankedTensorType>(next.getType());
    Value isIn = form.spread(flags, carried.axes, type.getShape());
    return stablehlo::select(b, form.loc, isIn, value, carried.value);
  }
};

struct LeaveBatching : Batching<LeaveBatching, LeaveOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    auto leave = cast<LeaveOp>(op);
    DeviceValue input = form.getValue(leave.getInput());
    Value result = LeaveOp::create(form.builder, form.loc, input.value,
                                   leave.getKind(), leave.getLoop());
    if (leave.isStack())
      result = moveDim(form, result, 0, input.axes.size());
    form.results.push_back({result, input.axes});
    return success();
  }
};
} // namespace

void dist::registerBatchedLoopModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    EnterOp::attachInterface<EnterBatching>(*context);
    NextOp::attachInterface<NextBatching>(*context);
    LeaveOp::attachInterface<LeaveBatching>(*context);
  });
}
