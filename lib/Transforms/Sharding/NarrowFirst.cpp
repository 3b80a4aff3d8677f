//===- NarrowFirst.cpp - Fewer bytes are moved ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NarrowFirst.h.
//
// Test: test/Transforms/Sharding/narrow-first.mlir
//===----------------------------------------------------------------------===//

#include "NarrowFirst.h"
#include "NarrowStacks.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

/// Moves that are gone, while a list of them is walked.
using Erased = llvm::SmallPtrSet<Operation *, 8>;

static unsigned getWidth(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementTypeBitWidth();
}

static bool isScalar(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank() == 0;
}

/// Element by element of the first operand, in its layout. All others are
/// scalars.
static bool isElementwise(Operation *op) {
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op);
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  if (!ruled || !kernel || op->getNumOperands() == 0 ||
      op->getNumResults() != 1 || !isMemoryEffectFree(op) ||
      kernel.getKernelForm() != graph::KernelForm::Element ||
      !llvm::all_of(op->getOperands().drop_front(), isScalar))
    return false;
  graph::ShardingRule rule = ruled.getShardingRule();
  return rule.operands.front() == rule.results.front() &&
         dist::getLayout(op->getOperand(0).getType()) ==
             dist::getLayout(op->getResult(0).getType());
}

bool llmc::isNarrowing(Operation *op) {
  return isElementwise(op) &&
         getWidth(op->getResult(0)) < getWidth(op->getOperand(0));
}

/// The kind, where all elements of the first operand are combined into a scalar
/// by one that may count an element twice.
static std::optional<ReductionKind> getWholeReduction(Operation *op) {
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!ruled || op->getNumResults() != 1 || !isScalar(op->getResult(0)) ||
      isScalar(op->getOperand(0)) || !isMemoryEffectFree(op) ||
      !llvm::all_of(op->getOperands().drop_front(), isScalar))
    return std::nullopt;
  graph::ShardingRule rule = ruled.getShardingRule();
  std::optional<ReductionKind> kind;
  for (const graph::Factor &factor : rule.factors) {
    if (factor.kind != graph::FactorKind::Reduced ||
        !isIdempotent(factor.reduction) || (kind && *kind != factor.reduction))
      return std::nullopt;
    kind = factor.reduction;
  }
  return kind;
}

/// What a reader begins that makes a scalar of the value: ops that each the
/// next one alone reads. Nothing for other readers.
static SmallVector<Operation *> getReducedBy(Operation *reader) {
  SmallVector<Operation *> ops = {reader};
  while (!getWholeReduction(ops.back())) {
    Operation *op = ops.back();
    if (!isElementwise(op) || !op->getResult(0).hasOneUse())
      return {};
    Operation *next = *op->getResult(0).getUsers().begin();
    if (next->getOperand(0) != op->getResult(0))
      return {};
    ops.push_back(next);
  }
  return ops;
}

/// What is partial is rounded only when it is added up; what crosses stages is
/// computed in the segment that reads it.
static bool moves(dist::ReshardOp reshard) {
  LayoutAttr from = dist::getLayout(reshard.getInput().getType()),
             to = dist::getLayout(reshard.getType());
  return from.getPartial().empty() && to.getPartial().empty() &&
         from.getAt() == to.getAt();
}

/// Equal but for the marks of block and phase.
static bool isSame(Operation *a, Operation *b) {
  return a->getName() == b->getName() && a->getOperands() == b->getOperands() &&
         a->getResultTypes() == b->getResultTypes() &&
         a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute();
}

static LayoutAttr getFull(Value value) {
  return dist::getLayout(value.getType()).withPartial({});
}

static bool isPartial(Value value) {
  return !dist::getLayout(value.getType()).getPartial().empty();
}

/// Whether what is made of a scalar while it is partial can be made of the
/// whole one: no other operand is partial.
static bool canBeFull(Value value) {
  return !isPartial(value) ||
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return isa<dist::ReshardOp>(user) ||
                  (user->getNumResults() == 1 &&
                   canBeFull(user->getResult(0)) &&
                   llvm::all_of(user->getOperands(), [&](Value operand) {
                     return operand == value || !isPartial(operand);
                   }));
         });
}

/// Gives a scalar, and what is made of it while it is partial, the layout of a
/// whole one. Moves that then do nothing are `erased`.
static void makeFull(Value value, Erased &erased) {
  if (!isPartial(value))
    return;
  auto type = cast<RankedTensorType>(value.getType());
  value.setType(dist::withLayout(
      RankedTensorType::get(type.getShape(), type.getElementType()),
      getFull(value)));
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    auto reshard = dyn_cast<dist::ReshardOp>(user);
    if (!reshard) {
      makeFull(user->getResult(0), erased);
    } else if (reshard.getType() == value.getType()) {
      reshard.getResult().replaceAllUsesWith(value);
      erased.insert(reshard);
      reshard.erase();
    }
  }
}

