//===- TorchNames.h - What PyTorch notes beside the graph -------*- C++ -*-===//
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's exporter optimizes what it writes, as for inference. Parameters
// with equal values become one tensor, matrices are stored transposed under a
// number, a tied matrix becomes two. But it also notes from which node of
// PyTorch's own graph each node came, with the operands of that node, and which
// operands are parameters. From these notes the file is made what it would be
// without the optimization (`optimize=False`):
//
//   val_7 [16, 48], MatMul(x, val_7)      # linear(%x, %p_h_0_qkv_weight)
//   ->
//   h.0.qkv.weight [16, 48], MatMul(x, h.0.qkv.weight)
//
// What the file has lost is refused, with the advice to export it so.
//
// Tests: test/Import/Onnx/TorchNamesTest.cpp, test/EndToEnd/Torch
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_TORCHNAMES_H
#define LLMC_LIB_IMPORT_ONNX_TORCHNAMES_H

#include "TorchRewrite.h"

#include <deque>
#include <set>

namespace llmc::onnx {

struct TorchNames {
  /// Whether the file has such notes; all else is empty if not.
  bool found = false;
  /// Initializers, under the names of the PyTorch model. All others are
  /// constants.
  std::set<std::string, std::less<>> parameters, buffers;
  /// Parameters of zeros that the file leaves out: no region of it has them.
  std::set<std::string, std::less<>> zeros;
  /// What new names and small tensors of the model view.
  std::deque<std::string> storage;
};

/// Rewrites `model`, which must not outlive the result. Errors: 5 for what the
/// file has lost, and those of `readElements`.
rt::Result<TorchNames> restoreTorchNames(Model &model,
                                         const ReadElements &readElements);

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_TORCHNAMES_H
