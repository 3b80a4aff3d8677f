//===- GpuTarget.cpp - Kernels for GPUs -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See GpuWriter.h. Additions are in the order of ReductionCut.h, as on
// processors, so that both give the same bits.
//
// Test: test/Transforms/Kernels/gpu-loops.mlir, test/Codegen/LaneTest.cpp
//
//===----------------------------------------------------------------------===//

#include "GpuTarget.h"
#include "Calls/GpuCalls.h"
#include "GpuWriter.h"
#include "WriterFaults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

/// Threads of a block where nothing ties them together, and where rows are few.
constexpr int64_t flatThreads = 256, serialThreads = 128, manyRows = 1 << 16;

/// From how many positions on a row that is reduced has four warps, if it has
/// as many accumulators.
constexpr int64_t longRow = 2048, longRowThreads = 128;

/// Rows of one warp that share a block, of which a multiprocessor has 32 at
/// most and 64 warps; where rows are so many that each of 128 multiprocessors
/// has one block of them.
constexpr int64_t sharingRows = 4, leastSharing = 512;

/// Shared memory of a block: what eight blocks of a multiprocessor have room
/// for, and every architecture gives without asking.
constexpr int64_t sharedBudget = 24 << 10;

class GpuTarget final : public KernelTarget {
public:
  StringRef getName() const override { return "cuda"; }
  bool prefersRows(int64_t columns) const override {
    return columns >= GpuWriter::warp;
  }
  int64_t getColumnBlock(int64_t, int64_t) const override { return 1; }
  int64_t getSharedBytes() const override { return sharedBudget; }
  std::optional<CallPlan>
  planCall(const rt::LibraryDescriptor &descriptor,
           ArrayRef<RankedTensorType> types) const override {
    return planGpuCall(descriptor, types);
  }
  std::unique_ptr<KernelWriter>
  makeWriter(OpBuilder &builder, func::FuncOp function) const override {
    return std::make_unique<GpuWriter>(builder, function);
  }
};

int64_t countThreads(const RowPlan &plan) {
  if (plan.accumulators)
    return plan.columns >= longRow ? std::min(longRowThreads, plan.accumulators)
                                   : GpuWriter::warp;
  // Four neighbours each.
  int64_t threads = llvm::alignTo(llvm::divideCeil(plan.columns, 4),
                                  uint64_t(GpuWriter::warp));
  return std::clamp(threads, GpuWriter::warp, flatThreads);
}

/// All rows of a block are there, and their kept values have room.
int64_t countRows(const RowPlan &plan) {
  bool share = plan.rows >= leastSharing && plan.rows % sharingRows == 0 &&
               plan.keptBytes * sharingRows <= sharedBudget;
  return share ? sharingRows : 1;
}

} // namespace

