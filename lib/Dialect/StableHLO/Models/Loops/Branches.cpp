//===- Branches.cpp - Branches: one that is taken, or a choice ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of the branch with a known number stand in place of `case` and `if`.
// Where the number is a matter of the run, all branches are computed and their
// results chosen:
//
//   if(%p) { log %x } { %x }   ->   %a = select %p, %x, 0
//                                   %b = log %a
//                                   select %p, %b, %x
//
// A branch that is not taken has no derivative in JAX. The choice at its end
// sends it a cotangent of 0, which the derivatives in it may multiply by an
// infinity. So floats that come in are chosen too: whatever they get of such a
// branch is 0, and not NaN.
//
// Tests: test/Import/StableHLO/expand-branches.mlir, test/EndToEnd/loops.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/Graph/IR/Expansion.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

/// Ops that branches may have together where all of them are computed, with
/// those of the loops in them: about thirty layers of a transformer. Whoever
/// writes a branch does not expect to pay for the others.
static constexpr int64_t kMostChosenOps = 4096;

/// Copies the branch, on `values` in place of what it reads from outside.
/// Returns its end, which holds the results.
static Operation *copyBranch(Region &branch, OpBuilder &builder,
                             const IRMapping &values) {
  IRMapping mapping(values);
  Block &block = branch.front();
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  // What comes from outside and is only passed on stays what it is.
  Operation *end = builder.clone(*block.getTerminator(), mapping);
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (!branch.isAncestor(value.getParentRegion()))
      end->setOperand(i, value);
  return end;
}

/// Appends what an end of a branch holds, and erases it.
static void takeResults(Operation *end, SmallVectorImpl<Value> &results) {
  results.append(end->operand_begin(), end->operand_end());
  end->erase();
}

