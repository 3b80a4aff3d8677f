//===- Windows.h - Windows of convolutions and pools ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_OPS_WINDOWS_H
#define LLMC_LIB_IMPORT_ONNX_OPS_WINDOWS_H

#include "../NodeImport.h"

namespace llmc::onnx {

/// Along one spatial dimension.
struct OnnxWindow {
  int64_t size = 1, window = 1, stride = 1, dilation = 1;
  int64_t low = 0, high = 0;
  /// Elements that a window reaches over.
  int64_t reach() const { return (window - 1) * dilation + 1; }
};

/// The windows of the spatial dimensions of operand 0, which follow its batch
/// and its channels, of `kernel` elements each; `auto_pad` is resolved.
rt::Result<SmallVector<OnnxWindow>> readWindows(NodeImport &node,
                                                ArrayRef<int64_t> kernel);

/// One number for each spatial dimension.
rt::Result<SmallVector<int64_t>> readSpatial(NodeImport &node, StringRef name,
                                             int64_t count, int64_t otherwise,
                                             int64_t least);

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_OPS_WINDOWS_H
