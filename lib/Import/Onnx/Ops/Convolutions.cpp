//===- Convolutions.cpp - Conv, ConvTranspose, causal ones ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors are [batch, channels, spatial...], kernels [output, input,
// spatial...] and, of ConvTranspose, [input, output, spatial...].
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "Windows.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

namespace {
/// A convolution that is to be built.
struct Convolution {
  Value input, kernel;
  SmallVector<int64_t> strides, padding, inputDilation, kernelDilation;
  int64_t groups = 1;
};
} // namespace

static Value buildConvolution(NodeImport &node, const Convolution &what) {
  OpBuilder &b = node.b;
  ArrayRef<int64_t> shape = shapeOf(what.input), kernel = shapeOf(what.kernel);
  auto count = static_cast<int64_t>(what.strides.size());
  SmallVector<int64_t> spatial = range(2, count + 2);
  SmallVector<int64_t> result = {shape[0], kernel[0]};
  for (int64_t i = 0; i < count; ++i) {
    int64_t size = shape[i + 2],
            dilated = size == 0 ? 0 : (size - 1) * what.inputDilation[i] + 1;
    int64_t reach = (kernel[i + 2] - 1) * what.kernelDilation[i] + 1;
    int64_t room =
        dilated + what.padding[2 * i] + what.padding[2 * i + 1] - reach;
    result.push_back(room < 0 ? 0 : room / what.strides[i] + 1);
  }
  auto dims = hlo::ConvDimensionNumbersAttr::get(b.getContext(), 0, 1, spatial,
                                                 1, 0, spatial, 0, 1, spatial);
  auto pads = DenseIntElementsAttr::get(
      RankedTensorType::get({count, 2}, b.getI64Type()), what.padding);
  return hlo::ConvolutionOp::create(
      b, node.loc, RankedTensorType::get(result, elementOf(what.input)),
      what.input, what.kernel, b.getDenseI64ArrayAttr(what.strides), pads,
      b.getDenseI64ArrayAttr(what.inputDilation),
      b.getDenseI64ArrayAttr(what.kernelDilation), DenseBoolArrayAttr(), dims,
      b.getI64IntegerAttr(what.groups), b.getI64IntegerAttr(1), ArrayAttr());
}

/// One number for each channel.
static rt::Result<Value> addBias(NodeImport &node, Value x) {
  if (!node.has(2))
    return x;
  if (node.rank(2) != 1 || node.shape(2)[0] != shapeOf(x)[1])
    return node.refuse("expected a bias of " + std::to_string(shapeOf(x)[1]) +
                       " elements, got " + show(Type(node.type(2))));
  Value bias = hlo::broadcastInDim(node.b, node.loc, node.input(2),
                                   cast<RankedTensorType>(x.getType()), {1});
  return hlo::add(node.b, node.loc, x, bias);
}

static rt::Result<int64_t> readGroups(NodeImport &node, int64_t features,
                                      int64_t kernelDim, bool isTransposed) {
  int64_t groups = node.getInt("group", 1);
  int64_t channels = node.rank(0) > 1 ? node.shape(0)[1] : 0;
  bool fits = node.rank(0) == node.rank(1) && node.rank(0) > 2 && groups > 0 &&
              channels % groups == 0 && features % groups == 0 &&
              kernelDim * (isTransposed ? 1 : groups) == channels;
  if (fits)
    return groups;
  return node.refuse("expected a kernel that fits " + std::to_string(groups) +
                     " groups of channels, got " + show(Type(node.type(0))) +
                     " and a kernel " + show(Type(node.type(1))));
}

static rt::Status importConv(NodeImport &node) {
  if (node.rank(1) < 3)
    return node.refuse("expected a kernel of at least 3 dimensions, got " +
                       show(Type(node.type(1))));
  LLMC_TRY_ASSIGN(int64_t groups,
                  readGroups(node, node.shape(1)[0], node.shape(1)[1], false));
  ArrayRef<int64_t> kernel = node.shape(1).drop_front(2);
  std::optional<SmallVector<int64_t>> given = node.getInts("kernel_shape");
  if (given && ArrayRef<int64_t>(*given) != kernel)
    return node.refuse("expected kernel_shape " + show(kernel) + ", got " +
                       show(*given));
  LLMC_TRY_ASSIGN(SmallVector<OnnxWindow> windows, readWindows(node, kernel));
  Convolution what{node.input(0), node.input(1), {}, {}, {}, {}, groups};
  for (const OnnxWindow &w : windows) {
    what.strides.push_back(w.stride);
    what.padding.append({w.low, w.high});
    what.inputDilation.push_back(1);
    what.kernelDilation.push_back(w.dilation);
  }
  LLMC_TRY_ASSIGN(Value result, addBias(node, buildConvolution(node, what)));
  return node.finish({result});
}

