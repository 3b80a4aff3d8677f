//===- Branches.cpp - A branch that is taken ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of the branch with a known number stand in place of `case` and `if`.
//
// Test: test/Import/StableHLO/expand-branches.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

static LogicalResult refuse(Operation *op, StringRef what, Value unknown) {
  return emitRefusal(op, rt::ErrorKind::unsupported)
         << "expected a branch that is known before the run, got " << what
         << " that depends on " << describeUnknown(unknown)
         << " (compute all branches and choose by jnp.where)";
}

static void takeBranch(Region &branch, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) {
  IRMapping mapping;
  for (Operation &op : branch.front().without_terminator())
    builder.clone(op, mapping);
  for (Value value : branch.front().getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
}

namespace {
struct CaseExpansion
    : ExpansionOpInterface::ExternalModel<CaseExpansion, CaseOp> {
  LogicalResult expand(Operation *op, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto choice = cast<CaseOp>(op);
    std::optional<HostTensor> index = getConstant(choice.getIndex());
    if (!index)
      return refuse(op, "an index", choice.getIndex());
    int64_t number = index->getInt(0), count = choice.getBranches().size();
    bool isInRange = number >= 0 && number < count;
    takeBranch(choice.getBranches()[isInRange ? number : count - 1], builder,
               results);
    return success();
  }
};

struct IfExpansion : ExpansionOpInterface::ExternalModel<IfExpansion, IfOp> {
  LogicalResult expand(Operation *op, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto choice = cast<IfOp>(op);
    std::optional<HostTensor> pred = getConstant(choice.getPred());
    if (!pred)
      return refuse(op, "a predicate", choice.getPred());
    takeBranch(pred->getInt(0) ? choice.getTrueBranch()
                               : choice.getFalseBranch(),
               builder, results);
    return success();
  }
};
} // namespace

void stablehlo::registerBranchModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    CaseOp::attachInterface<CaseExpansion>(*context);
    IfOp::attachInterface<IfExpansion>(*context);
  });
}
