//===- CutSegments.cpp - Every op moves into its segment ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a microbatch or entry the segment of an op is its (phase, chunk). Segments
// follow each other as values flow: forward upward through the chunks, backward
// downward. In an update it is the set of stages at which the op runs: each op
// goes to the first segment with its stages after what it reads, so that there
// are few. Transfers and joins stay between segments.
// Loops cut a chunk into parts (LoopParts.h). What a step prepares has segments
// of its own in front of all others, as long as it needs nothing of them.
//
//   u = f(a) at(0), v = g(b) at(1), w = all_reduce(join(u, v)) at(0, 1)
//   -> segment at(0), segment at(1), join, segment at(0, 1)
//
// Test: test/Transforms/Partition/cut-segments.mlir
//===----------------------------------------------------------------------===//

#include "LoopParts.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Transforms/Partition/Passes.h"
#include "mlir/IR/Remarks.h"
#include <map>

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
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
  /// -1 prepare, 0 forward, 1 backward, 2 update.
  int direction = 0;
  /// Forward: the chunk; backward: its negative, since it runs downward;
  /// update: the place.
  int64_t rank = 0;
  /// Backward-weight stands after backward-input of its chunk.
  bool isWeight = false;
  int64_t chunk = 0;
  Phase phase = Phase::Forward;
  /// Of an update.
  Stages at;
  /// Between and in the loops of a chunk.
  LoopParts::Part part = {0};
  dist::LoopAttr loop;

  bool operator<(const SegmentKey &other) const {
    return std::tie(direction, rank, isWeight, part) <
           std::tie(other.direction, other.rank, other.isWeight, other.part);
  }
  bool operator==(const SegmentKey &other) const {
    return !(*this < other) && !(other < *this);
  }
};

/// The cut of one function.
class Cutter {
public:
  Cutter(ProgramFunction &program, ArrayRef<int64_t> chunks, StageMap &stages,
         StringRef axis)
      : function(program.function), body(function.front()), chunks(chunks),
        isUpdate(program.kind == FunctionKind::Update), stages(stages),
        axis(axis) {}

  LogicalResult run();

private:
  FailureOr<SegmentKey> keyOf(Operation *op);
  SegmentKey updateKeyOf(Operation *op);
  SegmentKey homeOf(Operation *constant, bool isJoined);
  std::optional<SegmentKey> keyOf(Value value, bool &isAfter);
  bool isPrepared(Operation *op);
  void receivePrepared(dist::TransferOp transfer);
  LogicalResult readKeys();
  void widenCollective(Operation *op);
  LogicalResult prepareCollectives();
  void cutAtLoops();
  void spreadEnter(dist::EnterOp enter);
  void spreadEnters();
  void spreadConstants();
  LogicalResult checkOrder();
  void makeSegment(const SegmentKey &key, ArrayRef<Operation *> ops);

  func::FuncOp function;
  Block &body;
  ArrayRef<int64_t> chunks;
  bool isUpdate, hasLoops = false;
  StageMap &stages;
  StringRef axis;
  llvm::DenseMap<Operation *, SegmentKey> keys;
  /// Of an update: the stages of each segment, and of those in front of them
  /// for constants that go through joins.
  SmallVector<Stages> places, front;
  std::map<SegmentKey, SmallVector<Operation *>> segments;
};
} // namespace

static Stages getStagesOf(Operation *op, const StageMap &stages) {
  if (auto at = op->getAttrOfType<DenseI64ArrayAttr>(DistDialect::kAt))
    return Stages(at.asArrayRef());
  return stages.getAll();
}

/// The segment that makes `value`, the latest where a transfer or join stands
/// between (which sets `isAfter`); none for arguments and constants.
std::optional<SegmentKey> Cutter::keyOf(Value value, bool &isAfter) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return std::nullopt;
  if (!isCrossing(def)) {
    auto found = keys.find(def);
    return found == keys.end() ? std::nullopt
                               : std::optional<SegmentKey>(found->second);
  }
  std::optional<SegmentKey> last;
  for (Value operand : def->getOperands())
    if (std::optional<SegmentKey> key = keyOf(operand, isAfter)) {
      isAfter = true;
      if (!last || *last < *key)
        last = key;
    }
  return last;
}