GpuWriter::GpuWriter(OpBuilder &builder, func::FuncOp function)
    : builder(builder), function(function), loc(function.getLoc()),
      math{builder, loc} {
  shape.alignment = 16;
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Value GpuWriter::openRows(const RowPlan &plan, Value begin, Value end) {
  bool isLong = plan.accumulators || plan.columns >= warp;
  if (isLong && !plan.isSerial) {
    mode = Mode::Block;
    rowThreads = countThreads(plan);
    shape.rowsPerBlock = rowThreads == warp ? countRows(plan) : 1;
    shape.threads = rowThreads * shape.rowsPerBlock;
    if (shape.rowsPerBlock == 1)
      return math.add(begin, block);
    rowOfBlock = math.div(thread, warp);
    if (!isSeeded(WriterFault::laneCountsThreadsOfBlock))
      thread = math.rem(thread, warp);
    Value first = math.add(begin, math.mul(block, shape.rowsPerBlock));
    return isSeeded(WriterFault::warpsHaveOneRow) ? first
                                                  : math.add(first, rowOfBlock);
  }
  mode = Mode::Threads;
  shape.threads = plan.rows == 1          ? 1
                  : plan.rows >= manyRows ? serialThreads
                                          : warp;
  shape.rowsPerBlock = shape.threads;
  Value row =
      math.add(begin, math.add(math.mul(block, shape.rowsPerBlock), thread));
  if (isSeeded(WriterFault::rowIgnoresItsThread))
    row = math.add(begin, math.mul(block, shape.rowsPerBlock));
  Value isRow =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, row, end);
  auto guarded =
      scf::IfOp::create(builder, loc, isRow, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(guarded.thenBlock());
  return row;
}

/// Threads have memory of their own, as those that have rows.
std::pair<Value, Value> GpuWriter::openBlock(int64_t threads, int64_t rows) {
  shape.threads = threads;
  shape.rowsPerBlock = rows;
  return {block, thread};
}

LogicalResult GpuWriter::emitFlat(int64_t rows, Value begin, Value end,
                                  LoopBody body) {
  mode = Mode::Flat;
  LoopRequest request{begin, end, std::nullopt};
  BodyCopies copies(builder, loc, request);
  if (failed(copies.write(body)))
    return failure();
  int64_t width = copies.getWidth(/*most=*/8);
  shape.threads = std::clamp<int64_t>(
      llvm::alignTo(llvm::divideCeil(rows, width), uint64_t(warp)), warp,
      flatThreads);
  shape.rowsPerBlock = shape.threads * width;
  Value first = math.add(begin, math.add(math.mul(block, shape.rowsPerBlock),
                                         math.mul(thread, width)));
  if (isSeeded(WriterFault::gridIsHalf))
    shape.rowsPerBlock *= 2;
  // Calls begin and end at whole blocks, or end where the rows do.
  bool isWhole = rows % width == 0;
  Value last = isWhole ? first : math.add(first, math.constant(width - 1));
  Value isIn =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, last, end);
  auto guarded = scf::IfOp::create(builder, loc, isIn, !isWhole);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(guarded.thenBlock()->getTerminator());
  LogicalResult result = copies.copy(width, first, {});
  if (!isWhole && succeeded(result) &&
      !isSeeded(WriterFault::restOfElementsIsForgotten)) {
    builder.setInsertionPoint(guarded.elseBlock()->getTerminator());
    auto rest = scf::ForOp::create(builder, loc, first, end, math.constant(1));
    builder.setInsertionPointToStart(rest.getBody());
    result = copies.copy(1, rest.getInductionVar(), {});
  }
  copies.erase();
  return result;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A block's threads have their accumulators each, others all of a row's.
Value GpuWriter::makeLocal(Type elementType, int64_t size) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.front());
  int64_t count =
      mode == Mode::Block ? std::max<int64_t>(1, size / rowThreads) : size;
  return memref::AllocaOp::create(builder, loc,
                                  MemRefType::get({count}, elementType),
                                  builder.getI64IntegerAttr(16));
}

Value GpuWriter::makeShared(Type elementType, int64_t size) {
  int64_t bytes = llvm::alignTo(
      size * llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8), 64);
  int64_t rows = rowOfBlock ? shape.rowsPerBlock : 1;
  if (shape.sharedBytes + rows * bytes > sharedBudget)
    return {};
  OpBuilder::InsertionGuard guard(builder);
  if (rowOfBlock)
    builder.setInsertionPointAfterValue(rowOfBlock);
  else
    builder.setInsertionPointToStart(&function.front());
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto bytesType = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type(),
                                   MemRefLayoutAttrInterface(), space);
  Value all = gpu::DynamicSharedMemoryOp::create(builder, loc, bytesType);
  auto type =
      MemRefType::get({size}, elementType, MemRefLayoutAttrInterface(), space);
  Value shift = math.constant(shape.sharedBytes);
  if (rowOfBlock && !isSeeded(WriterFault::warpsKeepOneRow))
    shift = math.add(math.mul(rowOfBlock, bytes), shift);
  shape.sharedBytes +=
      isSeeded(WriterFault::sharedRowsOverlap) ? bytes / 2 : rows * bytes;
  return memref::ViewOp::create(builder, loc, type, all, shift, ValueRange{});
}

Value GpuWriter::makeRow(Type elementType, int64_t size) {
  return mode == Mode::Block ? makeShared(elementType, size) : Value();
}

