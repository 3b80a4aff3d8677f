//===- LoopWidening.cpp - Scalar loop bodies as vector code ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each scalar is uniform (the same in all lanes, stays scalar), linear (base +
// lane × step, an index) or varying (a vector). Only varying values cost
// vector instructions; addresses stay scalar, so that a load of neighbouring
// elements is one vector load.
//
// Test: test/Transforms/Kernels/loops.mlir
//
//===----------------------------------------------------------------------===//

#include "LoopWidening.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;

namespace llmc::kernels {

LoopWidening::Lanes LoopWidening::get(Value scalar) const {
  auto it = lanes.find(scalar);
  return it == lanes.end() ? Lanes{Kind::Uniform, scalar, 0, Value()}
                           : it->second;
}

/// 0, step, 2 * step, … as a constant vector.
static Value makeSteps(OpBuilder &builder, Location loc, VectorType type,
                       int64_t step) {
  SmallVector<Attribute> values;
  for (int64_t lane = 0; lane < type.getDimSize(0); ++lane)
    values.push_back(
        builder.getIntegerAttr(type.getElementType(), lane * step));
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, values));
}

Value LoopWidening::getVector(Value scalar) {
  Lanes entry = get(scalar);
  if (entry.kind == Kind::Varying)
    return entry.vector;
  Location loc = scalar.getLoc();
  auto type = VectorType::get({width}, scalar.getType());
  Value result =
      vector::BroadcastOp::create(builder, loc, type, entry.base).getResult();
  if (entry.kind == Kind::Linear)
    result = arith::AddIOp::create(builder, loc, result,
                                   makeSteps(builder, loc, type, entry.step));
  return result;
}

void LoopWidening::cloneUniform(Operation &op) {
  IRMapping mapping;
  for (Value operand : op.getOperands())
    mapping.map(operand, get(operand).base);
  Operation *copy = builder.clone(op, mapping);
  for (auto [old, fresh] : llvm::zip(op.getResults(), copy->getResults()))
    lanes[old] = {Kind::Uniform, fresh, 0, Value()};
}

/// Sums, differences, constant multiples and casts of linear indices are
/// linear. Returns false when `op` is none of these.
bool LoopWidening::widenIndexMath(Operation &op) {
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::IndexCastOp>(op))
    return false;
  SmallVector<Lanes> operands;
  for (Value operand : op.getOperands()) {
    operands.push_back(get(operand));
    if (operands.back().kind == Kind::Varying)
      return false;
  }
  int64_t step = operands[0].step;
  if (isa<arith::AddIOp>(op)) {
    step += operands[1].step;
  } else if (isa<arith::SubIOp>(op)) {
    step -= operands[1].step;
  } else if (isa<arith::MulIOp>(op)) {
    unsigned linear = operands[0].kind == Kind::Linear ? 0 : 1;
    APInt factor;
    if (operands[1 - linear].kind == Kind::Linear ||
        !matchPattern(operands[1 - linear].base, m_ConstantInt(&factor)))
      return false;
    step = operands[linear].step * factor.getSExtValue();
  }
  cloneUniform(op);
  Lanes &result = lanes[op.getResult(0)];
  result.kind = Kind::Linear;
  result.step = step;
  return true;
}

/// None where only that of an element is known.
llvm::MaybeAlign LoopWidening::getAlignment(Value memory) const {
  if (!isAligned)
    return std::nullopt;
  auto type = cast<MemRefType>(memory.getType());
  uint64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8),
           wide = llvm::PowerOf2Ceil(bytes * width);
  if (isa<BlockArgument>(memory))
    wide = std::gcd(wide, bytes * type.getNumElements());
  return llvm::Align(wide);
}

LogicalResult LoopWidening::widenLoad(Operation &op) {
  auto load = cast<memref::LoadOp>(op);
  auto buffer = laneBuffers.find(load.getMemRef());
  if (buffer != laneBuffers.end()) {
    mapVector(load.getResult(), buffer->second);
    return success();
  }
  Lanes index = get(load.getIndices()[0]);
  Value memory = get(load.getMemRef()).base;
  auto type = VectorType::get({width}, load.getType());
  if (index.kind == Kind::Linear && index.step == 1) {
    mapVector(load.getResult(),
              vector::LoadOp::create(
                  builder, op.getLoc(), type, memory, ValueRange{index.base},
                  /*nontemporal=*/false, getAlignment(memory)));
    return success();
  }
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto maskType = VectorType::get({width}, builder.getI1Type());
  Value mask = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(maskType, true));
  Value rest =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  mapVector(load.getResult(), vector::GatherOp::create(
                                  builder, loc, type, memory, ValueRange{zero},
                                  getVector(load.getIndices()[0]), mask, rest));
  return success();
}

LogicalResult LoopWidening::widenStore(Operation &op) {
  auto store = cast<memref::StoreOp>(op);
  auto buffer = laneBuffers.find(store.getMemRef());
  if (buffer != laneBuffers.end()) {
    buffer->second = getVector(store.getValueToStore());
    return success();
  }
  Lanes index = get(store.getIndices()[0]);
  if (index.kind != Kind::Linear || index.step != 1)
    return failure();
  Value memory = get(store.getMemRef()).base;
  vector::StoreOp::create(
      builder, op.getLoc(), getVector(store.getValueToStore()), memory,
      ValueRange{index.base}, /*nontemporal=*/false, getAlignment(memory));
  return success();
}

/// A guarded store whose guard is the same for all lanes.
LogicalResult LoopWidening::widenIf(Operation &op) {
  auto branch = cast<scf::IfOp>(op);
  Lanes condition = get(branch.getCondition());
  if (condition.kind != Kind::Uniform || branch.getNumResults() ||
      !branch.getElseRegion().empty())
    return failure();
  auto wide = scf::IfOp::create(builder, op.getLoc(), condition.base,
                                /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(wide.thenBlock()->getTerminator());
  return widen(*branch.thenBlock());
}

LogicalResult LoopWidening::widenOp(Operation &op) {
  if (isa<scf::IfOp>(op))
    return widenIf(op);
  if (op.getNumRegions())
    return failure();
  if (isa<memref::StoreOp>(op))
    return widenStore(op);
  bool isLoad = isa<memref::LoadOp>(op);
  bool onLanes = isLoad && laneBuffers.count(op.getOperand(0));
  bool uniform = llvm::all_of(op.getOperands(), [&](Value operand) {
    return get(operand).kind == Kind::Uniform;
  });
  if (!isLoad && !isPure(&op))
    return failure();
  if (uniform && !onLanes) {
    cloneUniform(op);
    return success();
  }
  if (isLoad)
    return widenLoad(op);
  if (widenIndexMath(op))
    return success();
  if (!OpTrait::hasElementwiseMappableTraits(&op))
    return failure();
  IRMapping mapping;
  for (Value operand : op.getOperands())
    mapping.map(operand, getVector(operand));
  Operation *copy = builder.clone(op, mapping);
  for (auto [old, fresh] : llvm::zip(op.getResults(), copy->getResults())) {
    fresh.setType(VectorType::get({width}, old.getType()));
    mapVector(old, fresh);
  }
  return success();
}

LogicalResult LoopWidening::widen(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(widenOp(op)))
      return failure();
  return success();
}

} // namespace llmc::kernels
