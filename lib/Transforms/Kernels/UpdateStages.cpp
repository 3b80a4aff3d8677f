//===- UpdateStages.cpp - Updates sorted by where they go, in launches ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A place is `target << bits | number`: where an update goes, and which one it
// is. Updates that go nowhere have the target behind the last one.
//
//   sort      a place is a thread's: how many of its run come before it is
//             where it goes
//   merge     likewise, by binary searches in the other runs
//   segments  a thread has one element of one update; that of the first update
//             of a target takes all of them in order of their numbers
//
// No two places are equal, so that each finds a position of its own.
//
// Test: test/Transforms/Kernels/gpu-stages.mlir,
// test/Codegen/LaneStagesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "UpdateCode.h"
#include "WriterFaults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

/// Binary searches that a thread does at a time.
constexpr int64_t searches = 4;

class UpdateStage {
public:
  explicit UpdateStage(KernelBody &kernel)
      : kernel(kernel), builder(kernel.builder), loc(kernel.loc),
        math(kernel.math()), code(kernel), dims(UpdateDims::of(code.getOp())),
        places(getNumElements(dims.sorted)), bits(dims.getNumberBits()) {}

  LogicalResult emitSort(int64_t &rows);
  LogicalResult emitMerge(int64_t &rows);
  LogicalResult emitSegments(int64_t &rows);

private:
  FailureOr<Value> makePlace(Value number);
  Value countBefore(Value shared, Value place, Value low);
  Value countBelow(Value first, int64_t runs, Value place);
  Value findEnd(Value at, Value target);
  LogicalResult emitUpdates(Value first, Value end, Value target, Value column);

  Value makeI64(int64_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(value));
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      index);
  }
  Value compare(arith::CmpIPredicate how, Value left, Value right) {
    return arith::CmpIOp::create(builder, loc, how, left, right);
  }
  Value isLess(Value left, Value right) {
    return compare(arith::CmpIPredicate::ult, left, right);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value least(Value left, Value right) {
    return arith::MinUIOp::create(builder, loc, left, right);
  }
  Value subtract(Value left, Value right) {
    return builder.createOrFold<arith::SubIOp>(loc, left, right);
  }
  Value load(Value memory, Value at) {
    return memref::LoadOp::create(builder, loc, memory, at);
  }
  Value getTargetOf(Value place) {
    return arith::ShRUIOp::create(builder, loc, place, makeI64(bits));
  }
  void openIf(Value condition) {
    auto guarded = scf::IfOp::create(builder, loc, condition,
                                     /*withElseRegion=*/false);
    builder.setInsertionPointToStart(guarded.thenBlock());
  }

  KernelBody &kernel;
  OpBuilder &builder;
  Location loc;
  IndexMath math;
  UpdateCode code;
  UpdateDims dims;
  int64_t places;
  unsigned bits;
};

//===----------------------------------------------------------------------===//
// Places in order
//===----------------------------------------------------------------------===//

/// The place of the update `number` of the sorted dims.
FailureOr<Value> UpdateStage::makePlace(Value number) {
  SmallVector<Value> indices = math.delinearize(number, dims.sorted);
  indices.append(dims.kept.size(), math.constant(0));
  kernel.elements.enter({});
  FailureOr<graph::UpdateTarget> target = code.getTarget(indices);
  if (failed(target))
    return failure();
  ArrayRef<int64_t> shape =
      code.getType().getShape().drop_back(dims.kept.size());
  Value row = math.constant(0);
  for (auto [size, index] : llvm::zip(shape, target->indices))
    row = math.add(math.mul(row, size), index);
  if (target->inBounds && !isSeeded(WriterFault::nowhereIsSomewhere))
    row = select(target->inBounds, row, math.constant(dims.targets));
  Value high = arith::ShLIOp::create(builder, loc, toI64(row), makeI64(bits));
  return Value(arith::OrIOp::create(builder, loc, high, toI64(number)));
}