void GpuWriter::fill(Value local, int64_t, function_ref<void(Value)> store) {
  // What is stored at one place is stored at all.
  int64_t count = cast<MemRefType>(local.getType()).getNumElements();
  if (isSeeded(WriterFault::onlyFirstAccumulatorStarts))
    count = 1;
  if (mode == Mode::Block || count == 1) {
    for (int64_t i = 0; i < count; ++i)
      store(math.constant(i));
    return;
  }
  auto loop = scf::ForOp::create(builder, loc, math.constant(0),
                                 math.constant(count), math.constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  store(loop.getInductionVar());
}

//===----------------------------------------------------------------------===//
// Agreement between threads
//===----------------------------------------------------------------------===//

void GpuWriter::addBarrier() {
  gpu::BarrierOp::create(builder, loc);
  hasRead = hasStored = false;
}

void GpuWriter::publish() {
  if (mode == Mode::Block && hasStored &&
      !isSeeded(WriterFault::loopReadsBeforeItIsStored))
    addBarrier();
}

void GpuWriter::emitOnce(function_ref<void()> body) {
  if (mode != Mode::Block)
    return body();
  // All threads have read what this may overwrite.
  addBarrier();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        thread, math.constant(0));
  auto guarded =
      scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(guarded.thenBlock()->getTerminator());
  body();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult GpuWriter::emitLoop(Location loc, const LoopRequest &request,
                                  LoopBody body) {
  if (mode != Mode::Block)
    return emitSerialLoop(loc, request, body);
  BodyCopies copies(builder, loc, request);
  if (failed(copies.write(body)))
    return failure();
  bool stores = copies.hasStores();
  bool afterStores =
      hasStored && !isSeeded(WriterFault::loopReadsBeforeItIsStored);
  bool afterReads =
      stores && hasRead && !isSeeded(WriterFault::loopOverwritesBeforeItIsRead);
  if (afterStores || afterReads)
    addBarrier();
  LogicalResult result = request.accumulators.empty()
                             ? emitSharedLoop(request, copies)
                             : emitReducingLoop(request, copies);
  hasRead = true;
  hasStored |= stores;
  copies.erase();
  return result;
}

/// All positions by the thread that has the row.
LogicalResult GpuWriter::emitSerialLoop(Location loc,
                                        const LoopRequest &request,
                                        LoopBody body) {
  if (request.count == 1)
    return body(request.low);
  auto loop = scf::ForOp::create(builder, loc, request.low, request.high,
                                 math.constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  return body(loop.getInductionVar());
}

/// The positions [low, high) of a loop that begins at 0, `width` at a time.
LogicalResult GpuWriter::emitPart(const LoopRequest &request, BodyCopies &body,
                                  int64_t width, int64_t low, int64_t high) {
  int64_t round = rowThreads * width;
  int64_t whole = (high - low) / round * round;
  int64_t left =
      whole > 0 && isSeeded(WriterFault::lastRoundIsForgotten) ? round : 0;
  Value mine = math.mul(thread, width);
  if (whole > 0) {
    auto loop = scf::ForOp::create(builder, loc, math.constant(low),
                                   math.constant(low + whole - left),
                                   math.constant(round));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    if (failed(body.copy(width, math.add(loop.getInductionVar(), mine), {})))
      return failure();
  }
  if (low + whole == high)
    return success();
  Value position = math.add(mine, math.constant(low + whole));
  if (isSeeded(WriterFault::partIgnoresItsStart))
    position = mine;
  Value isIn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     position, math.constant(high));
  auto guarded =
      scf::IfOp::create(builder, loc, isIn, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(guarded.thenBlock()->getTerminator());
  return body.copy(width, position, {});
}

LogicalResult GpuWriter::emitSharedLoop(const LoopRequest &request,
                                        BodyCopies &body) {
  int64_t width = body.getWidth(/*most=*/8);
  int64_t whole = *request.count / width * width;
  if (failed(emitPart(request, body, width, 0, whole)))
    return failure();
  return whole == *request.count
             ? success()
             : emitPart(request, body, 1, whole, *request.count);
}

/// The lanes of all buffers, run by run.
SmallVector<Value> GpuWriter::loadLanes(ArrayRef<Value> buffers,
                                        int64_t width) {
  SmallVector<Value> lanes;
  auto type = cast<MemRefType>(buffers[0].getType());
  for (int64_t at = 0; at < type.getNumElements(); at += width)
    for (Value buffer : buffers) {
      auto element = cast<MemRefType>(buffer.getType()).getElementType();
      Value place = math.constant(at);
      lanes.push_back(
          width == 1
              ? Value(memref::LoadOp::create(builder, loc, buffer, place))
              : Value(vector::LoadOp::create(builder, loc,
                                             VectorType::get({width}, element),
                                             buffer, place)));
    }
  return lanes;
}

void GpuWriter::storeLanes(ArrayRef<Value> buffers, int64_t width,
                           ArrayRef<Value> lanes) {
  for (auto [number, lane] : llvm::enumerate(lanes)) {
    Value buffer = buffers[number % buffers.size()];
    Value place = math.constant(number / buffers.size() * width);
    if (width == 1)
      memref::StoreOp::create(builder, loc, lane, buffer, place);
    else
      vector::StoreOp::create(builder, loc, lane, buffer, place);
  }
}

/// Positions from `base` on, up to `end` where threads may be beyond it.
LogicalResult GpuWriter::emitRun(const LoopRequest &request, BodyCopies &body,
                                 int64_t width, Value base,
                                 std::optional<Value> end,
                                 MutableArrayRef<Value> lanes) {
  Value position = math.add(base, math.mul(thread, width));
  if (!end)
    return body.copy(width, position, lanes);
  Value isIn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     position, *end);
  SmallVector<Type> types(ValueRange(lanes).getTypes());
  auto guarded =
      scf::IfOp::create(builder, loc, types, isIn, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.elseBlock());
  scf::YieldOp::create(builder, loc, lanes);
  builder.setInsertionPointToStart(guarded.thenBlock());
  LogicalResult result = body.copy(width, position, lanes);
  scf::YieldOp::create(builder, loc, lanes);
  for (auto [lane, made] : llvm::zip(lanes, guarded.getResults()))
    lane = made;
  return result;
}

LogicalResult GpuWriter::emitReducingLoop(const LoopRequest &request,
                                          BodyCopies &body) {
  ArrayRef<Value> buffers = request.accumulators;
  int64_t all = request.numAccumulators, count = *request.count;
  int64_t width = body.getWidth(/*most=*/all / rowThreads);
  while (count % width)
    width /= 2;
  for (Value buffer : buffers)
    laneWidths[buffer] = width;
  int64_t stride = rowThreads * width, whole = count / all * all;
  SmallVector<Value> lanes = loadLanes(buffers, width);
  auto getRun = [&](int64_t run, MutableArrayRef<Value> of) {
    return of.slice(run * buffers.size(), buffers.size());
  };
  if (whole > 0) {
    auto loop =
        scf::ForOp::create(builder, loc, math.constant(0), math.constant(whole),
                           math.constant(all), lanes);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> yields(loop.getRegionIterArgs());
    for (int64_t run = 0; run * stride < all; ++run)
      if (failed(emitRun(
              request, body, width,
              math.add(loop.getInductionVar(),
                       math.constant(isSeeded(WriterFault::runsReadTheSame)
                                         ? 0
                                         : run * stride)),
              std::nullopt, getRun(run, yields))))
        return failure();
    scf::YieldOp::create(builder, loc, yields);
    lanes.assign(loop.getResults().begin(), loop.getResults().end());
  }
  for (int64_t run = 0, at = whole; at < count; ++run, at += stride) {
    std::optional<Value> end;
    if (at + stride > count && !isSeeded(WriterFault::lastRunIsNotGuarded))
      end = math.constant(count);
    if (failed(emitRun(request, body, width, math.constant(at), end,
                       getRun(run, lanes))))
      return failure();
  }
  storeLanes(buffers, width, lanes);
  return success();
}

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> GpuWriter::emitTree(Location loc,
                                                  ArrayRef<Value> buffers,
                                                  int64_t size, Block &step,
                                                  ValueRange combined) {
  GpuTree tree(builder, loc, step, combined, thread);
  auto load = [&](ArrayRef<Value> from, Value at) {
    GpuTree::Values values;
    for (auto [number, buffer] : llvm::enumerate(from))
      values.push_back(tree.toScalar(
          memref::LoadOp::create(builder, loc, buffer, at), number));
    return values;
  };
  if (mode != Mode::Block)
    return tree.combineMemory(buffers, size);
  SmallVector<GpuTree::Values> lanes;
  int64_t width = isSeeded(WriterFault::laneWidthIsForgotten)
                      ? 1
                      : laneWidths.lookup(buffers[0]);
  if (rowThreads == warp) {
    for (int64_t slot = 0; slot < size / warp; ++slot)
      lanes.push_back(load(buffers, math.constant(slot)));
    return tree.combineWarp(std::move(lanes), width);
  }
  // Through shared memory to every warp.
  SmallVector<Value> all;
  for (Value buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    all.push_back(makeShared(type.getElementType(), size));
    if (!all.back())
      return failure();
    for (int64_t slot = 0; slot < type.getNumElements(); ++slot) {
      Value number = math.add(
          math.mul(thread, width),
          math.constant(slot / width * width * rowThreads + slot % width));
      Value lane =
          memref::LoadOp::create(builder, loc, buffer, math.constant(slot));
      memref::StoreOp::create(builder, loc, lane, all.back(), number);
    }
  }
  if (!isSeeded(WriterFault::treeReadsBeforeItIsStored))
    addBarrier();
  Value lane = isSeeded(WriterFault::treeCountsThreadsOfBlock)
                   ? thread
                   : math.rem(thread, warp);
  for (int64_t first = 0; first < size; first += warp)
    lanes.push_back(load(all, math.add(lane, math.constant(first))));
  return tree.combineWarp(std::move(lanes), 1);
}

const KernelTarget &getGpuTarget() {
  static const GpuTarget target;
  return target;
}

} // namespace llmc::kernels
