//===- GroupSums.cpp - Terms of one stage are added there -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parameter that several stages use has a gradient with terms on each of
// them. A sum of values at different stages is a join, in which no stage has
// two terms (Pins.h); so each stage adds its own ones first:
//
//   ((a @1 + b @1) + c @0) + d @0   ->   (a + b) @1 + (c + d) @0
//
// What is linear in its only operand beside constants is done for each stage,
// in front of the join. So a sum whose terms are all at one stage is there too,
// wherever its op was. Only values are touched that reach nothing but
// gradients and sums of the step.
//
// Test: test/Transforms/Sharding/group-sums.mlir
//===----------------------------------------------------------------------===//

#include "StageSums.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Solvers/Schedules/Schedule.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::Phase;

namespace llmc {
#define GEN_PASS_DEF_GROUPSUMSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct GroupSumsPass : llmc::impl::GroupSumsPassBase<GroupSumsPass> {
  void runOnOperation() override;
};

/// A value as one term for each stage, in the order of the sum.
struct Terms {
  llvm::MapVector<int64_t, Value> ofStage;
  /// Some of them are new.
  bool isNew = false;
  /// One of the additions they come from.
  Operation *addition = nullptr;
};

class SumGrouper {
public:
  SumGrouper(func::FuncOp function, ArrayRef<int64_t> chunks, int64_t numStages)
      : function(function), chunks(chunks), numStages(numStages) {}

  void run();

private:
  int64_t getStage(Operation *op) const {
    return getStageOfChunk(chunks[*getBlock(op)], numStages);
  }
  bool isMarked(Operation *op) const;
  bool isMixed(Operation *op) const;
  Terms getTerms(Value value) const;
  Terms split(Operation *op);
  void replace(Operation *op);

  func::FuncOp function;
  ArrayRef<int64_t> chunks;
  int64_t numStages;
  /// Values with terms at several stages, or at another one than their own.
  llvm::DenseMap<Value, Terms> mixed;
};
} // namespace

bool SumGrouper::isMarked(Operation *op) const {
  std::optional<int64_t> block = op ? getBlock(op) : std::nullopt;
  return block && *block < static_cast<int64_t>(chunks.size()) && getPhase(op);
}

/// Whether `a` runs later than `b`: forward upward, backward downward through
/// the blocks.
static bool isLater(Operation *a, Operation *b) {
  auto keyOf = [](Operation *op) {
    Phase phase = *getPhase(op);
    bool isForward = phase == Phase::Forward;
    int64_t block = *getBlock(op);
    return std::make_tuple(!isForward, isForward ? block : -block, phase);
  };
  return keyOf(a) > keyOf(b);
}

Terms SumGrouper::getTerms(Value value) const {
  if (auto found = mixed.find(value); found != mixed.end())
    return found->second;
  Terms terms;
  terms.ofStage[getStage(value.getDefiningOp())] = value;
  return terms;
}

/// The op on other operands, marked as the last of them.
static Value cloneOn(ValueRange operands, Operation *op, Operation *before) {
  Operation *copy = OpBuilder(before).clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(operands.front().getType());
  Operation *last = operands.front().getDefiningOp();
  for (Value operand : operands)
    if (isLater(operand.getDefiningOp(), last))
      last = operand.getDefiningOp();
  for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
    copy->setAttr(mark, last->getAttr(mark));
  return copy->getResult(0);
}

/// The op, which is linear in its first operand, of a term of that. Constants
/// go to the stage of the term.
static Value cloneOnTerm(Value term, Operation *op) {
  Value result = cloneOn(term, op, op);
  Operation *copy = result.getDefiningOp();
  result.setType(op->getResult(0).getType());
  for (Value other : op->getOperands().drop_front()) {
    Operation *constant = OpBuilder(copy).clone(*other.getDefiningOp());
    for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
      constant->setAttr(mark, copy->getAttr(mark));
    copy->insertOperands(copy->getNumOperands(), constant->getResults());
  }
  return result;
}

/// The operands of which an op has the terms.
static OperandRange getSummands(Operation *op) {
  return isLinearInFirst(op) ? op->getOperands().take_front(1)
                             : op->getOperands();
}

Terms SumGrouper::split(Operation *op) {
  Terms terms = getTerms(op->getOperand(0));
  if (isLinearInFirst(op)) {
    for (auto &[stage, value] : terms.ofStage)
      value = cloneOnTerm(value, op);
    terms.isNew = true;
    return terms;
  }
  Terms others = getTerms(op->getOperand(1));
  for (auto &[stage, value] : others.ofStage) {
    Value &term = terms.ofStage[stage];
    terms.isNew |= static_cast<bool>(term);
    term = term ? cloneOn({term, value}, op, op) : value;
  }
  terms.isNew |= others.isNew;
  terms.addition = op;
  return terms;
}

/// What is returned becomes the sum over stages.
void SumGrouper::replace(Operation *op) {
  const Terms &terms = mixed.find(op->getResult(0))->second;
  auto isReturn = [](OpOperand &use) {
    return use.getOwner()->hasTrait<OpTrait::IsTerminator>();
  };
  if (!terms.isNew || llvm::none_of(op->getResult(0).getUses(), isReturn))
    return;
  Value sum;
  for (auto &[stage, value] : terms.ofStage)
    sum = sum ? cloneOn({sum, value}, terms.addition, op) : value;
  op->getResult(0).replaceUsesWithIf(sum, isReturn);
}

/// Whether the op's result has terms at several stages, or at another one than
/// its own, as the rows of a stack have that are padded where the stack was
/// cut; or reads such a result, in whose place it takes the terms.
bool SumGrouper::isMixed(Operation *op) const {
  if (!isMarked(op) || !llvm::all_of(getSummands(op), [&](Value value) {
        return isMarked(value.getDefiningOp());
      }))
    return false;
  llvm::SmallSetVector<int64_t, 4> stages;
  for (Value operand : getSummands(op)) {
    if (mixed.contains(operand))
      return true;
    stages.insert(getStage(operand.getDefiningOp()));
  }
  return stages.size() > 1 || stages.front() != getStage(op);
}

void SumGrouper::run() {
  SmallVector<Operation *> ops;
  for (Operation *op : findStageSums(function))
    if (isMixed(op)) {
      Terms terms = split(op);
      mixed.insert({op->getResult(0), terms});
      ops.push_back(op);
    }
  for (Operation *op : ops)
    replace(op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
}

void GroupSumsPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  int64_t numStages = getPipelineSize(*mesh);
  if (numStages == 1)
    return markAllAnalysesPreserved();
  for (ProgramFunction &program : getProgramFunctions(getOperation())) {
    if (program.kind != FunctionKind::Microbatch)
      continue;
    if (std::optional<ArrayRef<int64_t>> chunks = program.getChunks())
      SumGrouper(program.function, *chunks, numStages).run();
  }
}
