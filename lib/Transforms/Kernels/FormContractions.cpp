//===- FormContractions.cpp - Contractions into buffers that exist --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   add(%a, dot(transpose(%x), %dy))  ->  dist.contract %x, %dy plus %a …
//   add(%a, scatter(zeros, …))        ->  scatter(%a, …)
//
// Op names play no part: forms, dimension numbers and rules come from the ops,
// additions, permutations and zeros are recognised in their scalar code
// (ScalarProbe.h). An addition takes the accumulator's place, so %a is defined
// before it.
//
// Test: test/Transforms/Kernels/form-contractions.mlir
//
//===----------------------------------------------------------------------===//

#include "BufferLife.h"
#include "ScalarProbe.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_FORMCONTRACTIONSPASS
#include "llmc/Transforms/Kernels/Passes.h.inc"

namespace {

using namespace kernels;
using graph::KernelForm;

/// The addition that alone reads `value`, if its other operand's buffer may
/// take the sum: an argument that the sum replaces, or a library call's result
/// that nothing else reads.
struct Accumulation {
  Operation *add = nullptr;
  Value accumulator;
};

Accumulation findAccumulation(func::FuncOp function, Value value) {
  if (!value.hasOneUse())
    return {};
  Operation *add = *value.getUsers().begin();
  if (!isAddition(add) || add->getResult(0).getType() != value.getType())
    return {};
  Value other = add->getOperand(add->getOperand(0) == value ? 1 : 0);
  if (!other.hasOneUse() || other.getType() != value.getType())
    return {};
  if (isSameSlot(function, other, add->getResult(0)) ||
      isa_and_nonnull<graph::LibraryCallOpInterface>(other.getDefiningOp()))
    return {add, other};
  return {};
}

/// `value` without a permutation of its dims; `dims` follow it.
Value readInPlace(Value value, bool oneFree, SmallVectorImpl<int64_t> &batch,
                  SmallVectorImpl<int64_t> &contracting) {
  while (oneFree) {
    std::optional<SmallVector<int64_t>> permutation =
        getPermutation(value.getDefiningOp());
    if (!permutation)
      break;
    for (int64_t &dim : batch)
      dim = (*permutation)[dim];
    for (int64_t &dim : contracting)
      dim = (*permutation)[dim];
    value = value.getDefiningOp()->getOperand(0);
  }
  return value;
}

int64_t getNumFree(Value value, size_t batch, size_t contracting) {
  return cast<RankedTensorType>(value.getType()).getRank() - batch -
         contracting;
}

void formContraction(func::FuncOp function, graph::KernelOpInterface op) {
  graph::ContractionShape shape = op.getContraction();
  // The order of several free dims is the result's: they stay where they are.
  Value lhs = readInPlace(op->getOperand(0),
                          getNumFree(op->getOperand(0), shape.lhsBatch.size(),
                                     shape.lhsContract.size()) <= 1,
                          shape.lhsBatch, shape.lhsContract);
  Value rhs = readInPlace(op->getOperand(1),
                          getNumFree(op->getOperand(1), shape.rhsBatch.size(),
                                     shape.rhsContract.size()) <= 1,
                          shape.rhsBatch, shape.rhsContract);
  Accumulation sum = findAccumulation(function, op->getResult(0));
  Operation *replaced = sum.add ? sum.add : op.getOperation();
  OpBuilder builder(replaced);
  auto contract = dist::ContractOp::create(
      builder, op.getLoc(), op->getResult(0).getType(), lhs, rhs,
      sum.accumulator, shape.lhsBatch, shape.rhsBatch, shape.lhsContract,
      shape.rhsContract);
  contract->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  replaced->getResult(0).replaceAllUsesWith(contract.getResult());
  if (sum.add)
    sum.add->erase();
  op->erase();
}

/// An Update that adds to zeros, and whose sum with `%a` is taken: starts from
/// `%a`.
void foldStart(func::FuncOp function, graph::KernelOpInterface op) {
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op.getOperation());
  if (!ruled || !llvm::is_contained(ruled.getShardingRule().addends, 0) ||
      !isZero(op->getOperand(0)))
    return;
  Accumulation sum = findAccumulation(function, op->getResult(0));
  if (!sum.add)
    return;
  op->moveBefore(sum.add);
  op->setOperand(0, sum.accumulator);
  sum.add->getResult(0).replaceAllUsesWith(op->getResult(0));
  sum.add->erase();
}

class FormContractionsPass
    : public impl::FormContractionsPassBase<FormContractionsPass> {
public:
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<graph::KernelOpInterface> contractions, updates;
      function.walk([&](graph::KernelOpInterface op) {
        if (op.getKernelForm() == KernelForm::Contraction)
          contractions.push_back(op);
        else if (op.getKernelForm() == KernelForm::Update)
          updates.push_back(op);
      });
      for (graph::KernelOpInterface op : contractions)
        formContraction(function, op);
      for (graph::KernelOpInterface op : updates)
        foldStart(function, op);
    }
  }
};

} // namespace

} // namespace llmc
