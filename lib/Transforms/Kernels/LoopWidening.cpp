//===- LoopWidening.cpp - Scalar loop bodies as vector code ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each scalar is uniform (the same in all lanes, stays scalar), affine (base +
// lane × step, an index), one of two such by a uniform condition, or varying (a
// vector). Only varying values cost vector instructions; addresses stay scalar,
// so that a load of neighbouring elements is one vector load.
//
// Test: test/Transforms/Kernels/loops.mlir, gpu-loops.mlir,
//       test/Codegen/KernelMovesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "LoopWidening.h"
#include "WriterFaults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;

namespace llmc::kernels {

/// The greatest that is of use: 0 is a multiple of all powers of two.
static constexpr int64_t mostDivisor = 1 << 20;

/// The greatest power of two that divides a constant.
static int64_t getDivisor(const APInt &constant) {
  if (constant.countr_zero() >= llvm::Log2_64(mostDivisor))
    return mostDivisor;
  return int64_t(1) << constant.countr_zero();
}

/// Bits of an integer or index.
static unsigned getBits(Type type) {
  return type.isIndex() ? IndexType::kInternalStorageBitWidth
                        : type.getIntOrFloatBitWidth();
}

/// A power of two that divides the result of `op`, as far as the operands show,
/// also where it wraps around.
static int64_t combineDivisors(Operation &op, ArrayRef<int64_t> divisors) {
  if (isa<arith::MulIOp>(op))
    return std::min(mostDivisor, divisors[0] * divisors[1]);
  if (isa<arith::IndexCastOp, arith::TruncIOp>(op))
    return divisors[0];
  if (isa<arith::SelectOp>(op))
    return std::min(divisors[1], divisors[2]);
  if (isa<arith::AddIOp, arith::SubIOp, arith::RemUIOp>(op))
    return std::min(divisors[0], divisors[1]);
  return 1;
}

/// Of a constant, or what is computed in front of the block.
int64_t LoopWidening::findDivisor(Value scalar) {
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant)))
    return getDivisor(constant);
  Operation *op = scalar.getDefiningOp();
  if (!op || !scalar.getType().isIntOrIndex())
    return 1;
  SmallVector<int64_t> divisors;
  for (Value operand : op->getOperands())
    divisors.push_back(get(operand).affine.divisor);
  return combineDivisors(*op, divisors);
}