/// How many of a run's places, from `low` on, come before `place`.
Value UpdateStage::countBefore(Value shared, Value place, Value low) {
  Value zero = math.constant(0);
  Value count =
      least(math.constant(sortedRun), subtract(math.constant(places), low));
  auto loop = scf::ForOp::create(builder, loc, zero, count, math.constant(1),
                                 ValueRange{zero});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value other = load(shared, loop.getInductionVar());
  Value mine = place;
  if (isSeeded(WriterFault::numbersAreNotCompared))
    other = getTargetOf(other), mine = getTargetOf(place);
  Value more = select(isLess(other, mine), math.constant(1), zero);
  scf::YieldOp::create(builder, loc,
                       math.add(loop.getRegionIterArgs()[0], more));
  return loop.getResult(0);
}

LogicalResult UpdateStage::emitSort(int64_t &rows) {
  rows = places;
  int64_t threads = std::min<int64_t>(sortedRun, llvm::alignTo(places, 32));
  StageWriter &stages = *kernel.writer->getStageWriter();
  auto [block, thread] = stages.openBlock(threads, threads);
  Value low = math.mul(block, threads);
  Value number = math.add(low, thread);
  Value shared = stages.makeShared(builder.getI64Type(), threads);
  Value isPlace = isLess(number, math.constant(places));
  Operation *end = kernel.function.front().getTerminator();
  openIf(isPlace);
  FailureOr<Value> place = makePlace(number);
  if (failed(place))
    return failure();
  memref::StoreOp::create(builder, loc, *place, shared, thread);
  builder.setInsertionPoint(end);
  if (!isSeeded(WriterFault::runIsSortedBeforeItIsThere))
    stages.addBarrier();
  openIf(isPlace);
  Value mine = load(shared, thread);
  Value at = math.add(low, countBefore(shared, mine, low));
  memref::StoreOp::create(builder, loc, mine, kernel.made[0], at);
  return success();
}

/// How many places of `runs` runs from run `first` on come before `place`, by
/// halves: a step of all searches, then the next, so that they wait for memory
/// together. A run beyond the last is empty.
Value UpdateStage::countBelow(Value first, int64_t runs, Value place) {
  int64_t length = kernel.stage.length;
  SmallVector<Value> starts, counts, found(runs, math.constant(0));
  for (int64_t run = 0; run < runs; ++run) {
    Value start = math.mul(math.add(first, math.constant(run)), length);
    starts.push_back(least(start, math.constant(places)));
    counts.push_back(least(math.constant(length),
                           subtract(math.constant(places), starts.back())));
  }
  int64_t last = isSeeded(WriterFault::searchLacksItsLastStep) ? 2 : 1;
  for (int64_t step = length; step >= last; step /= 2)
    for (int64_t run = 0; run < runs; ++run) {
      Value next = math.add(found[run], math.constant(step));
      Value at = math.add(starts[run], subtract(next, math.constant(1)));
      Value other = load(kernel.taken[0], least(at, math.constant(places - 1)));
      Value isFurther = arith::AndIOp::create(
          builder, loc, compare(arith::CmpIPredicate::ule, next, counts[run]),
          isLess(other, place));
      found[run] = select(isFurther, next, found[run]);
    }
  for (int64_t run = 1; run < runs; ++run)
    found[0] = math.add(found[0], found[run]);
  return found[0];
}

