//===- CutSegments.cpp - Every op moves into its segment ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The segment of an op is its (phase, chunk). Segments follow each other as
// values flow: forward upward through the chunks, backward downward.
//
// Test: test/Transforms/Partition/cut-segments.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program.h"
#include "llmc/Transforms/Partition/Passes.h"
#include <map>

using namespace mlir;
using namespace llmc;
using dist::Phase;

namespace llmc {
#define GEN_PASS_DEF_CUTSEGMENTSPASS
#include "llmc/Transforms/Partition/Passes.h.inc"
} // namespace llmc

namespace {
struct CutSegmentsPass : llmc::impl::CutSegmentsPassBase<CutSegmentsPass> {
  void runOnOperation() override;
};

/// Where an op goes; ordered as segments follow each other.
struct SegmentKey {
  /// 0 forward, 1 backward, 2 update.
  int direction = 0;
  /// Forward: the chunk; backward: its negative, since it runs downward.
  int64_t rank = 0;
  /// Backward-weight stands behind backward-input of its chunk.
  bool isWeight = false;
  int64_t chunk = 0;
  Phase phase = Phase::Forward;

  bool operator<(const SegmentKey &other) const {
    return std::tie(direction, rank, isWeight) <
           std::tie(other.direction, other.rank, other.isWeight);
  }
  bool operator==(const SegmentKey &other) const {
    return !(*this < other) && !(other < *this);
  }
};

/// The cut of one function.
class Cutter {
public:
  Cutter(func::FuncOp function, ArrayRef<int64_t> chunks, bool isUpdate,
         int64_t numStages)
      : body(function.getBody().front()), chunks(chunks), isUpdate(isUpdate),
        numStages(numStages) {}

  LogicalResult run();

private:
  FailureOr<SegmentKey> keyOf(Operation *op);
  LogicalResult readKeys();
  void spreadConstants();
  LogicalResult checkOrder();
  void makeSegment(const SegmentKey &key, ArrayRef<Operation *> ops);

  Block &body;
  ArrayRef<int64_t> chunks;
  bool isUpdate;
  int64_t numStages;
  llvm::DenseMap<Operation *, SegmentKey> keys;
  std::map<SegmentKey, SmallVector<Operation *>> segments;
};
} // namespace

static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() && op->getNumOperands() == 0;
}

FailureOr<SegmentKey> Cutter::keyOf(Operation *op) {
  if (isUpdate)
    return SegmentKey{2, 0, false, 0, Phase::Update};
  std::optional<int64_t> block = getBlock(op);
  std::optional<Phase> phase = getPhase(op);
  if (!block || !phase)
    return op->emitOpError()
           << "expected marks 'dist.block' and 'dist.phase' before it is put "
              "into a segment";
  if (*block >= static_cast<int64_t>(chunks.size()))
    return op->emitOpError() << "expected a block below " << chunks.size()
                             << ", which have chunks, got " << *block;
  int64_t chunk = chunks[*block];
  if (*phase == Phase::Forward)
    return SegmentKey{0, chunk, false, chunk, *phase};
  if (*phase == Phase::Update)
    return op->emitOpError() << "expected a phase of a microbatch, got update";
  return SegmentKey{1, -chunk, *phase == Phase::BackwardWeight, chunk, *phase};
}

LogicalResult Cutter::readKeys() {
  for (Operation &op : body.without_terminator()) {
    if (isConstant(&op))
      continue;
    FailureOr<SegmentKey> key = keyOf(&op);
    if (failed(key))
      return failure();
    keys[&op] = *key;
  }
  return success();
}

