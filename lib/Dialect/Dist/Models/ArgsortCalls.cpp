//===- ArgsortCalls.cpp - What a library puts into order ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.argsort %x dim 1 : (tensor<8x4096x2xf32>) -> tensor<8x16x2xi32>
//     ->  outer 8, size 4096, inner 2, count 16
//
// Tested by test/Dialect/Dist/Models/ArgsortCallsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "llmc/Support/StoredElements.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

namespace {
struct ArgsortModel
    : graph::LibraryCallOpInterface::ExternalModel<ArgsortModel, ArgsortOp> {
  FailureOr<rt::LibraryDescriptor> getDescriptor(Operation *of) const {
    auto op = cast<ArgsortOp>(of);
    rt::ArgsortShape shape;
    for (auto [key, isDescending] :
         llvm::zip_equal(op.getKeys(), op.getDescending())) {
      Type element = cast<RankedTensorType>(key.getType()).getElementType();
      std::optional<rt::DType> dtype = getRuntimeDType(element);
      if (!dtype)
        return op.emitOpError()
               << "expected elements that the runtime stores, got "
               << key.getType();
      shape.keys.push_back({*dtype, isDescending});
    }
    auto type = cast<RankedTensorType>(op.getKeys().front().getType());
    int64_t dim = op.getDim();
    shape.outer = llvm::product_of(type.getShape().take_front(dim));
    shape.size = type.getDimSize(dim);
    shape.inner = llvm::product_of(type.getShape().drop_front(dim + 1));
    shape.count = op.getResult().getType().getDimSize(dim);
    return rt::LibraryDescriptor(std::move(shape));
  }
  SmallVector<Value> getBuffers(Operation *of) const {
    auto op = cast<ArgsortOp>(of);
    SmallVector<Value> buffers(op.getKeys());
    buffers.push_back(op.getResult());
    return buffers;
  }
  SmallVector<std::pair<int64_t, int64_t>> getTiedPairs(Operation *) const {
    return {};
  }
};
} // namespace

void dist::registerArgsortCallModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    ArgsortOp::attachInterface<ArgsortModel>(*context);
  });
}
