//===- LoopReshards.cpp - Changes of layout in the trips of loops ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopReshards.h.
//
// Test: test/Transforms/Sharding/loop-reshards.mlir
//===----------------------------------------------------------------------===//

#include "LoopReshards.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

/// The type of a row of a stack in its layout; null where the dim of rows is
/// split.
static RankedTensorType getRowType(Type stack) {
  auto type = cast<RankedTensorType>(stack);
  LayoutAttr layout = dist::getLayout(type);
  if (!layout || !layout.getDims()[0].getAxes().empty())
    return {};
  auto row = RankedTensorType::get(type.getShape().drop_front(),
                                   type.getElementType());
  return dist::withLayout(row, layout.withDims(layout.getDims().drop_front()));
}

/// What crosses stages does so outside of loops.
static bool staysAtStage(dist::ReshardOp reshard) {
  return dist::getLayout(reshard.getInput().getType()).getAt() ==
         dist::getLayout(reshard.getType()).getAt();
}

static void copyMarks(Operation *from, Operation *to) {
  for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
    if (Attribute value = from->getAttr(mark))
      to->setAttr(mark, value);
}

static void moveInto(dist::EnterOp enter) {
  auto reshard = enter.getInput().getDefiningOp<dist::ReshardOp>();
  RankedTensorType from =
      reshard ? getRowType(reshard.getInput().getType()) : RankedTensorType();
  if (!from || !getRowType(reshard.getType()) || !staysAtStage(reshard))
    return;
  OpBuilder builder(enter);
  builder.setInsertionPointAfter(enter);
  auto inner = dist::ReshardOp::create(builder, reshard.getLoc(),
                                       enter.getType(), enter.getResult());
  copyMarks(enter, inner);
  enter.getResult().replaceAllUsesExcept(inner, inner);
  enter.getInputMutable().assign(reshard.getInput());
  enter.getResult().setType(from);
  if (reshard->use_empty())
    reshard.erase();
}

static void moveInto(dist::LeaveOp leave) {
  auto reshard =
      leave->hasOneUse()
          ? dyn_cast<dist::ReshardOp>(*leave.getResult().user_begin())
          : dist::ReshardOp();
  RankedTensorType to =
      reshard ? getRowType(reshard.getType()) : RankedTensorType();
  if (!to || !getRowType(leave.getType()) || !staysAtStage(reshard))
    return;
  OpBuilder builder(leave);
  auto inner =
      dist::ReshardOp::create(builder, reshard.getLoc(), to, leave.getInput());
  copyMarks(leave, inner);
  leave.getInputMutable().assign(inner);
  leave.getResult().setType(reshard.getType());
  reshard.replaceAllUsesWith(leave.getResult());
  reshard.erase();
}

void llmc::moveReshardsIntoLoops(Block &block) {
  for (auto enter : llvm::make_early_inc_range(block.getOps<dist::EnterOp>()))
    if (enter.isRow())
      moveInto(enter);
  SmallVector<dist::LeaveOp> leaves(block.getOps<dist::LeaveOp>());
  for (dist::LeaveOp leave : leaves)
    if (leave.isStack())
      moveInto(leave);
}
