//===- Partwise.cpp - Ops that do the same to both parts ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One answer of all moves and of what is linear with real factors:
//
//   transpose (%a, %b)   ->   (transpose %a, transpose %b)
//
// Test: test/Import/StableHLO/complex.mlir
//===----------------------------------------------------------------------===//

#include "Partwise.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

static bool isComplex(Value value) {
  return getPartType(value.getType()) != nullptr;
}

bool stablehlo::isPartwise(Operation &op) {
  auto answer = dyn_cast<ComplexPartsOpInterface>(&op);
  return (answer && answer.isPartwise()) ||
         (llvm::none_of(op.getOperands(), isComplex) &&
          llvm::none_of(op.getResults(), isComplex));
}

bool stablehlo::isPartwise(Region &region) {
  return llvm::all_of(region.front().without_terminator(),
                      [](Operation &op) { return isPartwise(op); });
}

namespace {
template <typename Op>
struct PartwiseModel
    : ComplexPartsOpInterface::ExternalModel<PartwiseModel<Op>, Op> {
  bool isPartwise(Operation *) const { return true; }
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           SmallVectorImpl<ComplexPair> &results) const {
    splitPartwise(op, builder, operands, results);
    return success();
  }
};
} // namespace

template <typename... Ops> static void attachPartwise(MLIRContext *context) {
  (Ops::template attachInterface<PartwiseModel<Ops>>(*context), ...);
}

void stablehlo::registerComplexMovement(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachPartwise<AddOp, SubtractOp, NegOp, SelectOp>(context);
    attachPartwise<BroadcastInDimOp, BroadcastOp, ReshapeOp, TransposeOp,
                   ReverseOp, SliceOp, PadOp, ConcatenateOp, DynamicSliceOp,
                   DynamicUpdateSliceOp, GatherOp, OptimizationBarrierOp>(
        context);
    attachPartwise<DynamicReshapeOp, DynamicBroadcastInDimOp, DynamicIotaOp,
                   DynamicPadOp, RealDynamicSliceOp, DynamicGatherOp,
                   GetDimensionSizeOp, SetDimensionSizeOp>(context);
    attachPartwise<AllGatherOp, AllToAllOp, CollectiveBroadcastOp,
                   CollectivePermuteOp>(context);
  });
}
