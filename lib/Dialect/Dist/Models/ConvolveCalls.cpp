//===- ConvolveCalls.cpp - What a library convolves -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.convolve %x, %w dims [0, 3, 1, 2] x [2, 3, 0, 1] -> [0, 3, 1, 2]
//   a: x   b: w   c: the result
//   indices: m over samples, n over output features, k over input features,
//   each with the strides of the dims that it is; batch over groups, which are
//   the major part of two dims; windows: likewise
//
// Tested by test/Dialect/Dist/Models/ConvolveCallsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "SumCallModel.h"
#include "llmc/Dialect/Dist/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

namespace {
/// A tensor's sizes and strides, in the order of the op's list of its dims.
struct Side {
  SmallVector<int64_t> sizes, strides;

  Side(RankedTensorType type, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> memory = getStrides(type);
    for (int64_t dim : dims) {
      sizes.push_back(type.getDimSize(dim));
      strides.push_back(memory[dim]);
    }
  }
};

struct Sides {
  Side a, b, c;

  explicit Sides(ConvolveOp op)
      : a(op.getLhs().getType(), op.getLhsDims()),
        b(op.getRhs().getType(), op.getRhsDims()),
        c(op.getResult().getType(), op.getResultDims()) {}
};
} // namespace

/// Groups where there are several, then samples, output and input features.
static std::vector<rt::ContractionIndex> getIndices(ConvolveOp op,
                                                    const Sides &sides) {
  using Kind = rt::ContractionIndexKind;
  const auto &[a, b, c] = sides;
  int64_t groups = op.getGroups(), samples = c.sizes[0], inputs = b.sizes[0],
          outputs = b.sizes[1] / groups;
  int64_t bias = op.getBias() ? 1 : 0;
  std::vector<rt::ContractionIndex> indices;
  if (groups > 1) {
    bool ofBatch = op.getBatchGroups() > 1;
    indices.push_back({Kind::batch, groups,
                       ofBatch ? samples * a.strides[0] : inputs * a.strides[1],
                       outputs * b.strides[1], outputs * c.strides[1],
                       bias * outputs});
  }
  indices.push_back({Kind::m, samples, a.strides[0], 0, c.strides[0], 0});
  indices.push_back({Kind::n, outputs, 0, b.strides[1], c.strides[1], bias});
  indices.push_back({Kind::k, inputs, a.strides[1], b.strides[0], 0, 0});
  return indices;
}

static std::vector<rt::ConvolutionWindow> getWindows(ConvolveOp op,
                                                     const Sides &sides) {
  std::vector<rt::ConvolutionWindow> windows;
  const auto &[a, b, c] = sides;
  for (WindowAttr window : op.getWindowRange()) {
    size_t at = windows.size() + 2;
    windows.push_back({a.sizes[at], b.sizes[at], c.sizes[at], a.strides[at],
                       b.strides[at], c.strides[at], window.getLhsDilation(),
                       window.getRhsDilation(), window.getStride(),
                       window.getLow(), window.getReversed()});
  }
  return windows;
}

namespace {
struct ConvolveModel : SumCallModel<ConvolveModel, ConvolveOp> {
  FailureOr<rt::LibraryDescriptor> getDescriptor(Operation *of) const {
    auto op = cast<ConvolveOp>(of);
    rt::ConvolutionShape shape;
    if (failed(describe(op, shape)))
      return failure();
    Sides sides(op);
    shape.indices = getIndices(op, sides);
    shape.windows = getWindows(op, sides);
    return rt::LibraryDescriptor(std::move(shape));
  }
  bool readPermuted(Operation *of, unsigned operand,
                    ArrayRef<int64_t> permutation) const {
    auto op = cast<ConvolveOp>(of);
    if (operand > 1)
      return false;
    SmallVector<int64_t> dims(operand == 0 ? op.getLhsDims() : op.getRhsDims());
    for (int64_t &dim : dims)
      dim = permutation[dim];
    if (operand == 0)
      op.setLhsDims(dims);
    else
      op.setRhsDims(dims);
    return true;
  }
  /// A value for each feature is what libraries add for nothing, where the left
  /// side is not dilated: they have no bias beside a cotangent of it.
  bool addBias(Operation *of, Value bias, ArrayRef<int64_t> dims) const {
    auto op = cast<ConvolveOp>(of);
    RankedTensorType result = op.getResult().getType();
    int64_t features = op.getResultDims()[1];
    bool isDilated = llvm::any_of(op.getWindowRange(), [](WindowAttr window) {
      return window.getLhsDilation() > 1;
    });
    if (!takesBias(op, bias) || isDilated || result.getDimSize(features) == 1 ||
        dims != ArrayRef(features))
      return false;
    op.getBiasMutable().assign(bias);
    return true;
  }
};
} // namespace

void dist::registerConvolveCallModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    ConvolveOp::attachInterface<ConvolveModel>(*context);
  });
}
