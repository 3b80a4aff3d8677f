//===- FactorCopies.cpp - Factors as a library multiplies them ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FactorCopies.h.
//
// Test: test/Transforms/Kernels/float8-factors.mlir
//
//===----------------------------------------------------------------------===//

#include "FactorCopies.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Runtime/Base/Float8Factors.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace llmc::kernels {

/// The copy that is known, before `call` in its block; null without one.
static Value reuse(Operation *known, Operation *call) {
  if (!known || known->getBlock() != call->getBlock())
    return {};
  if (!known->isBeforeInBlock(call))
    known->moveBefore(call);
  return known->getResult(0);
}

void FactorCopies::transpose(graph::LibraryCallOpInterface call,
                             unsigned operand) {
  Value factor = call->getOperand(operand);
  SmallVector<int64_t> order = call.getInnerOrder(operand);
  Operation *&known =
      copies[{factor.getAsOpaquePointer(),
              std::vector<int64_t>(order.begin(), order.end())}];
  Value copy = reuse(known, call);
  if (!copy) {
    OpBuilder builder(call);
    copy = stablehlo::transpose(builder, call.getLoc(), factor, order);
    known = copy.getDefiningOp();
    known->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    int64_t bytes = cast<RankedTensorType>(factor.getType()).getNumElements();
    remark::missed(call.getLoc(),
                   remark::RemarkOpts::name("factor").category("kernels"))
        << llvm::formatv("copies a factor of {0} bytes: tensor cores multiply "
                         "floats of 8 bits where what is added up is "
                         "contiguous",
                         bytes)
               .str();
  }
  call.readInnerOrder(operand, copy);
}

void FactorCopies::widen(graph::LibraryCallOpInterface call, unsigned operand) {
  Value factor = call->getOperand(operand);
  Operation *&known = copies[{factor.getAsOpaquePointer(), {}}];
  Value copy = reuse(known, call);
  if (!copy) {
    OpBuilder builder(call);
    copy = stablehlo::convertTo(builder, call.getLoc(), factor,
                                builder.getBF16Type());
    known = copy.getDefiningOp();
    known->setDiscardableAttrs(call->getDiscardableAttrDictionary());
  }
  call->setOperand(operand, copy);
}

void FactorCopies::read(graph::LibraryCallOpInterface call) {
  FailureOr<rt::LibraryDescriptor> descriptor = call.getDescriptor();
  auto *shape = succeeded(descriptor)
                    ? std::get_if<rt::ContractionShape>(&*descriptor)
                    : nullptr;
  if (!shape)
    return;
  rt::Float8Factors factors = rt::chooseFloat8Factors(target, *shape);
  if (factors.isWidened)
    remark::missed(call.getLoc(),
                   remark::RemarkOpts::name("factor").category("kernels"))
        << "multiplies bf16, not floats of 8 bits: " + factors.reason;
  for (unsigned operand : {0u, 1u}) {
    if (factors.isWidened)
      widen(call, operand);
    else if (operand ? factors.copiesB : factors.copiesA)
      transpose(call, operand);
  }
}

} // namespace llmc::kernels