/// The first segment with the op's stages after what the op reads.
SegmentKey Cutter::updateKeyOf(Operation *op) {
  int64_t first = 0;
  for (Value operand : op->getOperands()) {
    bool isAfter = false;
    if (std::optional<SegmentKey> key = keyOf(operand, isAfter))
      first = std::max(first, key->rank + (isAfter ? 1 : 0));
  }
  Stages at = getStagesOf(op, stages);
  int64_t rank = first;
  while (rank < static_cast<int64_t>(places.size()) && places[rank] != at)
    ++rank;
  if (rank == static_cast<int64_t>(places.size()))
    places.push_back(at);
  return SegmentKey{2, rank, false, 0, Phase::Update, at};
}

/// Whether all that the op reads is there before the first microbatch.
bool Cutter::isPrepared(Operation *op) {
  int64_t chunk = getChunk(op, chunks).value_or(0);
  return llvm::all_of(dist::getAllOperands(op), [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    if (!def || isMadeAnywhere(def))
      return true;
    bool isSent = isa<dist::TransferOp>(def);
    if (isSent && getPhase(def) != Phase::Prepare)
      return false;
    if (isSent)
      def = def->getOperand(0).getDefiningOp();
    auto key = keys.find(def);
    return key != keys.end() && key->second.phase == Phase::Prepare &&
           key->second.chunk <= chunk;
  });
}

/// Where microbatches read what is sent before them, it is received by an op
/// that is prepared as well.
void Cutter::receivePrepared(dist::TransferOp transfer) {
  SmallVector<OpOperand *> uses;
  Operation *first = nullptr;
  for (OpOperand &use : transfer.getResult().getUses()) {
    Operation *user = body.findAncestorOpInBlock(*use.getOwner());
    if (getPhase(user) == Phase::Prepare || !getChunk(user, chunks))
      continue;
    uses.push_back(&use);
    if (!first || *getChunk(user, chunks) < *getChunk(first, chunks))
      first = user;
  }
  if (!first)
    return;
  OpBuilder builder(transfer->getContext());
  builder.setInsertionPointAfter(transfer);
  auto fence =
      dist::FenceOp::create(builder, transfer.getLoc(), transfer.getResult());
  fence->setAttr(DistDialect::kBlock, first->getAttr(DistDialect::kBlock));
  fence->setAttr(DistDialect::kPhase, transfer->getAttr(DistDialect::kPhase));
  for (OpOperand *use : uses)
    use->set(fence.getResult(0));
}

FailureOr<SegmentKey> Cutter::keyOf(Operation *op) {
  if (isUpdate)
    return updateKeyOf(op);
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
    return SegmentKey{0, chunk, false, chunk, *phase, {}};
  if (*phase == Phase::Update)
    return op->emitOpError() << "expected a phase of a microbatch, got update";
  if (*phase == Phase::Prepare)
    return isPrepared(op)
               ? SegmentKey{-1, chunk, false, chunk, *phase, {}}
               : SegmentKey{0, chunk, false, chunk, Phase::Forward, {}};
  return SegmentKey{1,     -chunk, *phase == Phase::BackwardWeight,
                    chunk, *phase, {}};
}

LogicalResult Cutter::readKeys() {
  for (Operation &op : body.without_terminator()) {
    if (isMadeAnywhere(&op) || isCrossing(&op))
      continue;
    FailureOr<SegmentKey> key = keyOf(&op);
    if (failed(key))
      return failure();
    keys[&op] = *key;
  }
  return success();
}

/// Parts of each chunk. The weights' gradients of a loop are made in its trips,
/// so where there are loops, all of the backward is that of inputs.
void Cutter::cutAtLoops() {
  auto homeOf = [&](Operation *op) -> LoopParts::Home {
    auto key = keys.find(op);
    if (key == keys.end())
      return std::nullopt;
    return std::pair(key->second.direction, key->second.chunk);
  };
  LoopParts parts(body, homeOf);
  hasLoops = !parts.empty();
  if (!hasLoops)
    return;
  for (auto &[op, key] : keys) {
    key.part = parts.getPart(op);
    key.loop = parts.getLoop(op);
    key.isWeight = false;
    if (key.direction == 1)
      key.phase = Phase::BackwardInput;
  }
}

