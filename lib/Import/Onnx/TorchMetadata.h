//===- TorchMetadata.h - The notes of PyTorch's exporter --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two kinds of notes, both texts that PyTorch prints. Of the graph, what each
// argument of PyTorch's own graph stands for:
//
//   p_h_0_ln_weight: PARAMETER target='h.0.ln.weight'
//   b_bn_running_mean: BUFFER target='bn.running_mean' persistent=True
//   getitem_3: BUFFER_MUTATION target='bn.running_mean'
//
// Of a node, the call from which it was made:
//
//   %linear : [num_users=1] = call_function[target=aten.linear.default](
//       args = (%x, %p_h_0_qkv_weight, %p_h_0_qkv_bias), kwargs = {})
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_TORCHMETADATA_H
#define LLMC_LIB_IMPORT_ONNX_TORCHMETADATA_H

#include "llmc/Import/Onnx/Model.h"

#include <set>

namespace llmc::onnx {

/// An argument of PyTorch's graph that is a tensor of the model.
struct TorchTensor {
  std::string_view argument, target;
  bool isParameter = false;
};

struct TorchSignature {
  std::vector<TorchTensor> tensors;
  std::map<std::string_view, size_t> numberOf;
  const TorchTensor *find(std::string_view argument) const;
};

/// A call of PyTorch's graph.
struct TorchCall {
  /// "linear_3", and "aten.linear.default".
  std::string_view name, target;
  std::vector<std::string_view> arguments;
  std::map<std::string_view, std::string_view> keywords;
  /// Names of the values that it takes, in order and each once.
  std::vector<std::string_view> operands;
  std::set<std::string_view> taken;
  bool takes(std::string_view value) const { return taken.count(value) != 0; }
};

/// Nothing where the graph has no such note.
std::optional<TorchSignature> readTorchSignature(const Graph &graph);
/// Nothing where the node has no such note, or one that reads differently.
std::optional<TorchCall> readTorchCall(const Node &node);
/// The module whose code made the node: "h.0.attn", or "".
std::string_view readTorchModule(const Node &node);
/// Whether the lines of code that made the node have the word.
bool isNamedInCode(const Node &node, std::string_view word);

/// "h.0" and "weight" of "h.0.weight"; "" and "weight" of "weight".
std::pair<std::string_view, std::string_view>
splitTarget(std::string_view target);

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_TORCHMETADATA_H
