//===- SpreadMarks.cpp - Groups and barriers become constraints -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   sdy.sharding_group %x group_id=0
//   %z = sdy.propagation_barrier %y allowed_direction=FORWARD
//   ->
//   %x0 = sdy.sharding_constraint %x <mesh<[]>, [{?}, {?}]> {dist.group = 0}
//   %z = sdy.sharding_constraint %y <mesh<[]>, [{?}]> {dist.direction = ...}
//
// All uses of a member see the constraint. Groups that have a member in common
// are one.
//
// Test: test/Import/StableHLO/sharding-groups.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/SpreadMarks.h"
#include "Parts.h"
#include "llmc/Import/Program/Shardings.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

/// Of all dims open, on no mesh.
static sdy::ShardingConstraintOp addOpen(OpBuilder &builder, Location loc,
                                         Value value) {
  MLIRContext *context = builder.getContext();
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<sdy::DimensionShardingAttr> dims(
      rank, sdy::DimensionShardingAttr::get(context, {}, /*isClosed=*/false,
                                            std::nullopt));
  return sdy::ShardingConstraintOp::create(
      builder, loc, value.getType(), value,
      sdy::TensorShardingAttr::get(context, sdy::MeshAttr::get(context, {}, {}),
                                   dims, {}, {}));
}

static rt::Status refuseInRegion(Operation *op) {
  if (!op->getParentOfType<sdy::ManualComputationOp>())
    return rt::Status::success();
  return rt::makeError(ErrorKind::unsupported,
                       describePlace(op->getLoc()) + "expected '" +
                           op->getName().getStringRef().str() +
                           "' outside of manual regions, got one inside");
}

/// Values with the numbers of their groups; those of one value are united.
using Members = llvm::MapVector<Value, int64_t>;

static rt::Status readGroups(func::FuncOp main, Members &members,
                             llvm::EquivalenceClasses<int64_t> &numbers) {
  SmallVector<sdy::ShardingGroupOp> ops;
  main.walk([&](sdy::ShardingGroupOp op) { ops.push_back(op); });
  for (sdy::ShardingGroupOp op : ops) {
    LLMC_TRY(refuseInRegion(op));
    auto group = static_cast<int64_t>(op.getGroupId());
    auto [known, isNew] = members.try_emplace(op.getInput(), group);
    numbers.unionSets(known->second, group);
    op.erase();
  }
  return rt::Status::success();
}

static rt::Status markGroups(func::FuncOp main) {
  Members members;
  llvm::EquivalenceClasses<int64_t> numbers;
  LLMC_TRY(readGroups(main, members, numbers));
  llvm::DenseMap<int64_t, Type> types;
  OpBuilder builder(main.getContext());
  for (auto [value, group] : members) {
    int64_t number = numbers.getLeaderValue(group);
    auto type = cast<RankedTensorType>(value.getType());
    auto other =
        cast<RankedTensorType>(types.try_emplace(number, type).first->second);
    if (other.getShape() != type.getShape())
      return rt::makeError(ErrorKind::diagnosed,
                           describePlace(value.getLoc()) +
                               "expected values of one shape in the sharding "
                               "group " +
                               std::to_string(number) + ", got " + show(other) +
                               " and " + show(type));
    builder.setInsertionPointAfterValue(value);
    auto constraint = addOpen(builder, value.getLoc(), value);
    constraint->setAttr(dist::kGroup, builder.getI64IntegerAttr(number));
    value.replaceAllUsesExcept(constraint, constraint);
  }
  return rt::Status::success();
}

rt::Status import::markSpread(func::FuncOp main) {
  LLMC_TRY(markGroups(main));
  SmallVector<sdy::PropagationBarrierOp> barriers;
  main.walk([&](sdy::PropagationBarrierOp op) { barriers.push_back(op); });
  for (sdy::PropagationBarrierOp op : barriers) {
    LLMC_TRY(refuseInRegion(op));
    OpBuilder builder(op);
    auto constraint = addOpen(builder, op.getLoc(), op.getInput());
    constraint->setAttr(dist::kDirection, op.getAllowedDirectionAttr());
    op.replaceAllUsesWith(constraint.getResult());
    op.erase();
  }
  return rt::Status::success();
}
