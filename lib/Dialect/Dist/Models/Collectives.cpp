//===- Collectives.cpp - Answers of the collectives -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On global values each collective is the identity. On local values it needs
// the other devices: the interpreter's lockstep runs it there, and evaluating
// one device alone is an error unless the collective keeps the shape, as it
// does over axes of size 1.
//
// Its cost is its traffic in this device's memory; links are priced by the
// planner. It is an instruction of a communicator and no kernel, and is made
// after differentiation (Refusals.def).
//
// Test: test/Dialect/Dist/Models/LayoutTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/Graph/IR/Answers.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::dist;

namespace {
template <typename Op> struct CollectiveAnswers : AnswerDefaults<Op> {
  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    if (op.getExchange().counts)
      return op.emitOpError("expected the devices that exchange as much as the "
                            "run says; evaluate the mesh in lockstep");
    for (auto [value, result] : llvm::zip(call.operands, op->getResults())) {
      auto type = cast<RankedTensorType>(result.getType());
      if (value.getShape() != type.getShape())
        return op.emitOpError("expected a collective of one device to keep the "
                              "shape, got ")
               << value.getType() << " and " << type
               << "; evaluate the mesh in lockstep";
      call.results.push_back(value);
    }
    return success();
  }
};

template <typename... Ops> void attachCollectives(MLIRContext *context) {
  (attachSomeAnswers<Ops, CollectiveAnswers<Ops>, graph::detail::CostModel,
                     graph::detail::EvaluationModel>(context),
   ...);
}
} // namespace

void dist::registerCollectiveModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    attachCollectives<AllReduceOp, ReduceScatterOp, AllGatherOp, AllToAllOp,
                      PermuteOp, BroadcastOp, ReduceOp, RaggedAllToAllOp>(
        context);
  });
}
