//===- AttentionTarget.h - Who computes attention on a target ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors have attention in their library. GPUs have kernels of it, which
// multiply narrow floats at the rate of f32, and where the user asks for
// "+cudnn" a library that has some (CudnnAttention.h). Two products and a
// softmax are faster than such kernels, but keep their scores; so attention of
// narrow floats becomes one op where a library has it, or where the user asks.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_ATTENTIONTARGET_H
#define LLMC_TRANSFORMS_TRAINING_ATTENTIONTARGET_H

#include "llmc/Runtime/Base/Library.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>

namespace llmc::training {

/// What an attention is asked for, whole.
struct AttentionSizes {
  SmallVector<int64_t> batches, groups;
  int64_t rows = 1, columns = 1, depth = 1, values = 1;
  double scale = 1;
  std::optional<int64_t> causal;
  bool hasBias = false;
  rt::Dropout dropout;
};

class AttentionTarget {
public:
  /// None where attention stays products and a softmax.
  static std::optional<AttentionTarget> find(ModuleOp module);

  /// Why an attention whose last op is `op` stays two products and a softmax;
  /// empty where it may become one op.
  std::string whyProducts(Operation *op, const AttentionSizes &sizes) const;

private:
  std::string libraries;  ///< As rt::hasLibrary names them.
  bool byKernels = false; ///< Where libraries do not have it.
  bool isAskedFor = false;
  /// The floats of 16 bits that products multiply, where the text's are wider.
  std::optional<rt::DType> narrow;
};

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_ATTENTIONTARGET_H