/// Gives each constant to the segment of its users, one clone for each. A
/// constant that is only returned belongs to the first segment.
void Cutter::spreadConstants() {
  SegmentKey first =
      isUpdate ? SegmentKey{2, 0, false, 0, Phase::Update} : SegmentKey{};
  SmallVector<Operation *> constants;
  for (Operation &op : body.without_terminator())
    if (isConstant(&op))
      constants.push_back(&op);
  for (Operation *constant : constants) {
    std::map<SegmentKey, Operation *> copies;
    for (OpOperand &use :
         llvm::make_early_inc_range(constant->getResult(0).getUses())) {
      Operation *user = body.findAncestorOpInBlock(*use.getOwner());
      auto found = keys.find(user);
      SegmentKey key = found == keys.end() ? first : found->second;
      Operation *&copy = copies[key];
      if (!copy) {
        copy = copies.size() == 1 ? constant
                                  : OpBuilder(constant).clone(*constant);
        keys[copy] = key;
      }
      use.set(copy->getResult(0));
    }
    if (copies.empty())
      constant->erase();
  }
}

/// Segments run in the order of their keys, so a value must not be used in an
/// earlier one.
LogicalResult Cutter::checkOrder() {
  for (Operation &op : body.without_terminator()) {
    SegmentKey key = keys[&op];
    segments[key].push_back(&op);
    for (Value operand : op.getOperands()) {
      auto found = keys.find(operand.getDefiningOp());
      if (found != keys.end() && key < found->second)
        return op.emitOpError()
               << "in chunk " << key.chunk << " and phase "
               << dist::stringifyPhase(key.phase) << " uses a value of chunk "
               << found->second.chunk << " and phase "
               << dist::stringifyPhase(found->second.phase)
               << ", which runs later";
    }
  }
  return success();
}

void Cutter::makeSegment(const SegmentKey &key, ArrayRef<Operation *> ops) {
  llvm::SmallPtrSet<Operation *, 32> inside(ops.begin(), ops.end());
  SmallVector<Value> crossing;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !inside.contains(body.findAncestorOpInBlock(*user));
          }))
        crossing.push_back(result);
  OpBuilder builder(body.getTerminator());
  SmallVector<Type> types = llvm::to_vector(ValueRange(crossing).getTypes());
  SmallVector<Location> locations;
  for (Operation *op : ops)
    locations.push_back(op->getLoc());
  Location loc = locations.front();
  dist::SegmentOp segment;
  if (isUpdate) {
    SmallVector<int64_t> at;
    for (int64_t stage = 0; stage < numStages; ++stage)
      at.push_back(stage);
    segment = dist::SegmentOp::create(builder, loc, types, at);
  } else {
    segment =
        dist::SegmentOp::create(builder, loc, types, key.chunk, key.phase);
  }
  Block *inner = segment.getBody().empty() ? &segment.getBody().emplaceBlock()
                                           : &segment.getBody().front();
  inner->clear();
  for (auto [value, result] : llvm::zip(crossing, segment.getResults()))
    value.replaceUsesWithIf(result, [&](OpOperand &use) {
      return !inside.contains(body.findAncestorOpInBlock(*use.getOwner()));
    });
  for (Operation *op : ops)
    op->moveBefore(inner, inner->end());
  builder.setInsertionPointToEnd(inner);
  dist::YieldOp::create(builder, loc, crossing);
}

LogicalResult Cutter::run() {
  if (failed(readKeys()))
    return failure();
  spreadConstants();
  if (failed(checkOrder()))
    return failure();
  for (auto &[key, ops] : segments)
    makeSegment(key, ops);
  return success();
}

static ArrayRef<int64_t> getChunks(Operation *owner) {
  if (auto step = dyn_cast<dist::StepOp>(owner))
    return step.getChunks().value_or(ArrayRef<int64_t>());
  return cast<dist::EntryOp>(owner).getChunks().value_or(ArrayRef<int64_t>());
}

void CutSegmentsPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  llvm::SmallPtrSet<Operation *, 8> done;
  for (ProgramFunction &program : getProgramFunctions(getOperation())) {
    if (!done.insert(program.function).second)
      continue;
    Cutter cutter(program.function, getChunks(program.owner),
                  program.kind == FunctionKind::Update, getPipelineSize(*mesh));
    if (failed(cutter.run()))
      return signalPassFailure();
  }
}
