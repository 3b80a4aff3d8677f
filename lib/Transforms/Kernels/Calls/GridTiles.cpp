//===- GridTiles.cpp - Products of tiles by tensor cores ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See GridCode.h. DeviceOps.cpp of lib/Codegen says what becomes of the ops of
// the nvvm dialect.
//
// Test: test/Codegen/AttendLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "GridCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmc::kernels {

Value GridCode::loadBits(Value condition, Value memory, Value at,
                         int64_t count) {
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  auto bits = VectorType::get({count}, builder.getI16Type());
  auto read = [&]() -> Value {
    Value run = vector::LoadOp::create(
        builder, loc, VectorType::get({count}, element), memory, toIndex(at),
        /*nontemporal=*/false, llvm::MaybeAlign(2 * count));
    return vector::BitCastOp::create(builder, loc, bits, run);
  };
  if (!condition)
    return read();
  auto guarded =
      scf::IfOp::create(builder, loc, TypeRange(bits), condition,
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  scf::YieldOp::create(builder, loc, read());
  builder.setInsertionPointToStart(guarded.elseBlock());
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(bits));
  scf::YieldOp::create(builder, loc, zero);
  return guarded.getResult(0);
}

Values GridCode::pairUp(Value bits) {
  int64_t count = cast<VectorType>(bits.getType()).getDimSize(0) / 2;
  Value words = vector::BitCastOp::create(
      builder, loc, VectorType::get({count}, builder.getI32Type()), bits);
  Values pairs;
  for (int64_t i = 0; i < count; ++i)
    pairs.push_back(vector::ExtractOp::create(builder, loc, words, i));
  return pairs;
}

Values GridCode::pairUp(Value low, Value high) {
  Type word = builder.getI32Type();
  Value shift =
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(16));
  Values pairs;
  int64_t count = cast<VectorType>(low.getType()).getDimSize(0);
  for (int64_t i = 0; i < count; ++i) {
    auto get = [&](Value bits) {
      return toWidth(vector::ExtractOp::create(builder, loc, bits, i), word);
    };
    Value first = get(low);
    Value second = arith::ShLIOp::create(builder, loc, get(high), shift);
    pairs.push_back(either(first, second));
  }
  return pairs;
}

Value GridCode::roundPair(Type type, Value low, Value high) {
  Value pair = vector::FromElementsOp::create(
      builder, loc, VectorType::get({2}, low.getType()), ValueRange{low, high});
  // Of the llvm dialect: others are made integer code for bf16.
  Value rounded =
      LLVM::FPTruncOp::create(builder, loc, VectorType::get({2}, type), pair);
  return LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), rounded);
}

Values GridCode::multiplyTiles(Type type, ArrayRef<Value> a, ArrayRef<Value> b,
                               ArrayRef<Value> sums) {
  using NVVM::MMALayout;
  using NVVM::MMATypes;
  MMATypes ptxType = type.isBF16() ? MMATypes::bf16 : MMATypes::f16;
  // The op takes pairs of bf16 as words, and of f16 as vectors.
  auto take = [&](ArrayRef<Value> pairs) {
    Values taken(pairs);
    if (!type.isBF16())
      for (Value &pair : taken)
        pair = LLVM::BitcastOp::create(builder, loc, VectorType::get({2}, type),
                                       pair);
    return taken;
  };
  Type single = builder.getF32Type();
  Type result = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {single, single, single, single});
  Value made = NVVM::MmaOp::create(builder, loc, result, take(a), take(b), sums,
                                   ArrayRef<int64_t>{16, 8, 16}, std::nullopt,
                                   std::nullopt, std::array{ptxType, ptxType},
                                   std::array{MMALayout::row, MMALayout::col});
  Values next;
  for (int64_t i = 0; i < 4; ++i)
    next.push_back(LLVM::ExtractValueOp::create(builder, loc, made, i));
  return next;
}

} // namespace llmc::kernels