/// What is cropped from the edges of the widest result.
static rt::Result<SmallVector<OnnxWindow>>
readTransposedWindows(NodeImport &node, ArrayRef<int64_t> kernel) {
  LLMC_TRY_ASSIGN(SmallVector<OnnxWindow> windows, readWindows(node, kernel));
  auto count = static_cast<int64_t>(windows.size());
  LLMC_TRY_ASSIGN(auto extra, readSpatial(node, "output_padding", count, 0, 0));
  StringRef mode = node.getText("auto_pad", "NOTSET");
  std::optional<SmallVector<int64_t>> shape = node.getInts("output_shape");
  if (shape && static_cast<int64_t>(shape->size()) == count + 2)
    shape->erase(shape->begin(), shape->begin() + 2);
  if (shape && static_cast<int64_t>(shape->size()) != count)
    return node.refuse("expected an output_shape of " + std::to_string(count) +
                       " sizes, got " + show(*shape));
  for (auto [i, w] : llvm::enumerate(windows)) {
    int64_t whole = w.stride * (w.size - 1) + extra[i] + w.reach();
    bool isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (shape || isSame) {
      int64_t wanted = shape ? (*shape)[i] : w.size * w.stride;
      int64_t total = whole - wanted;
      int64_t smaller = total > 0 ? total / 2 : 0;
      w.low = total <= 0 ? 0 : mode == "SAME_UPPER" ? smaller : total - smaller;
      w.high = total - w.low;
    }
    w.high -= extra[i];
  }
  return windows;
}

/// Kernel [groups * input, output, ...] -> [groups * output, input, ...],
/// turned round along the spatial dimensions.
static Value turnKernel(NodeImport &node, int64_t groups) {
  ArrayRef<int64_t> shape = node.shape(1);
  int64_t rank = node.rank(1), inner = shape[0] / groups;
  SmallVector<int64_t> grouped = {groups, inner}, order = {0, 2, 1}, turned;
  grouped.append(shape.begin() + 1, shape.end());
  for (int64_t i = 3; i <= rank; ++i)
    order.push_back(i);
  turned = {groups * shape[1], inner};
  turned.append(shape.begin() + 2, shape.end());
  Value parts = hlo::reshape(node.b, node.loc, node.input(1), grouped);
  Value swapped = hlo::transpose(node.b, node.loc, parts, order);
  Value kernel = hlo::reshape(node.b, node.loc, swapped, turned);
  return hlo::reverse(node.b, node.loc, kernel, range(2, rank));
}

/// The derivative of a convolution: the input is dilated by the strides.
static rt::Status importConvTranspose(NodeImport &node) {
  if (node.rank(1) < 3)
    return node.refuse("expected a kernel of at least 3 dimensions, got " +
                       show(Type(node.type(1))));
  LLMC_TRY_ASSIGN(int64_t groups,
                  readGroups(node, node.shape(1)[0], node.shape(1)[0], true));
  LLMC_TRY_ASSIGN(SmallVector<OnnxWindow> windows,
                  readTransposedWindows(node, node.shape(1).drop_front(2)));
  Convolution what{node.input(0), turnKernel(node, groups), {}, {}, {}, {},
                   groups};
  for (const OnnxWindow &w : windows) {
    what.strides.push_back(1);
    what.padding.append({w.reach() - 1 - w.low, w.reach() - 1 - w.high});
    what.inputDilation.push_back(w.stride);
    what.kernelDilation.push_back(w.dilation);
  }
  LLMC_TRY_ASSIGN(Value result, addBias(node, buildConvolution(node, what)));
  return node.finish({result});
}

/// The activation that an attribute names.
static rt::Result<Value> activate(NodeImport &node, Value x) {
  StringRef name = node.getText("activation", "none");
  if (name == "none")
    return x;
  if (name == "silu" || name == "swish")
    return hlo::mul(node.b, node.loc, x, hlo::logistic(node.b, node.loc, x));
  return node.refuse("expected activation none, silu or swish, got '" +
                     name.str() + "'");
}

/// Each channel by a kernel of its own, over what came before: operands are
/// x [batch, channels, length], kernels [channels, 1, size], bias and the last
/// size - 1 elements of the step before.
static rt::Status importCausalConv(NodeImport &node) {
  if (node.rank(0) != 3 || node.rank(1) != 3 || node.shape(1)[2] < 1 ||
      node.shape(1)[1] != 1 || node.shape(1)[0] != node.shape(0)[1])
    return node.refuse("expected [batch, channels, length] and a kernel "
                       "[channels, 1, size], got " +
                       show(Type(node.type(0))) + " and " +
                       show(Type(node.type(1))));
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t kept = node.shape(1)[2] - 1, length = shape[2];
  SmallVector<int64_t> past = {shape[0], shape[1], kept};
  if (node.has(3) && node.shape(3) != ArrayRef<int64_t>(past))
    return node.refuse("expected a state of shape " + show(past) + ", got " +
                       show(Type(node.type(3))));
  Value before =
      node.has(3) ? node.input(3) : node.splat(past, node.element(0), 0);
  Value all =
      hlo::concatenate(node.b, node.loc, ValueRange{before, node.input(0)}, 2);
  Convolution what{all, node.input(1), {1}, {0, 0}, {1}, {1}, shape[1]};
  LLMC_TRY_ASSIGN(Value result, addBias(node, buildConvolution(node, what)));
  LLMC_TRY_ASSIGN(result, activate(node, result));
  Value last = hlo::slice(node.b, node.loc, all, {0, 0, length},
                          {shape[0], shape[1], length + kept});
  return node.finish({result, last});
}

void onnx::addConvolutionOps(OpTable &table) {
  table["Conv"] = {importConv, 2, 3, kNewestKnown};
  table["CausalConvWithState"] = {importCausalConv, 2, 4, kNewestKnown};
  table["ConvTranspose"] = {importConvTranspose, 2, 3, kNewestKnown};
}