/// Copies what enters a loop into each segment of the loop that reads it, also
/// into those of loops in it. What is carried stands beside its `dist.next`,
/// and all others of the trip, who find it overwritten after that, read it in
/// the first segment.
void Cutter::spreadEnter(dist::EnterOp enter) {
  SegmentKey own = keys[enter], home = own;
  if (enter.isCarry())
    home = keys[enter.getNext()];
  std::map<SegmentKey, Operation *> copies;
  auto copyFor = [&](const SegmentKey &key) {
    Operation *&copy = copies[key];
    if (!copy) {
      copy = OpBuilder(enter).clone(*enter);
      keys[copy] = key;
    }
    return copy->getResult(0);
  };
  for (OpOperand &use : llvm::make_early_inc_range(enter->getUses())) {
    auto found = keys.find(body.findAncestorOpInBlock(*use.getOwner()));
    SegmentKey key = found == keys.end() ? own : found->second;
    if (key == home)
      continue;
    bool isInside =
        key.loop && llvm::is_contained(key.loop.getPath(), enter.getLoop());
    if (enter.isCarry() ? key.loop != enter.getLoop() : !isInside)
      key = own;
    if (!(key == home))
      use.set(copyFor(key));
  }
  keys[enter] = home;
  if (!enter.use_empty())
    return;
  keys.erase(enter);
  enter.erase();
}

void Cutter::spreadEnters() {
  SmallVector<dist::EnterOp> enters(body.getOps<dist::EnterOp>());
  // What enters a loop inside reads what has entered the one around it.
  for (dist::EnterOp enter : llvm::reverse(enters))
    spreadEnter(enter);
}

/// Where a constant stands that no op of a segment uses: it is returned, or
/// goes through a join, in front of which it must then stand.
SegmentKey Cutter::homeOf(Operation *constant, bool isJoined) {
  if (!isUpdate) {
    int64_t block = getBlock(constant).value_or(0);
    int64_t chunk =
        block < static_cast<int64_t>(chunks.size()) ? chunks[block] : 0;
    return SegmentKey{0, chunk, false, chunk, Phase::Forward, {}};
  }
  Stages at = getStagesOf(constant, stages);
  for (auto [rank, place] : llvm::enumerate(places))
    if (place == at && !isJoined)
      return SegmentKey{2, static_cast<int64_t>(rank), false, 0, Phase::Update,
                        at};
  // In front of all others, one place for each set of stages.
  auto place = llvm::find(front, at);
  if (place == front.end())
    place = front.insert(front.end(), at);
  int64_t rank = -1 - (place - front.begin());
  return SegmentKey{2, rank, false, 0, Phase::Update, at};
}