LoopWidening::Lanes LoopWidening::get(Value scalar) {
  auto it = lanes.find(scalar);
  if (it != lanes.end())
    return it->second;
  Lanes around{{scalar, 0, findDivisor(scalar)}, Value(), {}, Value()};
  lanes[scalar] = around;
  return around;
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

Value LoopWidening::makeVector(const Affine &affine) {
  Location loc = affine.base.getLoc();
  auto type = VectorType::get({width}, affine.base.getType());
  Value result =
      vector::BroadcastOp::create(builder, loc, type, affine.base).getResult();
  if (affine.step != 0)
    result = arith::AddIOp::create(builder, loc, result,
                                   makeSteps(builder, loc, type, affine.step));
  return result;
}

Value LoopWidening::getVector(Value scalar) {
  Lanes entry = get(scalar);
  if (entry.vector)
    return entry.vector;
  Value vector = makeVector(entry.affine);
  if (!entry.condition)
    return vector;
  return arith::SelectOp::create(builder, scalar.getLoc(), entry.condition,
                                 vector, makeVector(entry.otherwise));
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Whether no multiple of `limit` lies between the lanes, also where they have
/// a sign: they are neighbours, and the first of them and `limit` are multiples
/// of the width.
bool LoopWidening::isRun(const Affine &affine, const Affine &limit) const {
  return affine.step == 1 && limit.step == 0 && llvm::isPowerOf2_64(width) &&
         getBits(affine.base.getType()) > llvm::Log2_64(width) &&
         affine.divisor % width == 0 && limit.divisor % width == 0;
}

/// What the result grows by from lane to lane: that of sums, differences,
/// multiples by constants and casts; that of quotients, remainders and
/// comparisons by multiples of the width.
std::optional<int64_t> LoopWidening::getStep(Operation &op,
                                             ArrayRef<Affine> operands) const {
  if (llvm::all_of(operands, [](const Affine &each) { return !each.step; }))
    return 0;
  const Affine &left = operands[0], &right = operands.back();
  if (isa<arith::IndexCastOp, arith::TruncIOp>(op)) {
    // A wider one would show where the lanes wrap around.
    bool isWider = getBits(op.getResult(0).getType()) >
                   getBits(op.getOperand(0).getType());
    return isWider ? std::nullopt : std::optional(left.step);
  }
  if (isa<arith::AddIOp>(op))
    return left.step + right.step;
  if (isa<arith::SubIOp>(op))
    return left.step - right.step;
  if (isa<arith::MulIOp>(op)) {
    APInt factor;
    if ((left.step && right.step) ||
        !matchPattern(left.step ? right.base : left.base,
                      m_ConstantInt(&factor)))
      return std::nullopt;
    return (left.step ? left.step : right.step) * factor.getSExtValue();
  }
  if (isa<arith::DivUIOp, arith::RemUIOp>(op) && isRun(left, right))
    return isa<arith::RemUIOp>(op) ? 1 : 0;
  auto comparison = dyn_cast<arith::CmpIOp>(op);
  using Predicate = arith::CmpIPredicate;
  if (comparison && isRun(left, right) &&
      llvm::is_contained(
          {Predicate::ult, Predicate::uge, Predicate::slt, Predicate::sge},
          comparison.getPredicate()))
    return 0;
  return std::nullopt;
}

/// `op` of the first lane, where this and a step say all of them.
std::optional<LoopWidening::Affine>
LoopWidening::apply(Operation &op, ArrayRef<Affine> operands) {
  std::optional<int64_t> step = getStep(op, operands);
  if (!step)
    return std::nullopt;
  IRMapping mapping;
  SmallVector<int64_t> divisors;
  for (auto [operand, affine] : llvm::zip(op.getOperands(), operands)) {
    mapping.map(operand, affine.base);
    divisors.push_back(affine.divisor);
  }
  Operation *copy = builder.clone(op, mapping);
  return Affine{copy->getResult(0), *step, combineDivisors(op, divisors)};
}

void LoopWidening::cloneUniform(Operation &op) {
  IRMapping mapping;
  SmallVector<int64_t> divisors;
  for (Value operand : op.getOperands()) {
    mapping.map(operand, get(operand).affine.base);
    divisors.push_back(get(operand).affine.divisor);
  }
  Operation *copy = builder.clone(op, mapping);
  APInt constant;
  int64_t divisor = matchPattern(copy, m_ConstantInt(&constant))
                        ? getDivisor(constant)
                        : combineDivisors(op, divisors);
  for (auto [old, fresh] : llvm::zip(op.getResults(), copy->getResults()))
    lanes[old] = {{fresh, 0, divisor}, Value(), {}, Value()};
}

/// Where the operands' lanes are affine, or chosen by one condition, and the
/// result's are. Returns false where they are not.
bool LoopWidening::widenIndexMath(Operation &op) {
  if (op.getNumResults() != 1 || op.getNumOperands() > 2)
    return false;
  Lanes result;
  SmallVector<Affine> then, otherwise;
  for (Value operand : op.getOperands()) {
    Lanes entry = get(operand);
    if (entry.vector || (entry.condition && result.condition &&
                         entry.condition != result.condition))
      return false;
    if (entry.condition)
      result.condition = entry.condition;
    then.push_back(entry.affine);
    otherwise.push_back(entry.condition ? entry.otherwise : entry.affine);
  }
  std::optional<Affine> affine = apply(op, then), other;
  if (affine && result.condition)
    other = apply(op, otherwise);
  if (!affine || (result.condition && !other))
    return false;
  result.affine = *affine;
  if (other)
    result.otherwise = *other;
  lanes[op.getResult(0)] = result;
  return true;
}

/// One of two affine indices by a condition that all lanes share.
bool LoopWidening::widenChoice(Operation &op) {
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select || !select.getType().isIndex())
    return false;
  Lanes condition = get(select.getCondition()),
        then = get(select.getTrueValue()),
        otherwise = get(select.getFalseValue());
  if (!condition.isUniform() || !then.isAffine() || !otherwise.isAffine())
    return false;
  lanes[select] = {then.affine, condition.affine.base, otherwise.affine, {}};
  return true;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// None where only that of an element is known.
llvm::MaybeAlign LoopWidening::getAlignment(Value memory) const {
  if (!alignedBytes)
    return std::nullopt;
  auto type = cast<MemRefType>(memory.getType());
  uint64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8),
           wide = llvm::PowerOf2Ceil(bytes * width);
  if (isa<BlockArgument>(memory))
    wide = std::gcd(wide, bytes * type.getNumElements());
  return llvm::Align(wide);
}

/// Whether the elements at an index are one access of all lanes.
bool LoopWidening::isAccess(Value memory, const Affine &index) const {
  if (index.step != 1 || !alignedBytes)
    return index.step == 1;
  auto type = cast<MemRefType>(memory.getType());
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  return bytes * width <= alignedBytes &&
         (index.divisor % width == 0 ||
          isSeeded(WriterFault::widthIgnoresTheRow));
}

static Value gather(OpBuilder &builder, Location loc, VectorType type,
                    Value memory, Value indices) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto maskType = type.clone(builder.getI1Type());
  Value mask = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(maskType, true));
  Value rest =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return vector::GatherOp::create(builder, loc, type, memory, ValueRange{zero},
                                  indices, mask, rest);
}

