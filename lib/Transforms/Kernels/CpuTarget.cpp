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
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

/// Iterations that run side by side where nothing is reduced: 16 f32 fill one
/// 512-bit register.
constexpr int64_t vectorWidth = 16;

/// Iterations of a loop that reduces and whose code is written together: a
/// quarter of the accumulators, at least 32. What a body computes on the way
/// then takes few registers beside the accumulators.
constexpr int64_t leastRun = 32, mostRuns = 4;

/// Columns of one row of a reduction along columns: the line of sums stays in
/// the nearest cache, and is wide enough for a stream from memory.
constexpr int64_t columnBlock = 128;

/// Fewer columns, at least two lines of a cache, where a reduction would have
/// less rows than this, and few threads could work on it.
constexpr int64_t leastColumnBlock = 32, enoughRows = 4;

class CpuTarget final : public KernelTarget {
public:
  StringRef getName() const override { return "cpu"; }
  bool prefersRows(int64_t columns) const override {
    return columns >= vectorWidth;
  }
  int64_t getColumnBlock(int64_t rows, int64_t columns) const override;
  int64_t getSharedBytes() const override { return 0; }
  std::unique_ptr<KernelWriter>
  makeWriter(OpBuilder &builder, func::FuncOp function) const override;
};

class CpuWriter final : public KernelWriter {
public:
  CpuWriter(OpBuilder &builder, func::FuncOp function)
      : builder(builder), function(function) {}

  Value openRows(const RowPlan &plan, Value begin, Value end) override;
  LogicalResult emitFlat(int64_t rows, Value begin, Value end,
                         LoopBody body) override {
    return emitLoop(function.getLoc(), {begin, end, std::nullopt}, body);
  }
  Value makeLocal(Type elementType, int64_t size) override;
  Value makeRow(Type elementType, int64_t size) override;
  void fill(Value local, int64_t size,
            function_ref<void(Value)> store) override;
  LogicalResult emitLoop(Location loc, const LoopRequest &request,
                         LoopBody body) override;
  FailureOr<SmallVector<Value>> emitTree(Location loc, ArrayRef<Value> buffers,
                                         int64_t size, Block &step,
                                         ValueRange combined) override;
  void publish() override {}
  void emitOnce(function_ref<void()> body) override { body(); }
  CallShape getShape() const override { return {scratchBytes}; }

private:
  OpBuilder &builder;
  func::FuncOp function;
  int64_t scratchBytes = 0;
};

int64_t CpuTarget::getColumnBlock(int64_t rows, int64_t columns) const {
  int64_t block = columnBlock;
  while (block > leastColumnBlock &&
         rows * llvm::divideCeil(columns, block) < enoughRows)
    block /= 2;
  return block;
}

std::unique_ptr<KernelWriter>
CpuTarget::makeWriter(OpBuilder &builder, func::FuncOp function) const {
  return std::make_unique<CpuWriter>(builder, function);
}

Value CpuWriter::openRows(const RowPlan &, Value begin, Value end) {
  Location loc = function.getLoc();
  Value one = IndexMath{builder, loc}.constant(1);
  auto loop = scf::ForOp::create(builder, loc, begin, end, one);
  builder.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

Value CpuWriter::makeLocal(Type elementType, int64_t size) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  return memref::AllocaOp::create(builder, function.getLoc(),
                                  MemRefType::get({size}, elementType),
                                  builder.getI64IntegerAttr(64));
}

/// In the call's scratch.
Value CpuWriter::makeRow(Type elementType, int64_t size) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  Location loc = function.getLoc();
  Value shift = IndexMath{builder, loc}.constant(scratchBytes);
  int64_t bytes =
      size * llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  scratchBytes += llvm::alignTo(bytes, 64);
  return memref::ViewOp::create(
      builder, loc, MemRefType::get({size}, elementType),
      function.front().getArguments().back(), shift, ValueRange{});
}

