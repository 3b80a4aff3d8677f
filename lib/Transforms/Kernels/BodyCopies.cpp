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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace llmc::kernels {

/// Bytes of the widest access of a thread, and neighbours at most.
static constexpr int64_t accessBytes = 16, mostNeighbours = 8;

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
  int64_t width = std::min(most, mostNeighbours);
  while (width > 1 && !canWiden(width))
    width /= 2;
  return width;
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
  LoopWidening widening(builder, width);
  bool can = succeeded(widen(widening, request.low, lanes)) &&
             widening.hasWideAccess();
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

LogicalResult BodyCopies::widen(LoopWidening &widening, Value position,
                                MutableArrayRef<Value> lanes) {
  widening.setAligned(accessBytes);
  widening.mapLinear(loop.getInductionVar(), position, widening.getWidth());
  return widening.widen(*loop.getBody(), request.accumulators, lanes);
}

LogicalResult BodyCopies::copy(int64_t width, Value position,
                               MutableArrayRef<Value> lanes) {
  if (width == 1) {
    copyScalar(position, lanes);
    return success();
  }
  LoopWidening widening(builder, width);
  return widen(widening, position, lanes);
}

} // namespace llmc::kernels