LogicalResult UpdateStage::emitMerge(int64_t &rows) {
  rows = places;
  RowPlan plan{rows};
  plan.isSerial = true;
  Value at = kernel.openRows(plan);
  int64_t length = kernel.stage.length;
  int64_t runs = llvm::divideCeil(places, length);
  int64_t group = std::min(mergedRuns, runs), width = std::min(group, searches);
  Value place = load(kernel.taken[0], at);
  Value first = math.mul(math.div(at, length * mergedRuns), mergedRuns);
  if (isSeeded(WriterFault::mergeForgetsARun))
    group -= width;
  auto loop = scf::ForOp::create(builder, loc, math.constant(0),
                                 math.constant(group), math.constant(width),
                                 ValueRange{math.mul(first, length)});
  builder.setInsertionPointToStart(loop.getBody());
  Value below =
      countBelow(math.add(loop.getInductionVar(), first), width, place);
  scf::YieldOp::create(builder, loc,
                       math.add(loop.getRegionIterArgs()[0], below));
  builder.setInsertionPointAfter(loop);
  memref::StoreOp::create(builder, loc, place, kernel.made[0],
                          loop.getResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Updates in order of their places
//===----------------------------------------------------------------------===//

/// The position after the last place of `target`, which one at `at` has.
Value UpdateStage::findEnd(Value at, Value target) {
  Value next = math.add(at, math.constant(1));
  if (isSeeded(WriterFault::segmentIsOneUpdate))
    return next;
  Type index = builder.getIndexType();
  auto loop =
      scf::WhileOp::create(builder, loc, TypeRange{index}, ValueRange{next});
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, {index}, {loc});
  Value position = before->getArgument(0);
  Value last = math.constant(places - 1);
  Value other = getTargetOf(load(kernel.taken[0], least(position, last)));
  Value goesOn = arith::AndIOp::create(
      builder, loc, compare(arith::CmpIPredicate::ule, position, last),
      compare(arith::CmpIPredicate::eq, other, target));
  scf::ConditionOp::create(builder, loc, goesOn, ValueRange{position});
  Block *after = builder.createBlock(&loop.getAfter(), {}, {index}, {loc});
  Value further = math.add(after->getArgument(0), math.constant(1));
  scf::YieldOp::create(builder, loc, ValueRange{further});
  return loop.getResult(0);
}

/// The updates of the places [first, end), all of `target`, to its element
/// `column` of the kept dims.
LogicalResult UpdateStage::emitUpdates(Value first, Value end, Value target,
                                       Value column) {
  LoopSpace space;
  space.rowShape = dims.sorted;
  space.innerShape = dims.kept;
  space.inner = column;
  space.innerIndices = math.delinearize(column, dims.kept);
  ArrayRef<int64_t> shape =
      code.getType().getShape().take_back(dims.kept.size());
  Value element =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), target);
  for (auto [size, index] : llvm::zip(shape, space.innerIndices))
    element = math.add(math.mul(element, size), index);
  Value memory = kernel.outputs.lookup(code.getOp()->getResult(0));
  Value old = kernel.elements.load(memory, code.getType(), element);
  auto loop = scf::ForOp::create(builder, loc, first, end, math.constant(1),
                                 ValueRange{old});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value place = load(kernel.taken[0], loop.getInductionVar());
    Value number = arith::AndIOp::create(builder, loc, place,
                                         makeI64((int64_t(1) << bits) - 1));
    space.row = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                           number);
    space.rowIndices = math.delinearize(space.row, dims.sorted);
    kernel.elements.enter(space);
    FailureOr<Value> fresh =
        code.combine(loop.getRegionIterArgs()[0], space.getIndices());
    if (failed(fresh))
      return failure();
    scf::YieldOp::create(builder, loc, *fresh);
  }
  kernel.elements.store(memory, code.getType(), loop.getResult(0), element);
  return success();
}

LogicalResult UpdateStage::emitSegments(int64_t &rows) {
  int64_t columns = getNumElements(dims.kept);
  rows = places * columns;
  RowPlan plan{rows};
  plan.isSerial = true;
  Value row = kernel.openRows(plan);
  Value at = math.div(row, columns), column = math.rem(row, columns);
  Value target = getTargetOf(load(kernel.taken[0], at));
  Value isStart = compare(arith::CmpIPredicate::eq, at, math.constant(0));
  Value previous =
      subtract(select(isStart, math.constant(1), at), math.constant(1));
  Value before = getTargetOf(load(kernel.taken[0], previous));
  Value isFirst = arith::OrIOp::create(
      builder, loc, isStart, compare(arith::CmpIPredicate::ne, before, target));
  if (isSeeded(WriterFault::updatesAreTakenByAll))
    isFirst = compare(arith::CmpIPredicate::eq, at, at);
  Value isInside = isLess(target, makeI64(dims.targets));
  openIf(arith::AndIOp::create(builder, loc, isFirst, isInside));
  return emitUpdates(at, findEnd(at, target), target, column);
}

} // namespace

LogicalResult emitSort(KernelBody &kernel, int64_t &rows) {
  return UpdateStage(kernel).emitSort(rows);
}

LogicalResult emitMerge(KernelBody &kernel, int64_t &rows) {
  return UpdateStage(kernel).emitMerge(rows);
}

LogicalResult emitSegments(KernelBody &kernel, int64_t &rows) {
  return UpdateStage(kernel).emitSegments(rows);
}

} // namespace llmc::kernels