static LogicalResult takeBranch(Region &branch, OpBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  takeResults(copyBranch(branch, builder, {}), results);
  return success();
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

namespace {
/// When a branch is taken: where `flag`, a scalar, is `isWhen`.
struct Condition {
  Value flag;
  bool isWhen;

  Value choose(OpBuilder &b, Location loc, Value taken, Value other) const {
    return isWhen ? select(b, loc, flag, taken, other)
                  : select(b, loc, flag, other, taken);
  }
};

/// Computes all branches of an op and chooses.
class Chooser {
public:
  Chooser(Operation *op, OpBuilder &b) : b(b), loc(op->getLoc()), op(op) {}

  /// One condition for each branch, of which one holds.
  LogicalResult run(ArrayRef<Condition> conditions,
                    SmallVectorImpl<Value> &results);

private:
  IRMapping chooseOperands(Region &branch, Condition condition);
  FailureOr<Operation *> computeBranch(Region &branch, Condition condition);
  LogicalResult settleBetween(Operation *before, Operation *end);

  OpBuilder &b;
  Location loc;
  Operation *op;
  int64_t numOps = 0;
};
} // namespace

/// Floats from outside that the branch computes with: 0 where it is not taken.
IRMapping Chooser::chooseOperands(Region &branch, Condition condition) {
  llvm::SetVector<Value> read;
  for (Operation &inner : branch.front().without_terminator())
    inner.walk([&](Operation *part) {
      for (Value operand : part->getOperands())
        if (!branch.isAncestor(operand.getParentRegion()))
          read.insert(operand);
    });
  IRMapping chosen;
  for (Value value : read)
    if (isFloatTensor(value.getType()) && !matchPattern(value, m_Constant()))
      chosen.map(value, condition.choose(b, loc, value,
                                         constantLike(b, loc, value, 0)));
  return chosen;
}

/// Loops in branches are counted by their trips.
LogicalResult Chooser::settleBetween(Operation *before, Operation *end) {
  for (Operation *next = getNext(before, op->getBlock()); next != end;) {
    if (!next->hasTrait<OpTrait::ConstantLike>() && ++numOps > kMostChosenOps)
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << "expected branches of at most " << kMostChosenOps
             << " ops together, as all are computed where the run chooses one, "
                "got more: move loops out of them";
    FailureOr<Operation *> settled = settle(next);
    if (failed(settled))
      return failure();
    next = *settled;
  }
  return success();
}

/// The end of the branch's ops, which holds its results.
FailureOr<Operation *> Chooser::computeBranch(Region &branch,
                                              Condition condition) {
  Operation *before = op->getPrevNode();
  Operation *end = copyBranch(branch, b, chooseOperands(branch, condition));
  if (failed(settleBetween(before, end)))
    return failure();
  return end;
}

LogicalResult Chooser::run(ArrayRef<Condition> conditions,
                           SmallVectorImpl<Value> &results) {
  // What nothing reads would be erased while branches are settled.
  auto flags = llvm::map_to_vector(
      conditions, [](Condition condition) { return condition.flag; });
  Operation *keeper = ReturnOp::create(b, loc, flags);
  SmallVector<Operation *> ends;
  for (auto [branch, condition] :
       llvm::zip_equal(op->getRegions(), conditions)) {
    FailureOr<Operation *> end = computeBranch(branch, condition);
    if (failed(end))
      return failure();
    ends.push_back(*end);
  }
  keeper->erase();
  takeResults(ends.pop_back_val(), results);
  for (Condition condition : llvm::reverse(conditions.drop_back())) {
    SmallVector<Value> taken;
    takeResults(ends.pop_back_val(), taken);
    for (auto [result, value] : llvm::zip_equal(results, taken))
      if (result != value)
        result = condition.choose(b, loc, value, result);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Expansions
//===----------------------------------------------------------------------===//

namespace {
struct CaseExpansion
    : ExpansionOpInterface::ExternalModel<CaseExpansion, CaseOp> {
  LogicalResult expand(Operation *op, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto choice = cast<CaseOp>(op);
    int64_t count = choice.getBranches().size();
    if (count == 1)
      return takeBranch(choice.getBranches()[0], builder, results);
    if (std::optional<HostTensor> index = getConstant(choice.getIndex())) {
      int64_t number = index->getInt(0);
      bool isInRange = number >= 0 && number < count;
      return takeBranch(choice.getBranches()[isInRange ? number : count - 1],
                        builder, results);
    }
    return Chooser(op, builder).run(getConditions(choice, builder), results);
  }

private:
  /// Two branches, as of `lax.cond`, by their predicate; several by comparisons
  /// with their numbers, the last one where all of these fail.
  static SmallVector<Condition> getConditions(CaseOp op, OpBuilder &b) {
    Value index = op.getIndex(), any;
    auto convert = index.getDefiningOp<ConvertOp>();
    if (op.getBranches().size() == 2 && convert &&
        isBoolTensor(convert.getOperand().getType()))
      return {{convert.getOperand(), false}, {convert.getOperand(), true}};
    SmallVector<Condition> conditions;
    for (size_t i = 0; i + 1 < op.getBranches().size(); ++i) {
      Value number = constantLike(b, op.getLoc(), index, i);
      Value isIt =
          compare(b, op.getLoc(), ComparisonDirection::EQ, index, number);
      conditions.push_back({isIt, true});
      any = any ? OrOp::create(b, op.getLoc(), any, isIt).getResult() : isIt;
    }
    conditions.push_back({any, false});
    return conditions;
  }
};

struct IfExpansion : ExpansionOpInterface::ExternalModel<IfExpansion, IfOp> {
  LogicalResult expand(Operation *op, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto choice = cast<IfOp>(op);
    if (std::optional<HostTensor> pred = getConstant(choice.getPred()))
      return takeBranch(pred->getInt(0) ? choice.getTrueBranch()
                                        : choice.getFalseBranch(),
                        builder, results);
    return Chooser(op, builder)
        .run({{choice.getPred(), true}, {choice.getPred(), false}}, results);
  }
};
} // namespace

void stablehlo::registerBranchModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    CaseOp::attachInterface<CaseExpansion>(*context);
    IfOp::attachInterface<IfExpansion>(*context);
  });
}
