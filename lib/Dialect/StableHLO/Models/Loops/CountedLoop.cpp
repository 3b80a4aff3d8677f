//===- CountedLoop.cpp - Which loops stay loops ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CountedLoop.h.
//
// Test: test/Import/StableHLO/keep-loops.mlir
//===----------------------------------------------------------------------===//

#include "CountedLoop.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Parts of a loop
//===----------------------------------------------------------------------===//

/// One row along a dimension, of which each trip has another one.
std::optional<TripRows> CountedLoop::getRows(ValueRange starts,
                                             ArrayRef<int64_t> sizes,
                                             RankedTensorType stack) {
  std::optional<int64_t> dim;
  for (int64_t d = 0; d < stack.getRank(); ++d) {
    // What is read in full can start at 0 alone.
    if (sizes[d] == stack.getDimSize(d))
      continue;
    if (dim || sizes[d] != 1)
      return std::nullopt;
    dim = d;
  }
  if (!dim)
    return std::nullopt;
  std::optional<Sequence> rows = numbers.getSequence(starts[*dim]);
  if (!rows || rows->step == 0)
    return std::nullopt;
  // Elsewhere a box is moved so that it fits.
  for (int64_t end : {rows->first, rows->at(*getTrips() - 1)})
    if (end < 0 || end >= stack.getDimSize(*dim))
      return std::nullopt;
  return TripRows{*dim, *rows};
}

std::optional<TripRows> CountedLoop::getRead(DynamicSliceOp slice) {
  if (slice->getBlock() != &getBody())
    return std::nullopt;
  return getRows(slice.getStartIndices(), slice.getSliceSizes(),
                 cast<RankedTensorType>(slice.getOperand().getType()));
}

std::optional<TripRows> CountedLoop::getWrite(DynamicUpdateSliceOp write) {
  return getRows(write.getStartIndices(),
                 cast<RankedTensorType>(write.getUpdate().getType()).getShape(),
                 cast<RankedTensorType>(write.getOperand().getType()));
}

DynamicUpdateSliceOp CountedLoop::getWriter(unsigned number) {
  return getBody()
      .getTerminator()
      ->getOperand(number)
      .getDefiningOp<DynamicUpdateSliceOp>();
}

/// Each trip writes a row, and reads none but that before.
bool CountedLoop::isWritten(unsigned number) {
  Value own = getBody().getArgument(number);
  DynamicUpdateSliceOp write = getWriter(number);
  if (!write || write->getBlock() != &getBody() || write.getOperand() != own ||
      write.getUpdate() == own || !write.getResult().hasOneUse())
    return false;
  std::optional<TripRows> rows = getWrite(write);
  return rows && llvm::all_of(own.getUsers(), [&](Operation *user) {
           auto read = dyn_cast<DynamicSliceOp>(user);
           return user == write || (read && getRead(read) == rows);
         });
}

LoopPart CountedLoop::classify(unsigned number) {
  Block &body = getBody();
  if (body.getTerminator()->getOperand(number) == body.getArgument(number))
    return LoopPart::Invariant;
  if (numbers.getCounter(number))
    return LoopPart::Counter;
  return isWritten(number) ? LoopPart::Written : LoopPart::Carried;
}

CountedLoop::CountedLoop(WhileOp loop) : loop(loop), numbers(loop) {
  if (!getTrips())
    return;
  for (unsigned i = 0; i < loop->getNumOperands(); ++i)
    parts.push_back(classify(i));
}

bool CountedLoop::hasKnownBranches() {
  return loop.getBody()
      .walk([&](Operation *op) {
        bool isBranch = isa<CaseOp, IfOp>(op);
        return isBranch && numbers.isKnownToVary(op->getOperand(0))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Whether it is kept
//===----------------------------------------------------------------------===//

/// Unrolled to more ops than this, a loop is kept whatever it does.
static constexpr uint64_t kMostOps = 4096;
/// Fewer trips are unrolled: the parts of a loop cost more than its copies.
static constexpr int64_t kFewestTrips = 4;

dist::LoopAttr stablehlo::findTrips(Operation *loop) {
  dist::LoopAttr innermost;
  auto note = [&](dist::LoopAttr found) {
    if (found && (!innermost || innermost.getDepth() < found.getDepth()))
      innermost = found;
  };
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> work;
  auto add = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && seen.insert(def).second)
        work.push_back(def);
  };
  loop->walk([&](Operation *inner) { add(inner); });
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (auto enter = dyn_cast<dist::EnterOp>(op))
      note(enter.getLoop());
    else if (auto leave = dyn_cast<dist::LeaveOp>(op))
      note(leave.getLoop().getIn());
    else
      add(op);
  }
  return innermost;
}

static bool callsLibrary(Operation *op) {
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  return kernel && kernel.getKernelForm() == graph::KernelForm::Library;
}

static SmallVector<WhileOp> getInnerLoops(WhileOp loop) {
  SmallVector<WhileOp> inner;
  loop.getBody().walk([&](WhileOp op) { inner.push_back(op); });
  return inner;
}

/// Ops of all trips, where loops in them are unrolled; of a loop whose trips
/// are not known those of one.
static uint64_t countUnrolled(WhileOp loop) {
  uint64_t ops = 0;
  loop.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto inner = dyn_cast<WhileOp>(op);
    ops = llvm::SaturatingAdd(ops, inner ? countUnrolled(inner) : 1);
    return inner ? WalkResult::skip() : WalkResult::advance();
  });
  return llvm::SaturatingMultiply<uint64_t>(
      LoopNumbers(loop).getTrips().value_or(1), ops);
}

/// A loop that the run ends has no loop in it.
static bool isInOpenLoop(WhileOp loop) {
  dist::LoopAttr around = findTrips(loop);
  return around && around.getConditional();
}

bool stablehlo::isKept(WhileOp loop) {
  CountedLoop counted(loop);
  if (loop->hasAttr(dist::DistDialect::kUnroll) ||
      counted.getTrips().value_or(0) < kFewestTrips)
    return false;
  // What another trip would give an inner loop other trips.
  auto isCounted = [](WhileOp inner) {
    return LoopNumbers(inner).getTrips().has_value();
  };
  if (!llvm::all_of(getInnerLoops(loop), isCounted))
    return false;
  if (countUnrolled(loop) > kMostOps)
    return !isInOpenLoop(loop);
  bool isLarge = false;
  loop.getBody().walk([&](Operation *op) { isLarge |= callsLibrary(op); });
  return isLarge && !counted.hasKnownBranches() && !isInOpenLoop(loop);
}
