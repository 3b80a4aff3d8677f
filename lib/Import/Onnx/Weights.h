//===- Weights.h - What the initializers of a graph are ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An initializer of floats is a weight: an argument whose initial values are a
// region of a file. Which weights are parameters says the file's own list of
// parameters, as PyTorch writes it; without one all are, but for numbers of a
// single element and for masks, whose elements are whole numbers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_ONNX_WEIGHTS_H
#define LLMC_LIB_IMPORT_ONNX_WEIGHTS_H

#include "ExternalData.h"
#include "llmc/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

namespace llmc::onnx {

/// What PyTorch says of the model that it exported.
struct Signature {
  /// Names as in the model, which initializers have too.
  llvm::StringMap<bool> parameters, buffers, mutated;
  bool isThere = false;
};
Signature readSignature(const Model &model);

class Weights {
public:
  /// `bytes` are those of the file `path`, of which `model` is a view.
  Weights(const Model &model, std::string_view bytes, const std::string &path)
      : bytes(bytes), path(path), external(path),
        signature(readSignature(model)) {}

  /// Whether an initializer becomes an argument, or else a constant.
  bool isArgument(const Tensor &tensor) const;
  /// Whether the exporter has computed it: no parameter or buffer of PyTorch.
  bool isMade(const Tensor &tensor) const;
  /// Where the elements of an argument are.
  rt::Result<FileRegion> findRegion(const Tensor &tensor);
  /// The tensor with its elements in memory, which `storage` then holds.
  rt::Result<Tensor> load(const Tensor &tensor, std::string &storage);
  /// Whether training changes it.
  rt::Result<bool> isParameter(const Tensor &tensor, MLIRContext *context);
  /// Whether it may stand for several tensors that were equal when the file was
  /// written: all its elements are, and nothing says to whom it belongs.
  bool isMergedEasily(const Tensor &tensor, MLIRContext *context);
  const Signature &getSignature() const { return signature; }

private:
  /// The first elements, at most so many, in one row.
  rt::Result<Tensor> loadFirst(const Tensor &tensor, int64_t most,
                               std::string &storage);

  std::string_view bytes;
  std::string path;
  ExternalData external;
  Signature signature;
};

} // namespace llmc::onnx

#endif // LLMC_LIB_IMPORT_ONNX_WEIGHTS_H
