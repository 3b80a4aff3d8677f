//===- GridCode.cpp - Code of one thread of a launch ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See GridCode.h.
//
// Test: test/Codegen/CallLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "GridCode.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/KernelMarks.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmc::kernels {

GridCode::GridCode(OpBuilder &builder, func::FuncOp function, bool isWide)
    : builder(builder), function(function), loc(function.getLoc()),
      word(builder.getIntegerType(isWide ? 64 : 32)) {
  auto toWord = [&](Value index) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, word, index);
  };
  unsigned first =
      function.getNumArguments() - dist::KernelOp::kNumCallArguments;
  begin = toWord(function.getArgument(first));
  end = toWord(function.getArgument(first + 1));
  thread = toWord(gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  block = toWord(gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
}

Value GridCode::getBlockRow() { return add(begin, block); }

void GridCode::forRow(int64_t threads, function_ref<void(Value)> body) {
  Value row = add(begin, add(mul(block, threads), thread));
  ifTrue(isLess(row, end), [&] { body(row); });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value GridCode::constant(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(word, value));
}

Value GridCode::constant(Type type, double value) {
  TypedAttr attribute =
      isa<FloatType>(type)
          ? TypedAttr(builder.getFloatAttr(type, value))
          : TypedAttr(builder.getIntegerAttr(type, int64_t(value)));
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value GridCode::add(Value a, Value b) {
  if (matchPattern(a, m_Zero()))
    return b;
  if (matchPattern(b, m_Zero()))
    return a;
  return arith::AddIOp::create(builder, loc, a, b);
}

Value GridCode::sub(Value a, Value b) {
  return arith::SubIOp::create(builder, loc, a, b);
}

Value GridCode::mul(Value a, int64_t factor) {
  if (factor == 1)
    return a;
  return factor == 0 ? constant(0) : mul(a, constant(factor));
}

Value GridCode::mul(Value a, Value b) {
  return arith::MulIOp::create(builder, loc, a, b);
}

Value GridCode::div(Value a, int64_t divisor) {
  return divisor == 1 ? a
                      : Value(arith::DivUIOp::create(builder, loc, a,
                                                     constant(divisor)));
}

Value GridCode::rem(Value a, int64_t divisor) {
  return divisor == 1 ? constant(0)
                      : Value(arith::RemUIOp::create(builder, loc, a,
                                                     constant(divisor)));
}

Value GridCode::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, predicate, a, b);
}

Value GridCode::both(Value a, Value b) {
  return arith::AndIOp::create(builder, loc, a, b);
}

Value GridCode::either(Value a, Value b) {
  return arith::OrIOp::create(builder, loc, a, b);
}

Value GridCode::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value GridCode::toWidth(Value integer, Type type) {
  unsigned from = integer.getType().getIntOrFloatBitWidth(),
           to = type.getIntOrFloatBitWidth();
  if (from == to)
    return integer;
  return from < to
             ? Value(arith::ExtUIOp::create(builder, loc, type, integer))
             : Value(arith::TruncIOp::create(builder, loc, type, integer));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value GridCode::toIndex(Value at) {
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), at);
}

Value GridCode::load(Value memory, Value at) {
  return memref::LoadOp::create(builder, loc, memory, toIndex(at));
}

Value GridCode::loadIf(Value condition, Value memory, Value at) {
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  auto guarded = scf::IfOp::create(builder, loc, TypeRange(element), condition,
                                   /*addThenBlock=*/true,
                                   /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  scf::YieldOp::create(builder, loc, load(memory, at));
  builder.setInsertionPointToStart(guarded.elseBlock());
  scf::YieldOp::create(builder, loc, constant(element, 0));
  return guarded.getResult(0);
}

Values GridCode::loadRun(Value memory, Value at, int64_t count) {
  if (count == 1)
    return {load(memory, at)};
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  Value run = vector::LoadOp::create(
      builder, loc, VectorType::get({count}, element), memory, toIndex(at));
  Values values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(vector::ExtractOp::create(builder, loc, run, i));
  return values;
}

void GridCode::store(Value value, Value memory, Value at) {
  memref::StoreOp::create(builder, loc, value, memory, toIndex(at));
}

void GridCode::storeRun(ArrayRef<Value> values, Value memory, Value at) {
  if (values.size() == 1)
    return store(values[0], memory, at);
  auto type = VectorType::get({static_cast<int64_t>(values.size())},
                              values[0].getType());
  Value run = vector::FromElementsOp::create(builder, loc, type, values);
  vector::StoreOp::create(builder, loc, run, memory, toIndex(at));
}

Value GridCode::makeShared(Type elementType, int64_t size) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type(),
                               MemRefLayoutAttrInterface(), space);
  Value all = gpu::DynamicSharedMemoryOp::create(builder, loc, bytes);
  auto type =
      MemRefType::get({size}, elementType, MemRefLayoutAttrInterface(), space);
  Value shift = arith::ConstantIndexOp::create(builder, loc, sharedBytes);
  sharedBytes += llvm::alignTo(
      size * llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8), 64);
  return memref::ViewOp::create(builder, loc, type, all, shift, ValueRange{});
}

void GridCode::barrier() { gpu::BarrierOp::create(builder, loc); }

Value GridCode::shuffle(Value value, int64_t distance) {
  auto number = [&](int64_t of) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(of));
  };
  Type narrow = builder.getI32Type(), type = value.getType(),
       integer = builder.getIntegerType(type.getIntOrFloatBitWidth());
  Value lane =
      arith::AndIOp::create(builder, loc, toWidth(thread, narrow), number(31));
  Value source = arith::XOrIOp::create(builder, loc, lane, number(distance));
  auto move = [&](Value bits) -> Value {
    return gpu::ShuffleOp::create(builder, loc, toWidth(bits, narrow), source,
                                  number(32), gpu::ShuffleMode::IDX)
        .getShuffleResult();
  };
  Value bits = arith::BitcastOp::create(builder, loc, integer, value);
  Value moved = toWidth(move(bits), integer);
  if (integer != narrow) {
    Value shift =
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
    Value high = move(arith::ShRUIOp::create(builder, loc, bits, shift));
    moved = either(moved, arith::ShLIOp::create(builder, loc,
                                                toWidth(high, integer), shift));
  }
  return arith::BitcastOp::create(builder, loc, type, moved);
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

Values GridCode::loop(Value low, Value high, int64_t step, ValueRange carried,
                      function_ref<Values(Value, ValueRange)> body) {
  auto loop =
      scf::ForOp::create(builder, loc, low, high, constant(step), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  // A loop that carries nothing has its end already.
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, next);
  return Values(loop.getResults());
}

Values GridCode::loopThatStays(Value low, Value high, int64_t step,
                               ValueRange carried,
                               function_ref<Values(Value, ValueRange)> body) {
  Values made = loop(low, high, step, carried, body);
  made.front().getDefiningOp()->setAttr(dist::kStaysLoop,
                                        builder.getUnitAttr());
  return made;
}

void GridCode::ifTrue(Value condition, function_ref<void()> body) {
  auto guarded =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(guarded.thenBlock()->getTerminator());
  body();
}

} // namespace llmc::kernels
