//===- Tuples.cpp - Tuples are taken apart --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %t = tuple %a, %b   %c = get_tuple_element %t[1]   ->   %b
//
// Test: test/Import/StableHLO/tuples.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
struct ElementExpansion
    : ExpansionOpInterface::ExternalModel<ElementExpansion, GetTupleElementOp> {
  LogicalResult expand(Operation *of, OpBuilder &,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<GetTupleElementOp>(of);
    auto tuple = op.getOperand().getDefiningOp<TupleOp>();
    if (!tuple)
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << "expected an element of what 'stablehlo.tuple' makes, got one "
                "of another tuple";
    results.push_back(tuple.getValues()[op.getIndex()]);
    return success();
  }
};

/// The import takes apart what it can before it comes to this.
struct TupleExpansion
    : ExpansionOpInterface::ExternalModel<TupleExpansion, TupleOp> {
  LogicalResult expand(Operation *op, OpBuilder &,
                       SmallVectorImpl<Value> &) const {
    return emitRefusal(op, rt::ErrorKind::unsupported)
           << "expected a tuple that is returned, or whose elements are read, "
              "got one that another op takes";
  }
};
} // namespace

void stablehlo::registerTupleModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    GetTupleElementOp::attachInterface<ElementExpansion>(*context);
    TupleOp::attachInterface<TupleExpansion>(*context);
  });
}