/// The reduction's scalar, of what each device has.
static Value reduceOwn(OpBuilder &builder, Value value,
                       ArrayRef<Operation *> ops) {
  LayoutAttr from = dist::getLayout(value.getType());
  for (Operation *op : ops) {
    Operation *copy = builder.clone(*op);
    copy->setOperand(0, value);
    value = copy->getResult(0);
    auto type = cast<RankedTensorType>(value.getType());
    LayoutAttr layout = from;
    if (op == ops.back()) {
      layout = getFull(value);
      for (dist::DimAttr dim : from.getDims())
        for (dist::AxisAttr axis : dim.getAxes())
          layout = layout.withPartialOver(axis, *getWholeReduction(op));
    }
    value.setType(dist::withLayout(
        RankedTensorType::get(type.getShape(), type.getElementType()), layout));
  }
  return value;
}

/// Each device combines what it has, and then all of them theirs.
static void reduceFirst(dist::ReshardOp reshard, ArrayRef<Operation *> ops,
                        Erased &erased) {
  Operation *last = ops.back();
  OpBuilder builder(last);
  Value old = last->getResult(0);
  Value value = reduceOwn(builder, reshard.getInput(), ops);
  makeFull(old, erased);
  if (value.getType() != old.getType()) {
    auto all =
        dist::ReshardOp::create(builder, last->getLoc(), old.getType(), value);
    for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
      if (Attribute is = last->getAttr(mark))
        all->setAttr(mark, is);
    value = all.getResult();
  }
  old.replaceAllUsesWith(value);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

/// Splits readers into those that make a scalar of the value, and the others.
static SmallVector<Operation *>
takeReductions(SmallVectorImpl<Operation *> &readers,
               SmallVectorImpl<SmallVector<Operation *>> &reductions) {
  SmallVector<Operation *> others;
  for (Operation *reader : readers) {
    SmallVector<Operation *> ops = getReducedBy(reader);
    if (ops.empty() || !canBeFull(ops.back()->getResult(0)))
      others.push_back(reader);
    else
      reductions.push_back(std::move(ops));
  }
  return others;
}

static void narrowFirst(dist::ReshardOp reshard, Erased &erased) {
  SmallVector<Operation *> all(reshard->getUsers());
  SmallVector<SmallVector<Operation *>> reductions;
  SmallVector<Operation *> readers = takeReductions(all, reductions);
  if (readers.empty() || !moves(reshard) || !llvm::all_of(readers, isNarrowing))
    return;
  Operation *first = readers.front();
  for (Operation *reader : readers)
    first = reader->isBeforeInBlock(first) ? reader : first;
  if (!llvm::all_of(readers, [&](Operation *op) { return isSame(op, first); }))
    return;
  auto narrow = cast<RankedTensorType>(first->getResult(0).getType());
  auto type = dist::withLayout(
      RankedTensorType::get(narrow.getShape(), narrow.getElementType()),
      dist::getLayout(reshard.getInput().getType()));
  for (ArrayRef<Operation *> ops : reductions)
    reduceFirst(reshard, ops, erased);
  // Where its scalars are there.
  if (first->getNumOperands() > 1)
    reshard->moveBefore(first);
  OpBuilder builder(reshard);
  Operation *copy = builder.clone(*first);
  copy->setOperand(0, reshard.getInput());
  copy->getResult(0).setType(type);
  for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
    if (Attribute value = reshard->getAttr(mark))
      copy->setAttr(mark, value);
  reshard.getInputMutable().assign(copy->getResult(0));
  reshard.getResult().setType(narrow);
  for (Operation *reader : readers) {
    reader->getResult(0).replaceAllUsesWith(reshard.getResult());
    reader->erase();
  }
}

/// The readers of a value in the trips of loops that it enters; whether these
/// and all others make the same of its elements, narrow.
static bool findInTrips(Value value, Operation *&like,
                        SmallVectorImpl<Operation *> &inTrips) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto enter = dyn_cast<dist::EnterOp>(user))
      return !enter.isCarry() && findInTrips(enter.getResult(), like, inTrips);
    if (!isNarrowing(user) || user->getNumOperands() != 1)
      return false;
    like = like ? like : user;
    if (findNarrowedStack(user))
      inTrips.push_back(user);
    return like->getName() == user->getName() &&
           getWidth(like->getResult(0)) == getWidth(user->getResult(0)) &&
           like->getPropertiesAsAttribute() == user->getPropertiesAsAttribute();
  });
}

/// What all trips of loops make narrow of what is moved in front of them, is
/// made of it there.
static void narrowInFront(dist::ReshardOp reshard) {
  Operation *like = nullptr;
  SmallVector<Operation *> inTrips;
  if (!moves(reshard) || !findInTrips(reshard.getResult(), like, inTrips))
    return;
  StackNarrower narrower;
  for (Operation *op : inTrips)
    narrower.lift(op, /*chunk=*/0);
}

void llmc::narrowBeforeMoves(Block &block) {
  SmallVector<dist::ReshardOp> reshards(block.getOps<dist::ReshardOp>());
  Erased erased;
  for (dist::ReshardOp reshard : reshards)
    if (!erased.contains(reshard)) {
      narrowInFront(reshard);
      narrowFirst(reshard, erased);
    }
}