void CpuWriter::fill(Value local, int64_t size,
                     function_ref<void(Value)> store) {
  IndexMath math{builder, function.getLoc()};
  LogicalResult stored =
      emitLoop(function.getLoc(), {math.constant(0), math.constant(size), size},
               [&](Value at) {
                 store(at);
                 return success();
               });
  (void)stored; // No body fails.
  (void)local;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Iterations that are widened together.
int64_t getWidth(const LoopRequest &request) {
  if (request.accumulators.empty())
    return vectorWidth;
  return std::max(leastRun, request.numAccumulators / mostRuns);
}

/// The vector form of a loop's scalar body, for the positions [low, middle).
/// Where it reduces, an iteration goes through all accumulators, a run of
/// neighbours after the other.
class WideLoop {
public:
  WideLoop(OpBuilder &builder, scf::ForOp scalar, const LoopRequest &request,
           Value middle)
      : builder(builder), scalar(scalar), request(request), middle(middle),
        loc(scalar.getLoc()), math{builder, loc}, width(getWidth(request)) {
    if (!request.accumulators.empty())
      runs = request.numAccumulators / width;
  }

  /// In front of the scalar loop. Fails where the body has no vector form, and
  /// leaves nothing behind.
  LogicalResult emit();

private:
  /// The lanes of each accumulator, run by run.
  using Lanes = SmallVector<SmallVector<Value>>;

  Lanes load();
  void store(const Lanes &lanes);
  LogicalResult emitRun(Value position, MutableArrayRef<Value> lanes);
  LogicalResult emitWhole(Lanes &lanes, Value end);
  LogicalResult emitAll();
  int64_t getDivisor() const;

  OpBuilder &builder;
  scf::ForOp scalar;
  const LoopRequest &request;
  Value middle;
  Location loc;
  IndexMath math;
  int64_t width, runs = 1;
};

WideLoop::Lanes WideLoop::load() {
  Lanes lanes(runs);
  for (int64_t run = 0; run < runs; ++run)
    for (Value buffer : request.accumulators) {
      auto type = VectorType::get(
          {width}, cast<MemRefType>(buffer.getType()).getElementType());
      lanes[run].push_back(vector::LoadOp::create(
          builder, loc, type, buffer, ValueRange{math.constant(run * width)}));
    }
  return lanes;
}

void WideLoop::store(const Lanes &lanes) {
  for (int64_t run = 0; run < runs; ++run)
    for (auto [buffer, value] : llvm::zip(request.accumulators, lanes[run]))
      vector::StoreOp::create(builder, loc, value, buffer,
                              ValueRange{math.constant(run * width)});
}

/// A power of two of which the first positions of all runs are multiples.
int64_t WideLoop::getDivisor() const {
  bool isWhole = matchPattern(request.low, m_Zero());
  return isWhole && llvm::isPowerOf2_64(width) ? width : 1;
}

/// The body for `width` positions from `position` on.
LogicalResult WideLoop::emitRun(Value position, MutableArrayRef<Value> lanes) {
  LoopWidening widening(builder, width);
  widening.mapLinear(scalar.getInductionVar(), position, getDivisor());
  return widening.widen(*scalar.getBody(), request.accumulators, lanes);
}

/// A loop over whole rounds of runs, from the start to `end`.
LogicalResult WideLoop::emitWhole(Lanes &lanes, Value end) {
  SmallVector<Value> initial;
  for (ArrayRef<Value> run : lanes)
    llvm::append_range(initial, run);
  auto wide = scf::ForOp::create(builder, loc, request.low, end,
                                 math.constant(runs * width), initial);
  if (initial.empty())
    wide.getBody()->getTerminator()->erase();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(wide.getBody());
  SmallVector<Value> yields(wide.getRegionIterArgs());
  size_t buffers = request.accumulators.size();
  LogicalResult result = success();
  for (int64_t run = 0; run < runs && succeeded(result); ++run)
    result =
        emitRun(math.add(math.constant(run * width), wide.getInductionVar()),
                MutableArrayRef(yields).slice(run * buffers, buffers));
  scf::YieldOp::create(builder, loc, yields);
  for (int64_t run = 0; run < runs; ++run)
    for (size_t i = 0; i < buffers; ++i)
      lanes[run][i] = wide.getResult(run * buffers + i);
  return result;
}

LogicalResult WideLoop::emitAll() {
  Lanes lanes = load();
  if (runs == 1 || *request.count / (runs * width) > 0) {
    Value end =
        runs == 1
            ? middle
            : math.constant(*request.count / (runs * width) * (runs * width));
    if (failed(emitWhole(lanes, end)))
      return failure();
  }
  // Runs of a round that is not whole.
  int64_t rest = runs == 1 ? 0 : *request.count / width % runs;
  for (int64_t run = 0; run < rest; ++run) {
    int64_t position = (*request.count / width - rest + run) * width;
    if (failed(emitRun(math.constant(position), lanes[run])))
      return failure();
  }
  store(lanes);
  return success();
}

LogicalResult WideLoop::emit() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(scalar);
  Operation *before = scalar->getPrevNode();
  if (succeeded(emitAll()))
    return success();
  while (scalar->getPrevNode() != before) {
    scalar->getPrevNode()->dropAllUses();
    scalar->getPrevNode()->erase();
  }
  return failure();
}

