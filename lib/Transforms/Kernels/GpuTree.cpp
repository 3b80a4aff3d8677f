//===- GpuTree.cpp - The tree of a reduction over threads -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Number l is combined with number l + n/2, then n/4, … 1: first within a
// thread, while the numbers lie a warp's worth apart, then between threads by
// shuffles, then between the neighbours of a thread. The threads that have no
// number any more combine what they get as well, and nobody asks for it.
//
//   %y = gpu.shuffle idx %x from lane (t + 16) mod 32
//   %x1 = addf %x, %y
//
// Test: test/Codegen/LaneTest.cpp
//
//===----------------------------------------------------------------------===//

#include "GpuWriter.h"
#include "WriterFaults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace llmc::kernels {

static Value makeI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value GpuTree::toScalar(Value memory, unsigned number) {
  Type type = step.getArgument(number).getType();
  if (memory.getType() == type)
    return memory;
  if (type.isInteger() && type.getIntOrFloatBitWidth() < 8)
    return arith::TruncIOp::create(builder, loc, type, memory);
  return arith::BitcastOp::create(builder, loc, type, memory);
}

Value GpuTree::toMemory(Value scalar, Type memory) {
  if (scalar.getType() == memory)
    return scalar;
  if (scalar.getType().isInteger())
    return arith::ExtUIOp::create(builder, loc, memory, scalar);
  return arith::BitcastOp::create(builder, loc, memory, scalar);
}

GpuTree::Values GpuTree::combine(const Values &left, const Values &right) {
  IRMapping mapping;
  Values arguments(left);
  llvm::append_range(arguments, right);
  mapping.map(step.getArguments(), arguments);
  for (Operation &op : step)
    builder.clone(op, mapping);
  return llvm::map_to_vector(
      combined, [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// The bits of a scalar, 32 at a time.
Value GpuTree::shuffle(Value scalar, Value source) {
  Type type = scalar.getType(), word = builder.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto move = [&](Value value) -> Value {
    return gpu::ShuffleOp::create(builder, loc, value, source,
                                  makeI32(builder, loc, GpuWriter::warp),
                                  gpu::ShuffleMode::IDX)
        .getShuffleResult();
  };
  Type integer = builder.getIntegerType(bits);
  Value raw = type == integer
                  ? scalar
                  : arith::BitcastOp::create(builder, loc, integer, scalar);
  if (bits == 64) {
    Value shift =
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
    Value low = move(arith::TruncIOp::create(builder, loc, word, raw));
    Value high = move(arith::TruncIOp::create(
        builder, loc, word, arith::ShRUIOp::create(builder, loc, raw, shift)));
    if (isSeeded(WriterFault::highWordStays))
      high = arith::TruncIOp::create(
          builder, loc, word, arith::ShRUIOp::create(builder, loc, raw, shift));
    high = arith::ShLIOp::create(
        builder, loc, arith::ExtUIOp::create(builder, loc, integer, high),
        shift);
    raw = arith::OrIOp::create(
        builder, loc, arith::ExtUIOp::create(builder, loc, integer, low), high);
  } else if (bits == 32) {
    raw = move(raw);
  } else {
    raw = arith::TruncIOp::create(
        builder, loc, integer,
        move(arith::ExtUIOp::create(builder, loc, word, raw)));
  }
  return type == integer
             ? raw
             : Value(arith::BitcastOp::create(builder, loc, type, raw));
}

GpuTree::Values GpuTree::shuffle(const Values &values, Value source) {
  return llvm::map_to_vector(
      values, [&](Value value) { return shuffle(value, source); });
}

GpuTree::Values GpuTree::combineWarp(SmallVector<Values> lanes, int64_t width) {
  if (isSeeded(WriterFault::neighboursComeFirst))
    width = 1;
  // A warp's worth apart.
  for (size_t half = lanes.size() / 2; half >= size_t(width) && half > 0;
       half /= 2) {
    for (size_t i = 0; i < half; ++i)
      lanes[i] = isSeeded(WriterFault::treePairsNeighbours)
                     ? combine(lanes[2 * i], lanes[2 * i + 1])
                     : combine(lanes[i], lanes[i + half]);
    lanes.resize(half);
  }
  // Between threads.
  Value lane =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), thread);
  Value mask = makeI32(builder, loc, GpuWriter::warp - 1);
  int64_t last = isSeeded(WriterFault::shuffleStopsEarly) ? 2 : 1;
  for (int64_t distance = GpuWriter::warp / 2; distance >= last;
       distance /= 2) {
    Value other = arith::AddIOp::create(
        builder, loc, lane,
        makeI32(builder, loc,
                isSeeded(WriterFault::shuffleGoesNextDoor) ? 1 : distance));
    Value source = arith::AndIOp::create(builder, loc, other, mask);
    for (Values &values : lanes)
      values = combine(values, shuffle(values, source));
  }
  // Between neighbours.
  for (size_t half = lanes.size() / 2; half >= 1; half /= 2)
    for (size_t i = 0; i < half; ++i)
      lanes[i] = combine(lanes[i], lanes[i + half]);
  return shuffle(lanes[0], makeI32(builder, loc, 0));
}

GpuTree::Values GpuTree::combineMemory(ArrayRef<Value> buffers, int64_t size) {
  IndexMath math{builder, loc};
  auto load = [&](Value at) {
    Values values;
    for (auto [number, buffer] : llvm::enumerate(buffers))
      values.push_back(
          toScalar(memref::LoadOp::create(builder, loc, buffer, at), number));
    return values;
  };
  for (int64_t half = size / 2; half >= 1; half /= 2) {
    auto loop = scf::ForOp::create(builder, loc, math.constant(0),
                                   math.constant(half), math.constant(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    Values values = combine(load(at), load(math.add(at, math.constant(half))));
    for (auto [value, buffer] : llvm::zip(values, buffers))
      memref::StoreOp::create(
          builder, loc,
          toMemory(value, cast<MemRefType>(buffer.getType()).getElementType()),
          buffer, at);
  }
  return load(math.constant(0));
}

} // namespace llmc::kernels
