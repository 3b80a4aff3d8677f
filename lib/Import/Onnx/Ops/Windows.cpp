//===- Windows.cpp - Windows of convolutions and pools --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Windows.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;

/// Sizes beyond this are no model's, and sums of a few stay 64-bit numbers.
static constexpr int64_t kMostWindow = int64_t(1) << 40;

rt::Result<SmallVector<int64_t>>
onnx::readSpatial(NodeImport &node, StringRef name, int64_t count,
                  int64_t otherwise, int64_t least) {
  std::optional<SmallVector<int64_t>> given = node.getInts(name);
  if (!given || given->empty())
    return SmallVector<int64_t>(count, otherwise);
  bool isLegal = static_cast<int64_t>(given->size()) == count;
  for (int64_t number : *given)
    isLegal &= number >= least && number <= kMostWindow;
  if (isLegal)
    return *given;
  return node.refuse("expected " + std::to_string(count) +
                     " numbers of at "
                     "least " +
                     std::to_string(least) + " in '" + name.str() + "', got " +
                     show(*given));
}

/// SAME: the result has as many elements as there are strides.
static void padToSame(OnnxWindow &w, bool isUpper) {
  int64_t count = llvm::divideCeil(w.size, w.stride);
  int64_t total =
      std::max<int64_t>(0, (count - 1) * w.stride + w.reach() - w.size);
  w.low = isUpper ? total / 2 : total - total / 2;
  w.high = total - w.low;
}

rt::Result<SmallVector<OnnxWindow>>
onnx::readWindows(NodeImport &node, ArrayRef<int64_t> kernel) {
  int64_t count = node.rank(0) - 2;
  if (count < 1 || static_cast<int64_t>(kernel.size()) != count)
    return node.refuse("expected a window over the " +
                       std::to_string(std::max<int64_t>(count, 1)) +
                       " spatial dimensions, got " + show(kernel));
  LLMC_TRY_ASSIGN(auto strides, readSpatial(node, "strides", count, 1, 1));
  LLMC_TRY_ASSIGN(auto dilations, readSpatial(node, "dilations", count, 1, 1));
  LLMC_TRY_ASSIGN(auto pads, readSpatial(node, "pads", 2 * count, 0, 0));
  StringRef mode = node.getText("auto_pad", "NOTSET");
  SmallVector<OnnxWindow> windows;
  for (int64_t i = 0; i < count; ++i) {
    if (kernel[i] < 1 || kernel[i] > kMostWindow)
      return node.refuse("expected windows of at least 1 element, got " +
                         show(kernel));
    OnnxWindow w{node.shape(0)[i + 2], kernel[i], strides[i],
                 dilations[i],         pads[i],   pads[count + i]};
    if (mode == "VALID")
      w.low = w.high = 0;
    else if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
      padToSame(w, mode == "SAME_UPPER");
    else if (mode != "NOTSET" && !mode.empty())
      return node.refuse("expected auto_pad NOTSET, VALID, SAME_UPPER or "
                         "SAME_LOWER, got '" +
                         mode.str() + "'");
    windows.push_back(w);
  }
  return windows;
}
