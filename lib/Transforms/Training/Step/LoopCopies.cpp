//===- LoopCopies.cpp - A loop as copies of its trips ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopCopies.h.
//
// Test: test/Transforms/Training/split-step-loops.mlir
//===----------------------------------------------------------------------===//

#include "LoopCopies.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace llmc;

/// As many as an import unrolls a loop to.
static constexpr int64_t kMostOps = 65536;

namespace {
/// Builds the trips of one loop after its last op.
class TripCopier {
public:
  explicit TripCopier(const dist::LoopRun &run)
      : run(run), builder(run.ops.front()->getContext()) {
    builder.setInsertionPointAfter(run.ops.back());
  }

  void copy();

private:
  Value enter(dist::EnterOp op, int64_t trip);
  void copyTrip(int64_t trip);
  Value leave(dist::LeaveOp op);

  const dist::LoopRun &run;
  OpBuilder builder;
  IRMapping mapping;
  /// By its `dist.enter`: what a carried value is at the start of a trip.
  llvm::DenseMap<Operation *, Value> carried;
  /// By its `dist.leave`: what each trip gives, by the number of the trip.
  llvm::DenseMap<Operation *, SmallVector<Value>> given;
};
} // namespace

Value TripCopier::enter(dist::EnterOp op, int64_t trip) {
  Value input = op.getInput();
  if (op.isCarry())
    return carried.try_emplace(op, input).first->second;
  if (!op.isRow())
    return input;
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
  starts[0] = trip;
  limits[0] = trip + 1;
  Value row = stablehlo::slice(builder, op.getLoc(), input, starts, limits);
  return stablehlo::reshape(builder, op.getLoc(), row,
                            type.getShape().drop_front());
}

void TripCopier::copyTrip(int64_t trip) {
  // Arguments of regions that are known would not be made anew.
  mapping.clear();
  for (Operation *op : run.ops)
    if (auto enters = dyn_cast<dist::EnterOp>(op))
      mapping.map(enters.getResult(), enter(enters, trip));
    else if (!isa<dist::NextOp>(op))
      builder.clone(*op, mapping);
  for (Operation *op : run.ops)
    if (auto next = dyn_cast<dist::NextOp>(op))
      carried[next.getEnter()] = mapping.lookupOrDefault(next.getValue());
  for (dist::LeaveOp leave : run.leaves)
    if (!leave.isLast())
      given[leave][trip] = mapping.lookupOrDefault(leave.getInput());
}

Value TripCopier::leave(dist::LeaveOp op) {
  Location loc = op.getLoc();
  if (op.isLast())
    return carried.lookup(
        op.getInput().getDefiningOp<dist::NextOp>().getEnter());
  Value result;
  SmallVector<Value> rows;
  SmallVector<int64_t> shape = {1};
  llvm::append_range(
      shape, cast<RankedTensorType>(op.getInput().getType()).getShape());
  for (Value value : given[op])
    if (op.isStack())
      rows.push_back(stablehlo::reshape(builder, loc, value, shape));
    else
      result = result ? stablehlo::add(builder, loc, result, value) : value;
  return op.isStack() ? stablehlo::concatenate(builder, loc, rows, 0) : result;
}

void TripCopier::copy() {
  int64_t trips = run.loop.getTrips();
  for (dist::LeaveOp leave : run.leaves)
    given[leave].resize(trips);
  for (int64_t n = 0; n < trips; ++n)
    copyTrip(n);
  for (dist::LeaveOp op : run.leaves)
    op.getResult().replaceAllUsesWith(leave(op));
}

/// Ops of the copies of a run and of those around it.
static int64_t countOps(const dist::LoopRuns &loops, const dist::LoopRun &run) {
  auto ops = static_cast<int64_t>(run.ops.size());
  for (const dist::LoopRun *at = &run;; at = &loops.getRuns()[at->in]) {
    ops = llvm::MulOverflow<int64_t>(ops, at->loop.getTrips(), ops)
              ? std::numeric_limits<int64_t>::max()
              : ops;
    if (at->in < 0)
      return ops;
  }
}

static LogicalResult check(const dist::LoopRuns &loops,
                           const dist::LoopRun &run) {
  Operation *first = run.ops.front();
  if (run.loop.getConditional())
    return emitRefusal(first->getLoc())
           << "expected loops of known trips in an update, got one that its "
              "condition alone ends (give it a bound: 'i < N & ...')";
  int64_t ops = countOps(loops, run);
  if (ops <= kMostOps)
    return success();
  return emitRefusal(first->getLoc())
         << "expected loops of an update to be copied to at most " << kMostOps
         << " ops, got " << ops << " (shorten the loop)";
}

/// Copies the trips of the loops that have no other one in theirs; false where
/// there are none.
static FailureOr<bool> copyInnermost(func::FuncOp function) {
  dist::LoopRuns loops(function.front());
  llvm::SmallDenseSet<int> around;
  for (const dist::LoopRun &run : loops.getRuns()) {
    if (failed(check(loops, run)))
      return failure();
    around.insert(run.in);
  }
  SmallVector<const dist::LoopRun *> innermost;
  for (auto [number, run] : llvm::enumerate(loops.getRuns()))
    if (!around.contains(static_cast<int>(number)))
      innermost.push_back(&run);
  for (const dist::LoopRun *run : innermost)
    TripCopier(*run).copy();
  for (const dist::LoopRun *run : innermost)
    dist::eraseRun(*run);
  if (!loops.empty())
    sortTopologically(&function.front());
  return !loops.empty();
}

LogicalResult training::copyTrips(func::FuncOp function) {
  while (true) {
    FailureOr<bool> isCopied = copyInnermost(function);
    if (failed(isCopied) || !*isCopied)
      return isCopied;
  }
}
