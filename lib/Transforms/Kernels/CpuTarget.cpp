//===- CpuTarget.cpp - Kernels for processors -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop is written once, as scalar code; its vector form is made from that
// (LoopWidening.h) and runs first, the scalar loop does what is left over.
// Both forms of a reduction use the same accumulators, so where the one ends
// and the other begins does not show in the bits.
//
// Test: test/Transforms/Kernels/loops.mlir
//
//===----------------------------------------------------------------------===//

#include "CpuTarget.h"
#include "ElementEvaluator.h"
#include "LoopWidening.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

/// Iterations that run side by side where nothing is reduced: 16 f32 fill one
/// 512-bit register.
constexpr int64_t vectorWidth = 16;

/// Columns of one row of a reduction along columns: the line of sums stays in
/// the nearest cache, and is wide enough for a stream from memory.
constexpr int64_t columnBlock = 128;

class CpuTarget final : public KernelTarget {
public:
  StringRef getName() const override { return "cpu"; }
  bool prefersRows(int64_t columns) const override {
    return columns >= vectorWidth;
  }
  int64_t getColumnBlock() const override { return columnBlock; }

  Value openRows(OpBuilder &builder, Location loc, Value begin,
                 Value end) const override;
  Value makeLocal(OpBuilder &builder, func::FuncOp function, Type elementType,
                  int64_t size) const override;
  LogicalResult emitLoop(OpBuilder &builder, Location loc,
                         const LoopRequest &request,
                         LoopBody body) const override;
  FailureOr<SmallVector<Value>> emitTree(OpBuilder &builder, Location loc,
                                         ArrayRef<Value> buffers, int64_t size,
                                         Block &step,
                                         ValueRange combined) const override;
};

Value CpuTarget::openRows(OpBuilder &builder, Location loc, Value begin,
                          Value end) const {
  Value one = IndexMath{builder, loc}.constant(1);
  auto loop = scf::ForOp::create(builder, loc, begin, end, one);
  builder.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

Value CpuTarget::makeLocal(OpBuilder &builder, func::FuncOp function,
                           Type elementType, int64_t size) const {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  return memref::AllocaOp::create(builder, function.getLoc(),
                                  MemRefType::get({size}, elementType),
                                  builder.getI64IntegerAttr(64));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// A loop that reduces takes as many iterations at a time as there are
/// accumulators.
int64_t getWidth(const LoopRequest &request) {
  return request.accumulators.empty() ? vectorWidth : request.numAccumulators;
}

/// The vector form of `scalar`'s body, in front of it, for [low, middle).
LogicalResult emitWideLoop(OpBuilder &builder, scf::ForOp scalar,
                           const LoopRequest &request, Value middle) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(scalar);
  Location loc = scalar.getLoc();
  IndexMath math{builder, loc};
  int64_t width = getWidth(request);
  Value step = math.constant(width);
  SmallVector<Value> initial;
  Value zero = math.constant(0);
  for (Value buffer : request.accumulators) {
    auto type = VectorType::get(
        {width}, cast<MemRefType>(buffer.getType()).getElementType());
    initial.push_back(
        vector::LoadOp::create(builder, loc, type, buffer, ValueRange{zero}));
  }
  auto wide =
      scf::ForOp::create(builder, loc, request.low, middle, step, initial);
  if (initial.empty())
    wide.getBody()->getTerminator()->erase();
  builder.setInsertionPointToEnd(wide.getBody());
  LoopWidening widening(builder, width);
  widening.mapLinear(scalar.getInductionVar(), wide.getInductionVar());
  for (auto [buffer, lanes] :
       llvm::zip(request.accumulators, wide.getRegionIterArgs()))
    widening.mapLaneBuffer(buffer, lanes);
  LogicalResult result = widening.widen(*scalar.getBody());
  SmallVector<Value> yields;
  for (Value buffer : request.accumulators)
    yields.push_back(widening.getLaneBuffer(buffer));
  scf::YieldOp::create(builder, loc, yields);
  if (failed(result)) {
    wide.erase();
    for (Value load : initial)
      load.getDefiningOp()->erase();
    return failure();
  }
  builder.setInsertionPointAfter(wide);
  for (auto [buffer, lanes] :
       llvm::zip(request.accumulators, wide.getResults()))
    vector::StoreOp::create(builder, loc, lanes, buffer, ValueRange{zero});
  return success();
}

LogicalResult CpuTarget::emitLoop(OpBuilder &builder, Location loc,
                                  const LoopRequest &request,
                                  LoopBody body) const {
  IndexMath math{builder, loc};
  std::optional<int64_t> count = request.count;
  int64_t width = getWidth(request);
  bool wide = !count || *count >= width;
  Value middle = request.low;
  if (wide) {
    Value extent = count ? math.constant(*count)
                         : builder.createOrFold<arith::SubIOp>(
                               loc, request.high, request.low);
    middle = math.add(request.low, math.mul(math.div(extent, width), width));
  }
  Value one = math.constant(1);
  auto scalar = scf::ForOp::create(builder, loc, middle, request.high, one);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(scalar.getBody());
    if (failed(body(scalar.getInductionVar())))
      return failure();
  }
  if (!wide)
    return success();
  if (failed(emitWideLoop(builder, scalar, request, middle)))
    scalar.setLowerBound(request.low);
  else if (count && *count % width == 0)
    scalar.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

/// All of a buffer as a vector of the type that `step` computes with.
Value loadAll(OpBuilder &builder, Location loc, Value buffer, int64_t size,
              Type type) {
  Type memory = cast<MemRefType>(buffer.getType()).getElementType();
  Value zero = IndexMath{builder, loc}.constant(0);
  Value loaded = vector::LoadOp::create(
      builder, loc, VectorType::get({size}, memory), buffer, ValueRange{zero});
  if (memory == type)
    return loaded;
  return arith::TruncIOp::create(builder, loc, VectorType::get({size}, type),
                                 loaded);
}

FailureOr<SmallVector<Value>>
CpuTarget::emitTree(OpBuilder &builder, Location loc, ArrayRef<Value> buffers,
                    int64_t size, Block &step, ValueRange combined) const {
  SmallVector<Value> lanes;
  for (auto [number, buffer] : llvm::enumerate(buffers))
    lanes.push_back(loadAll(builder, loc, buffer, size,
                            step.getArgument(number).getType()));
  for (int64_t width = size / 2; width >= 1; width /= 2) {
    LoopWidening widening(builder, width);
    for (auto [number, lane] : llvm::enumerate(lanes)) {
      for (unsigned half : {0, 1})
        widening.mapVector(step.getArgument(half * buffers.size() + number),
                           vector::ExtractStridedSliceOp::create(
                               builder, loc, lane,
                               ArrayRef<int64_t>{half * width},
                               ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1}));
    }
    if (failed(widening.widen(step)))
      return failure();
    for (auto [lane, value] : llvm::zip(lanes, combined))
      lane = widening.getVector(value);
  }
  for (Value &lane : lanes)
    lane = vector::ExtractOp::create(builder, loc, lane, ArrayRef<int64_t>{0});
  return lanes;
}

} // namespace

const KernelTarget &getCpuTarget() {
  static const CpuTarget target;
  return target;
}

} // namespace llmc::kernels
