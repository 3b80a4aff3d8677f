//===- NarrowFirst.cpp - Fewer bytes are moved ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NarrowFirst.h.
//
// Test: test/Transforms/Sharding/narrow-first.mlir
//===----------------------------------------------------------------------===//

#include "NarrowFirst.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

static unsigned getWidth(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementTypeBitWidth();
}

/// Element by element, to smaller elements, in the operand's layout.
static bool isNarrowing(Operation *op) {
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op);
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  if (!ruled || !kernel || op->getNumOperands() != 1 ||
      op->getNumResults() != 1 || !isMemoryEffectFree(op) ||
      kernel.getKernelForm() != graph::KernelForm::Element)
    return false;
  Value from = op->getOperand(0), to = op->getResult(0);
  graph::ShardingRule rule = ruled.getShardingRule();
  return getWidth(to) < getWidth(from) && rule.operands == rule.results &&
         dist::getLayout(from.getType()) == dist::getLayout(to.getType());
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
  return a->getName() == b->getName() &&
         a->getResultTypes() == b->getResultTypes() &&
         a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute();
}

static void narrowFirst(dist::ReshardOp reshard) {
  SmallVector<Operation *> readers(reshard->getUsers());
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

void llmc::narrowBeforeMoves(Block &block) {
  SmallVector<dist::ReshardOp> reshards(block.getOps<dist::ReshardOp>());
  for (dist::ReshardOp reshard : reshards)
    narrowFirst(reshard);
}
