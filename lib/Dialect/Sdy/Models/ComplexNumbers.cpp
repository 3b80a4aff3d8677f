//===- ComplexNumbers.cpp - Annotations on complex numbers ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said of a complex value is said of both its parts:
//
//   sharding_constraint (%a, %b) <S>
//     ->   sharding_constraint %a <S>, sharding_constraint %b <S>
//   manual_computation (%a, %b) in_shardings=[<S>]
//     ->   manual_computation of two operands, in_shardings=[<S>, <S>]
//
// Test: test/Import/StableHLO/complex-annotations.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/ComplexParts.h"
#include "llmc/Dialect/Sdy/IR/Sdy.h"
#include "llmc/Dialect/Sdy/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::sdy;
using graph::ComplexPair;

namespace {
/// A value with an annotation.
template <typename Op>
struct AnnotationParts
    : graph::ComplexPartsOpInterface::ExternalModel<AnnotationParts<Op>, Op> {
  bool isPartwise(Operation *) const { return true; }
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           SmallVectorImpl<ComplexPair> &results) const {
    graph::splitPartwise(op, builder, operands, results);
    return success();
  }
};

/// Both parts are members.
struct GroupParts
    : graph::ComplexPartsOpInterface::ExternalModel<GroupParts,
                                                    ShardingGroupOp> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           SmallVectorImpl<ComplexPair> &) const {
    for (Value part : {operands[0].real, operands[0].imag})
      builder.clone(*op)->setOperand(0, part);
    return success();
  }
};

struct ManualParts
    : graph::ComplexPartsOpInterface::ExternalModel<ManualParts,
                                                    ManualComputationOp> {
  LogicalResult splitParts(Operation *of, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           SmallVectorImpl<ComplexPair> &results) const {
    auto op = cast<ManualComputationOp>(of);
    auto in = repeat(op.getInShardings(), op.getOperandTypes());
    auto out = repeat(op.getOutShardings(), op.getResultTypes());
    auto made = cast<ManualComputationOp>(
        graph::splitTogether(op, builder, operands, results));
    made.setInShardingsAttr(in);
    made.setOutShardingsAttr(out);
    return success();
  }

private:
  static TensorShardingPerValueAttr repeat(TensorShardingPerValueAttr all,
                                           TypeRange types) {
    SmallVector<TensorShardingAttr> parts;
    for (auto [sharding, type] : llvm::zip_equal(all.getShardings(), types))
      parts.append(graph::getPartType(type) ? 2 : 1, sharding);
    return TensorShardingPerValueAttr::get(all.getContext(), parts);
  }
};
} // namespace

void sdy::registerModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, SdyDialect *) {
    ShardingConstraintOp::attachInterface<
        AnnotationParts<ShardingConstraintOp>>(*context);
    PropagationBarrierOp::attachInterface<
        AnnotationParts<PropagationBarrierOp>>(*context);
    ShardingGroupOp::attachInterface<GroupParts>(*context);
    ManualComputationOp::attachInterface<ManualParts>(*context);
  });
}