/// The elements at an index: neighbours, one that all lanes share, or gathered
/// where accesses are as they come; else null.
Value LoopWidening::loadAt(Operation &op, const Affine &index) {
  auto load = cast<memref::LoadOp>(op);
  Location loc = op.getLoc();
  Value memory = get(load.getMemRef()).affine.base;
  auto type = VectorType::get({width}, load.getType());
  if (index.step == 0)
    return makeVector(
        {memref::LoadOp::create(builder, loc, memory, index.base)});
  if (!isAccess(memory, index))
    return alignedBytes ? Value()
                        : gather(builder, loc, type, memory, makeVector(index));
  isWide = true;
  return vector::LoadOp::create(builder, loc, type, memory,
                                ValueRange{index.base},
                                /*nontemporal=*/false, getAlignment(memory));
}

/// The elements at one of two indices by a condition that all lanes share.
Value LoopWidening::loadChoice(Operation &op, const Lanes &index) {
  auto type = VectorType::get({width}, op.getResult(0).getType());
  auto branch = scf::IfOp::create(builder, op.getLoc(), type, index.condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  std::array<Affine, 2> sides{index.affine, index.otherwise};
  for (auto [region, side] : llvm::zip(branch->getRegions(), sides)) {
    builder.setInsertionPointToStart(&region.front());
    Value loaded = loadAt(op, side);
    if (!loaded)
      return {};
    scf::YieldOp::create(builder, op.getLoc(), loaded);
  }
  return branch.getResult(0);
}

LogicalResult LoopWidening::widenLoad(Operation &op) {
  auto load = cast<memref::LoadOp>(op);
  auto buffer = laneBuffers.find(load.getMemRef());
  if (buffer != laneBuffers.end()) {
    mapVector(load.getResult(), buffer->second);
    return success();
  }
  Lanes index = get(load.getIndices()[0]);
  Value loaded;
  if (index.condition)
    loaded = loadChoice(op, index);
  else if (!index.vector)
    loaded = loadAt(op, index.affine);
  else if (!alignedBytes)
    loaded =
        gather(builder, op.getLoc(), VectorType::get({width}, load.getType()),
               get(load.getMemRef()).affine.base, index.vector);
  if (!loaded)
    return failure();
  mapVector(load.getResult(), loaded);
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
  Value memory = get(store.getMemRef()).affine.base;
  if (!index.isAffine() || !isAccess(memory, index.affine))
    return failure();
  isWide = true;
  vector::StoreOp::create(builder, op.getLoc(),
                          getVector(store.getValueToStore()), memory,
                          ValueRange{index.affine.base}, /*nontemporal=*/false,
                          getAlignment(memory));
  return success();
}

/// A guarded store whose guard is the same for all lanes.
LogicalResult LoopWidening::widenIf(Operation &op) {
  auto branch = cast<scf::IfOp>(op);
  Lanes condition = get(branch.getCondition());
  if (!condition.isUniform() || branch.getNumResults() ||
      !branch.getElseRegion().empty())
    return failure();
  auto wide = scf::IfOp::create(builder, op.getLoc(), condition.affine.base,
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
    return get(operand).isUniform();
  });
  if (!isLoad && !isPure(&op))
    return failure();
  if (uniform && !onLanes) {
    cloneUniform(op);
    return success();
  }
  if (isLoad)
    return widenLoad(op);
  if (widenIndexMath(op) || widenChoice(op))
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

LogicalResult LoopWidening::widen(Block &block, ValueRange buffers,
                                  MutableArrayRef<Value> vectors) {
  for (auto [buffer, vector] : llvm::zip_equal(buffers, vectors))
    laneBuffers[buffer] = vector;
  LogicalResult result = widen(block);
  for (auto [buffer, vector] : llvm::zip_equal(buffers, vectors))
    vector = laneBuffers.lookup(buffer);
  return result;
}

} // namespace llmc::kernels
