//===- BodyCopies.cpp - Copies of a loop's scalar body --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BodyCopies.h.
//
// Test: test/Transforms/Kernels/gpu-loops.mlir
//
//===----------------------------------------------------------------------===//

#include "BodyCopies.h"
#include "ElementEvaluator.h"
#include "LoopWidening.h"
#include "WriterFaults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;

namespace llmc::kernels {

namespace {

/// Bytes of the widest access of a thread, and neighbours at most.
constexpr int64_t accessBytes = 16, mostNeighbours = 8;

/// An index as a function of the position of a loop: step × position + a
/// multiple of `divisor`, where positions are multiples of 16.
struct Linear {
  bool isVarying = false;
  int64_t step = 0;
  /// 0 for the index 0.
  int64_t divisor = 1;
};

class IndexAnalysis {
public:
  IndexAnalysis(Value position, Block &body) : body(body) {
    known[position] = {false, 1, accessBytes};
  }
  Linear get(Value index);

private:
  Linear compute(Value index);
  Linear multiply(const Linear &a, const Linear &b, Operation *op);

  Block &body;
  llvm::DenseMap<Value, Linear> known;
};

Linear IndexAnalysis::get(Value index) {
  auto it = known.find(index);
  if (it != known.end())
    return it->second;
  Linear result = compute(index);
  known[index] = result;
  return result;
}

Linear IndexAnalysis::multiply(const Linear &a, const Linear &b,
                               Operation *op) {
  Linear product{false, 0, a.divisor * b.divisor};
  APInt factor;
  if (a.step == 0 && b.step == 0)
    return product;
  const Linear &moving = a.step ? a : b;
  if ((a.step && b.step) ||
      !matchPattern(op->getOperand(a.step ? 1 : 0), m_ConstantInt(&factor)))
    return {true};
  product.step = moving.step * factor.getSExtValue();
  return product;
}

Linear IndexAnalysis::compute(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return {false, 0, std::abs(constant.getSExtValue())};
  Operation *op = index.getDefiningOp();
  if (!op)
    return {body.findAncestorOpInBlock(
                *index.getParentBlock()->getParentOp()) != nullptr};
  SmallVector<Linear> operands;
  bool isVarying = op->getNumRegions() != 0, isMoving = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(get(operand));
    isVarying |= operands.back().isVarying;
    isMoving |= operands.back().step != 0;
  }
  if (isVarying)
    return {true};
  if (isa<arith::AddIOp>(op))
    return {false, operands[0].step + operands[1].step,
            std::gcd(operands[0].divisor, operands[1].divisor)};
  if (isa<arith::SubIOp>(op))
    return {false, operands[0].step - operands[1].step,
            std::gcd(operands[0].divisor, operands[1].divisor)};
  if (isa<arith::MulIOp>(op))
    return multiply(operands[0], operands[1], op);
  if (isa<arith::IndexCastOp>(op))
    return operands[0];
  return {isMoving};
}

} // namespace

LogicalResult BodyCopies::write(LoopBody body) {
  Value one = IndexMath{builder, loc}.constant(1);
  loop = scf::ForOp::create(builder, loc, request.low, request.high, one);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    if (failed(body(loop.getInductionVar())))
      return failure();
  }
  builder.setInsertionPoint(loop);
  return success();
}

void BodyCopies::erase() {
  builder.setInsertionPointAfter(loop);
  loop.erase();
}

bool BodyCopies::hasStores() {
  return loop
      .walk([&](memref::StoreOp store) {
        return llvm::is_contained(request.accumulators, store.getMemRef())
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

int64_t BodyCopies::getWidth(int64_t most) {
  IndexAnalysis indices(loop.getInductionVar(), *loop.getBody());
  int64_t width = std::min(most, mostNeighbours), bytes = 0;
  auto visit = [&](Value memory, Value index, bool isStore) {
    if (llvm::is_contained(request.accumulators, memory))
      return;
    Linear linear = indices.get(index);
    if (!isStore && !linear.isVarying && linear.step == 0)
      return;
    if (linear.isVarying || linear.step != 1) {
      width = 1;
      return;
    }
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    bytes = std::max<int64_t>(
        bytes, llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
    while (linear.divisor % width && !isSeeded(WriterFault::widthIgnoresTheRow))
      width /= 2;
  };
  loop.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      visit(load.getMemRef(), load.getIndices()[0], false);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      visit(store.getMemRef(), store.getIndices()[0], true);
  });
  if (bytes == 0)
    return 1;
  width = std::min(width, std::max<int64_t>(1, accessBytes / bytes));
  return width > 1 && canWiden(width) ? width : 1;
}

/// Tries it, and leaves nothing.
bool BodyCopies::canWiden(int64_t width) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *before = loop->getPrevNode();
  builder.setInsertionPoint(loop);
  SmallVector<Value> lanes;
  for (Value buffer : request.accumulators) {
    auto type = VectorType::get(
        {width}, cast<MemRefType>(buffer.getType()).getElementType());
    lanes.push_back(
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
  }
  bool can = succeeded(copy(width, request.low, lanes));
  while (loop->getPrevNode() != before) {
    loop->getPrevNode()->dropAllUses();
    loop->getPrevNode()->erase();
  }
  return can;
}

void BodyCopies::copyScalar(Value position, MutableArrayRef<Value> lanes) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), position);
  auto find = [&](Value memory) -> Value * {
    auto *at = llvm::find(request.accumulators, memory);
    return at == request.accumulators.end()
               ? nullptr
               : &lanes[at - request.accumulators.begin()];
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto load = dyn_cast<memref::LoadOp>(op);
    auto store = dyn_cast<memref::StoreOp>(op);
    if (Value *lane = load ? find(load.getMemRef()) : nullptr)
      mapping.map(load.getResult(), *lane);
    else if (Value *lane = store ? find(store.getMemRef()) : nullptr)
      *lane = mapping.lookupOrDefault(store.getValueToStore());
    else
      builder.clone(op, mapping);
  }
}

LogicalResult BodyCopies::copy(int64_t width, Value position,
                               MutableArrayRef<Value> lanes) {
  if (width == 1) {
    copyScalar(position, lanes);
    return success();
  }
  LoopWidening widening(builder, width);
  widening.setAligned();
  widening.mapLinear(loop.getInductionVar(), position);
  for (auto [buffer, lane] : llvm::zip(request.accumulators, lanes))
    widening.mapLaneBuffer(buffer, lane);
  LogicalResult result = widening.widen(*loop.getBody());
  for (auto [buffer, lane] : llvm::zip(request.accumulators, lanes))
    lane = widening.getLaneBuffer(buffer);
  return result;
}

} // namespace llmc::kernels