/// Gives each constant to the segment of its users, one clone for each, and
/// with loops also what is computed of constants alone.
void Cutter::spreadConstants() {
  SmallVector<Operation *> constants;
  for (Operation &op : body.without_terminator())
    if (isMadeAnywhere(&op) || (hasLoops && isConstantCone(&op)))
      constants.push_back(&op);
  // What reads constants comes to its users before they do.
  if (hasLoops)
    std::reverse(constants.begin(), constants.end());
  for (Operation *constant : constants) {
    std::map<SegmentKey, Operation *> copies;
    for (OpOperand &use :
         llvm::make_early_inc_range(constant->getResult(0).getUses())) {
      Operation *user = body.findAncestorOpInBlock(*use.getOwner());
      auto found = keys.find(user);
      SegmentKey key = found == keys.end() ? homeOf(constant, isCrossing(user))
                                           : found->second;
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
/// earlier one, nor after a crossing in the one that makes it.
LogicalResult Cutter::checkOrder() {
  for (Operation &op : body.without_terminator()) {
    if (isCrossing(&op))
      continue;
    SegmentKey key = keys[&op];
    segments[key].push_back(&op);
    for (Value operand : op.getOperands()) {
      bool isAfter = false;
      std::optional<SegmentKey> made = keyOf(operand, isAfter);
      if (made && key < *made)
        return op.emitOpError()
               << "in chunk " << key.chunk << " and phase "
               << dist::stringifyPhase(key.phase) << " uses a value of chunk "
               << made->chunk << " and phase "
               << dist::stringifyPhase(made->phase) << ", which runs later";
      // What crosses is there when the segment that makes it is over.
      if (made && isAfter && key == *made)
        return op.emitOpError()
               << "in chunk " << key.chunk << " and phase "
               << dist::stringifyPhase(key.phase)
               << " uses a value of its own segment after a crossing";
    }
  }
  return success();
}

/// All coordinates of its axes are members of a collective: where it is decided
/// for some stages alone, the others take part with zeros.
void Cutter::widenCollective(Operation *op) {
  OpBuilder builder(op);
  int64_t bytes = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    if (stages.getStages(operand.get()) == stages.getAll())
      continue;
    bytes += getBytes(operand.get());
    auto join =
        dist::JoinOp::create(builder, op->getLoc(), operand.get().getType(),
                             operand.get(), builder.getStringAttr(axis));
    join->setAttr(DistDialect::kAt,
                  builder.getDenseI64ArrayAttr(stages.getAll()));
    operand.set(join);
  }
  if (getStagesOf(op, stages) == stages.getAll())
    return;
  op->removeAttr(DistDialect::kAt);
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("Widen").category("segments"))
      << ("all stages take part in " + op->getName().getStringRef() + ": " +
          Twine(bytes) + " B are zero on each of the others")
             .str();
}

/// What is spread over the stages only to be returned is returned by the stage
/// that makes it.
static bool dropReturnedBroadcast(Operation *op) {
  auto broadcast = dyn_cast<dist::BroadcastOp>(op);
  bool isOnlyReturned = llvm::all_of(op->getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>();
  });
  if (!broadcast || broadcast.getAxes().size() != 1 || !isOnlyReturned)
    return false;
  op->replaceAllUsesWith(broadcast.getInputs());
  op->erase();
  return true;
}

LogicalResult Cutter::prepareCollectives() {
  if (stages.getNumStages() == 1)
    return success();
  SmallVector<Operation *> collectives;
  for (Operation &op : body)
    if (isCollectiveOver(&op, axis))
      collectives.push_back(&op);
  for (Operation *op : collectives) {
    // Stages are at different microbatches at any time.
    if (!isUpdate && dropReturnedBroadcast(op))
      continue;
    if (!isUpdate)
      return op->emitOpError() << "expected no collective over pipeline axis \""
                               << axis << "\" in a microbatch";
    if (!isSeeded(Fault::collectiveIsNotWidened))
      widenCollective(op);
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
  Location loc = ops.front()->getLoc();
  dist::SegmentOp segment =
      isUpdate ? dist::SegmentOp::create(builder, loc, types, key.at)
               : dist::SegmentOp::create(builder, loc, types, key.chunk,
                                         key.phase, key.loop);
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
  for (auto transfer : llvm::to_vector(body.getOps<dist::TransferOp>()))
    if (getPhase(transfer) == Phase::Prepare)
      receivePrepared(transfer);
  if (!isUpdate)
    prepareLoops(function);
  if (failed(prepareCollectives()) || failed(readKeys()))
    return failure();
  if (!isUpdate) {
    cutAtLoops();
    spreadEnters();
  }
  spreadConstants();
  if (failed(checkOrder()))
    return failure();
  for (auto &[key, ops] : segments)
    makeSegment(key, ops);
  placeCrossings(body);
  return success();
}

void CutSegmentsPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  StringRef axis = mesh->getPipeline().value_or("");
  llvm::SmallPtrSet<Operation *, 8> done;
  for (ProgramFunction &program : getProgramFunctions(getOperation())) {
    if (!done.insert(program.function).second)
      continue;
    StageMap stages(getOperation(), program.owner);
    Cutter cutter(program, program.getChunks().value_or(ArrayRef<int64_t>()),
                  stages, axis);
    if (failed(cutter.run()))
      return signalPassFailure();
  }
}
