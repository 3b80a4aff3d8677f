//===- Loops.cpp - A loop becomes its trips -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %r:2 = while(%i = %c0, %x = %a) cond { %i < 3 } do { %i + 1, tanh %x }
//     ->
//   %1 = tanh %a   %2 = tanh %1   %3 = tanh %2          %r#1 = %3
//
// Before each trip the condition is computed of what goes into it. The loop
// itself holds these values while its trips are built in front of it. A trip is
// settled before the next one, so that counters become constants, branches by
// constants are taken, and loops inside are unrolled with the bounds that they
// have in this trip.
//
// Test: test/Import/StableHLO/expand-loops.mlir
//===----------------------------------------------------------------------===//

#include "BoundedLoop.h"
#include "CountedLoop.h"
#include "OpenLoop.h"
#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/Graph/IR/Expansion.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

/// Ops that a loop may be unrolled to, with those of the loops in it and those
/// that are computed on the way; constants cost nothing. All later phases pay
/// for each op, about a millisecond in all: this many are a recurrence of some
/// thousand steps, or more layers than transformers have. A trip counts as one
/// more, so that a loop without an end is found out.
static constexpr int64_t kMostUnrolledOps = 65536;

namespace {
/// Unrolls a loop, and the loops in it, which share its budget.
class Unroller {
public:
  explicit Unroller(WhileOp root) : root(root) {}

  /// The values that `loop` returns; its trips stand in front of it.
  LogicalResult unroll(WhileOp loop, SmallVectorImpl<Value> &results);

private:
  FailureOr<std::optional<bool>> evaluateCondition(WhileOp loop);
  LogicalResult refuse(WhileOp loop, Value condition, StringRef why);
  LogicalResult makeTrip(WhileOp loop);
  FailureOr<Operation *> copyInFront(WhileOp loop, Region &region);
  FailureOr<Operation *> settleOp(Operation *op);
  LogicalResult spend();

  WhileOp root;
  int64_t numOps = 0, numTrips = 0;
};
} // namespace

LogicalResult Unroller::spend() {
  if (++numOps <= kMostUnrolledOps)
    return success();
  return emitRefusal(root, rt::ErrorKind::unsupported)
         << "expected a loop that unrolls to at most " << kMostUnrolledOps
         << " ops, got more in trip " << numTrips
         << ": shorten it, or compute its trips side by side as one batch";
}

/// Loops inside that are kept are ops of a trip; others spend of the same
/// budget, and their trips are settled. The bound of one may be known only now.
FailureOr<Operation *> Unroller::settleOp(Operation *op) {
  if (!op->hasTrait<OpTrait::ConstantLike>() && failed(spend()))
    return failure();
  auto loop = dyn_cast<WhileOp>(op);
  if (!loop || hasBound(loop) || isKept(loop))
    return settle(op);
  Operation *next = op->getNextNode();
  if (failed(replaceBy(loop, [&](OpBuilder &, SmallVectorImpl<Value> &results) {
        return unroll(loop, results);
      })))
    return failure();
  return next;
}

/// Copies a region of the loop in front of it, on what goes into the next trip,
/// and settles the copy. Returns its end, which holds what the region returns.
FailureOr<Operation *> Unroller::copyInFront(WhileOp loop, Region &region) {
  Operation *before = loop->getPrevNode(), *end = nullptr;
  OpBuilder builder(loop);
  IRMapping mapping;
  mapping.map(region.getArguments(), loop.getOperands());
  for (Operation &op : region.front())
    end = builder.clone(op, mapping);
  for (Operation *op = getNext(before, loop->getBlock()); op != end;) {
    FailureOr<Operation *> next = settleOp(op);
    if (failed(next))
      return failure();
    op = *next;
  }
  return end;
}

LogicalResult Unroller::refuse(WhileOp loop, Value condition, StringRef why) {
  return emitRefusal(loop, rt::ErrorKind::unsupported)
         << "expected a loop of known trips, got a condition that depends on "
         << describeUnknown(condition) << ", and " << why
         << " (give lax.scan a length, or lax.fori_loop bounds, that are "
            "numbers, or lax.while_loop a bound: 'i < N & ...')";
}

/// Whether there is another trip; nothing where the run decides, and the loop
/// stays one from here on.
FailureOr<std::optional<bool>> Unroller::evaluateCondition(WhileOp loop) {
  FailureOr<Operation *> end = copyInFront(loop, loop.getCond());
  if (failed(end))
    return failure();
  Value condition = (*end)->getOperand(0);
  std::optional<HostTensor> holds = getConstant(condition);
  StringRef why = holds ? StringRef() : whyNotOpen(loop);
  if (!why.empty())
    return refuse(loop, condition, why);
  eraseWithOperands(*end);
  return holds ? std::optional(holds->getInt(0) != 0) : std::nullopt;
}

LogicalResult Unroller::makeTrip(WhileOp loop) {
  numTrips += loop == root;
  if (failed(spend()))
    return failure();
  FailureOr<Operation *> end = copyInFront(loop, loop.getBody());
  if (failed(end))
    return failure();
  loop->setOperands((*end)->getOperands());
  (*end)->erase();
  return success();
}

LogicalResult Unroller::unroll(WhileOp loop, SmallVectorImpl<Value> &results) {
  while (true) {
    FailureOr<std::optional<bool>> goesOn = evaluateCondition(loop);
    if (failed(goesOn))
      return failure();
    if (!goesOn->has_value()) {
      OpBuilder builder(loop);
      keepOpenLoop(loop, builder, results);
      return success();
    }
    if (!**goesOn)
      break;
    if (failed(makeTrip(loop)))
      return failure();
  }
  results.append(loop->operand_begin(), loop->operand_end());
  return success();
}

namespace {
struct WhileExpansion
    : ExpansionOpInterface::ExternalModel<WhileExpansion, WhileOp> {
  LogicalResult expand(Operation *op, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto loop = cast<WhileOp>(op);
    boundLoopsIn(loop);
    if (hasBound(loop)) {
      boundLoop(loop, builder, results);
      return success();
    }
    if (isKept(loop)) {
      keepLoop(loop, builder, results);
      return success();
    }
    return Unroller(loop).unroll(loop, results);
  }
};
} // namespace

void stablehlo::registerLoopModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    WhileOp::attachInterface<WhileExpansion>(*context);
  });
}