LogicalResult CpuWriter::emitLoop(Location loc, const LoopRequest &request,
                                  LoopBody body) {
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
  if (failed(WideLoop(builder, scalar, request, middle).emit()))
    scalar.setLowerBound(request.low);
  else if (count && *count % width == 0)
    scalar.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

/// The same bits as elements of another type.
Value castBits(OpBuilder &builder, Location loc, Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getElementType() == element)
    return vector;
  return arith::BitcastOp::create(
      builder, loc, VectorType::get(type.getShape(), element), vector);
}

/// All of a buffer as a vector; bytes of `type` i1 or i4 as such.
Value loadAll(OpBuilder &builder, Location loc, Value buffer, int64_t size,
              Type type) {
  Type memory = cast<MemRefType>(buffer.getType()).getElementType();
  Value zero = IndexMath{builder, loc}.constant(0);
  Value loaded = vector::LoadOp::create(
      builder, loc, VectorType::get({size}, memory), buffer, ValueRange{zero});
  if (!type.isInteger() || type.getIntOrFloatBitWidth() >= 8)
    return loaded;
  return arith::TruncIOp::create(builder, loc, VectorType::get({size}, type),
                                 loaded);
}

FailureOr<SmallVector<Value>> CpuWriter::emitTree(Location loc,
                                                  ArrayRef<Value> buffers,
                                                  int64_t size, Block &step,
                                                  ValueRange combined) {
  // Halves are taken of the type that lies in memory: bf16 is bits there.
  SmallVector<Value> lanes;
  for (auto [number, buffer] : llvm::enumerate(buffers))
    lanes.push_back(loadAll(builder, loc, buffer, size,
                            step.getArgument(number).getType()));
  for (int64_t width = size / 2; width >= 1; width /= 2) {
    LoopWidening widening(builder, width);
    for (auto [number, lane] : llvm::enumerate(lanes)) {
      for (unsigned half : {0, 1}) {
        Value argument = step.getArgument(half * buffers.size() + number);
        Value part = vector::ExtractStridedSliceOp::create(
            builder, loc, lane, ArrayRef<int64_t>{half * width},
            ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1});
        widening.mapVector(argument,
                           castBits(builder, loc, part, argument.getType()));
      }
    }
    if (failed(widening.widen(step)))
      return failure();
    for (auto [lane, value] : llvm::zip(lanes, combined))
      lane = castBits(builder, loc, widening.getVector(value),
                      cast<VectorType>(lane.getType()).getElementType());
  }
  for (auto [lane, value] : llvm::zip(lanes, combined))
    lane = vector::ExtractOp::create(
        builder, loc, castBits(builder, loc, lane, value.getType()),
        ArrayRef<int64_t>{0});
  return lanes;
}

} // namespace

const KernelTarget &getCpuTarget() {
  static const CpuTarget target;
  return target;
}

} // namespace llmc::kernels
