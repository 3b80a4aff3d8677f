//===- VerifyMemory.cpp - What holds after phase 6 ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
// Test: test/Transforms/Activations/verify-memory.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Transforms/Activations/Passes.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_VERIFYMEMORYPASS
#include "llmc/Transforms/Activations/Passes.h.inc"
} // namespace llmc

namespace {
struct VerifyMemoryPass : llmc::impl::VerifyMemoryPassBase<VerifyMemoryPass> {
  void runOnOperation() override;
};
} // namespace

namespace {
/// The programs of one timeline, with what they read and write on each stage.
class TimelineChecker {
public:
  TimelineChecker(dist::TimelineOp timeline, ModuleOp module)
      : timeline(timeline), module(module) {}

  LogicalResult run();

private:
  void readWrites();
  LogicalResult checkReads(dist::ProgramAttr program);
  LogicalResult checkTransfers(dist::ProgramAttr program);
  func::FuncOp lookup(dist::ProgramAttr program) {
    return module.lookupSymbol<func::FuncOp>(program.getFunction().getValue());
  }

  dist::TimelineOp timeline;
  ModuleOp module;
  /// Slots, and the stages at which some program writes them.
  llvm::DenseSet<std::pair<Attribute, int64_t>> written;
  llvm::DenseSet<Attribute> isWritten;
  llvm::DenseMap<Attribute, Stages> buffers;
};
} // namespace

void TimelineChecker::readWrites() {
  for (auto program : timeline.getPrograms().getAsRange<dist::ProgramAttr>()) {
    func::FuncOp function = lookup(program);
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      Attribute slot = dist::getResultPort(function, i).getSlot();
      isWritten.insert(slot);
      for (int64_t stage : program.getAt().asArrayRef())
        written.insert({slot, stage});
    }
  }
  buffers = getBufferStages(module);
}

/// An `act` slot and a sum are written at the stage that reads them, by another
/// program; a state lives there.
LogicalResult TimelineChecker::checkReads(dist::ProgramAttr program) {
  func::FuncOp function = lookup(program);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    // All have a port, as the timeline has checked.
    dist::PortAttr slot = dist::getArgumentPort(function, i).getSlot();
    bool isMade = slot.isSum() || dist::isAnyPort(slot, {dist::PortKind::Act,
                                                         dist::PortKind::Carry,
                                                         dist::PortKind::Kept});
    if (isMade && !isWritten.contains(slot))
      return function.emitOpError()
             << "expected slot " << slot << " to be written by a program of '"
             << timeline.getSymName() << "'";
    for (int64_t stage : program.getAt().asArrayRef()) {
      if (isMade && !written.contains({slot, stage}))
        return function.emitOpError()
               << "expected slot " << slot << " to be written at stage "
               << stage << ", where it is read";
      if (slot.getKind() != dist::PortKind::Buffer)
        continue;
      auto buffer = buffers.find(slot.getSymbol().getAttr());
      if (buffer != buffers.end() && !llvm::is_contained(buffer->second, stage))
        return function.emitOpError()
               << "at stage " << stage << " reads " << slot
               << ", which lives at " << printStages(buffer->second);
    }
  }
  return success();
}

/// What is sent or received has a route.
LogicalResult TimelineChecker::checkTransfers(dist::ProgramAttr program) {
  func::FuncOp function = lookup(program);
  auto hasRoute = [&](Attribute name, bool isSent) {
    return llvm::any_of(timeline.getTransfers().getAsRange<dist::RouteAttr>(),
                        [&](dist::RouteAttr route) {
                          return route.getTransfer() == name &&
                                 (isSent ? route.getFrom() : route.getTo()) ==
                                     program.getFunction();
                        });
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (dist::PortAttr port = dist::getArgumentPort(function, i);
        dist::isPort(port, dist::PortKind::Recv) &&
        !hasRoute(port.getSymbol(), false))
      return function.emitOpError()
             << "expected a route of transfer " << port.getSymbol() << " to it";
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (dist::PortAttr port = dist::getResultPort(function, i);
        dist::isPort(port, dist::PortKind::Send) &&
        !hasRoute(port.getSymbol(), true))
      return function.emitOpError() << "expected a route of transfer "
                                    << port.getSymbol() << " from it";
  return success();
}

LogicalResult TimelineChecker::run() {
  readWrites();
  for (auto program : timeline.getPrograms().getAsRange<dist::ProgramAttr>())
    if (failed(checkReads(program)) || failed(checkTransfers(program)))
      return failure();
  return success();
}

void VerifyMemoryPass::runOnOperation() {
  markAllAnalysesPreserved();
  WalkResult walk = getOperation().walk([&](Operation *op) {
    if (isa<dist::StepOp, dist::EntryOp, dist::SegmentOp>(op)) {
      op->emitOpError() << "must not occur after phase 6";
      return WalkResult::interrupt();
    }
    if (auto timeline = dyn_cast<dist::TimelineOp>(op))
      if (failed(TimelineChecker(timeline, getOperation()).run()))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    signalPassFailure();
}
