//===- WidenSums.cpp - Sums over devices in f32 ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices add up floats of 16 bits in f32 and round once. Where a target's
// collectives add up in the elements' own type, what is sent is f32:
//
//   %1 = dist.all_reduce %0 … sum : tensor<8xbf16>
//     ->  %w = convert %0 to f32, %s = dist.all_reduce %w … sum :
//     tensor<8xf32>,
//         %1 = convert %s to bf16
//
// Test: test/Transforms/Kernels/widen-sums.mlir
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/ProgramTarget.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Kernels/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_WIDENSUMSPASS
#include "llmc/Transforms/Kernels/Passes.h.inc"

namespace {

bool isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 32;
}

/// Whether each addition or multiplication of it is rounded.
bool isRounded(dist::CollectiveInterface collective) {
  std::optional<ReductionKind> kind = collective.getReductionKind();
  return (kind == ReductionKind::sum || kind == ReductionKind::product) &&
         isNarrow(collective.getInputs()[0].getType());
}

class WidenSumsPass : public impl::WidenSumsPassBase<WidenSumsPass> {
public:
  void runOnOperation() override {
    // 1 read the IR
    SmallVector<dist::CollectiveInterface> narrow;
    if (!dist::addsUpWide(dist::getTargetName(getOperation())))
      getOperation().walk([&](dist::CollectiveInterface collective) {
        if (isRounded(collective))
          narrow.push_back(collective);
      });
    if (narrow.empty())
      return markAllAnalysesPreserved();
    // 2 write the IR
    for (dist::CollectiveInterface collective : narrow)
      widen(collective);
  }

private:
  static void widen(dist::CollectiveInterface collective) {
    Operation *op = collective;
    Location loc = op->getLoc();
    OpBuilder builder(op);
    Type single = builder.getF32Type();
    IRMapping wide;
    for (Value input : collective.getInputs())
      if (!wide.contains(input))
        wide.map(input, stablehlo::convertTo(builder, loc, input, single));
    Operation *made = builder.clone(*op, wide);
    int64_t bytes = 0;
    for (auto [result, old] :
         llvm::zip_equal(made->getResults(), op->getResults())) {
      auto type = cast<RankedTensorType>(old.getType());
      bytes += type.getNumElements() *
               (4 - type.getElementType().getIntOrFloatBitWidth() / 8);
      result.setType(type.clone(single));
      old.replaceAllUsesWith(
          stablehlo::convertTo(builder, loc, result, type.getElementType()));
    }
    op->erase();
    remark::missed(loc,
                   remark::RemarkOpts::name("wide-sum").category("kernels"))
        << llvm::formatv("sends f32, {0} bytes more of results, since "
                         "collectives of the target round each addition of "
                         "narrower floats",
                         bytes)
               .str();
  }
};

} // namespace

} // namespace llmc
